// SPDX-License-Identifier: MIT
#ifndef GST_GID_COMPOSE_H
#define GST_GID_COMPOSE_H

#include <gst/video/gstvideoaggregator.h>

#include "common/gstgidcopies.h"
#include "common/gstgidposter.h"
#include "gstgidcanvas.h"
#include "gstgidcomposepad.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_COMPOSE (gst_gid_compose_get_type ())
G_DECLARE_FINAL_TYPE (GstGidCompose, gst_gid_compose, GST, GID_COMPOSE, GstVideoAggregator)

/** What is where no layer is. As the compositor element has it. */
typedef enum
{
  GST_GID_BACKGROUND_CHECKER,
  GST_GID_BACKGROUND_BLACK,
  GST_GID_BACKGROUND_WHITE,
  GST_GID_BACKGROUND_TRANSPARENT,
} GstGidBackground;

#define GST_TYPE_GID_BACKGROUND (gst_gid_background_get_type ())
GType gst_gid_background_get_type (void);

/** Counts since the start; the object lock. */
typedef struct
{
  guint64 frames; /* composed */
  guint64 layers; /* of them */
  guint64 skipped; /* while the engine was away */
  guint64 refused; /* lists */
} GstGidComposeCounts;

struct _GstGidCompose
{
  GstVideoAggregator parent;

  /* properties; the object lock */
  gchar *domain_name, *engine, *canvas_name;
  GstGidBackground background;
  guint slots;
  gboolean reconnect;
  GstGidCopyPolicy copy_policy;

  /* from start to stop */
  GstGidCanvas *canvas;
  GstGidDomain *domain; /* whose memory upstream is offered, and copies are made in */

  GstGidCopies copies; /* the object lock */
  GstGidComposeCounts counts;

  /* the streaming thread's */
  GstGidFormat format; /* of the pictures */
  gboolean resized; /* the engine is to be told */
  gboolean has_video_meta; /* downstream */
  GstGidView kind; /* of memory that downstream gets */
  gboolean live, was_live; /* whether the engine is there, and ever was; as told */
  gint64 waiting_since; /* for the engine */
  guint refused_in_row;
  gboolean lost_layer, late_layer; /* told that a layer was taken back, or not of its caps */
  GstGidPoster poster;
};

/* gstgidcomposeproperties.c */

void gst_gid_compose_install_properties (GObjectClass *klass);
void gst_gid_compose_init_properties (GstGidCompose *self);
void gst_gid_compose_finish_properties (GstGidCompose *self);

/* gstgidcomposestats.c */

/** The `stats` of a gidcompose. */
GstStructure *gst_gid_compose_create_stats (gpointer compose);

/** Tells the application whether the engine is there. */
void gst_gid_compose_post_state (GstGidCompose *self, gboolean live);

/* gstgidlayers.c: from pads to layers */

/** A layer, and what has to live until the engine has read it. */
typedef struct
{
  GstGidComposePad *pad;
  GstBuffer *buffer;
  GstMiniObject *export; /* NULL: none */
  GstVideoInfo info;
  GstVideoRectangle box; /* of the canvas */
  gboolean opaque;
  struct gid_layer layer;
} GstGidLayer;

/** The pads' present pictures on the canvas, the lowest first. */
GArray *gst_gid_compose_collect_layers (GstGidCompose *self);

/** Removes what the layer `above` hides, if it is opaque. Returns where that is then. */
guint gst_gid_compose_drop_hidden (GstGidCompose *self, GArray *layers, guint above);

/**
 * Finds or makes a gid for the layer, and lets the engine read it. Returns GST_FLOW_OK;
 * GST_GID_FLOW_NO_LAYER: its producer took the picture back; GST_GID_FLOW_LATE_LAYER: it is not
 * of the caps that came before it; or an error, which was posted.
 */
#define GST_GID_FLOW_NO_LAYER GST_FLOW_CUSTOM_SUCCESS_1
#define GST_GID_FLOW_LATE_LAYER GST_FLOW_CUSTOM_SUCCESS_2
GstFlowReturn gst_gid_compose_name_layer (GstGidCompose *self, GstGidLayer *layer);

/** Counts a copy; FALSE after an error. */
gboolean gst_gid_compose_count_copy (GstGidCompose *self, GstGidCopyReason reason, guint64 bytes);

G_END_DECLS

#endif
