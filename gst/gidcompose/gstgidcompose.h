// SPDX-License-Identifier: MIT
/** The element gidcompose: a GstVideoAggregator whose pictures a gid-engine composes. */
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

/** What is visible where no layer is; values of the compositor element. */
typedef enum
{
  GST_GID_BACKGROUND_CHECKER,
  GST_GID_BACKGROUND_BLACK,
  GST_GID_BACKGROUND_WHITE,
  GST_GID_BACKGROUND_TRANSPARENT,
} GstGidBackground;

#define GST_TYPE_GID_BACKGROUND (gst_gid_background_get_type ())
GType gst_gid_background_get_type (void);

/** Counted since the start; the object lock. */
typedef struct
{
  guint64 frames; /* composed pictures */
  guint64 layers; /* their layers */
  guint64 skipped; /* pictures skipped because there was no engine */
  guint64 refused; /* refused lists */
} GstGidComposeCounts;

struct _GstGidCompose
{
  GstVideoAggregator parent;

  /* properties; the object lock */
  gchar *domain_name, *engine, *canvas_name;
  GstGidBackground background;
  guint slots;
  gboolean reconnect;

  /* from start to stop */
  GstGidCanvas *canvas;
  GstGidDomain *domain; /* for memory that is proposed to upstream, and for copies */

  GstGidCopies copies; /* the object lock */
  GstGidComposeCounts counts;

  /* streaming thread */
  GstGidFormat format; /* of the pictures */
  gboolean resized; /* the engine must be told the size */
  gboolean has_video_meta; /* downstream supports GstVideoMeta */
  GstGidView kind; /* of memory that downstream gets */
  gboolean live, was_live; /* whether the engine is connected, and ever was; as reported */
  gint64 waiting_since; /* for the engine */
  guint refused_in_row;
  gboolean lost_layer, late_layer; /* a warning was posted for each */
  GstGidPoster poster;
};

/* gstgidcomposeproperties.c */

void gst_gid_compose_install_properties (GObjectClass *klass);
void gst_gid_compose_init_properties (GstGidCompose *self);
void gst_gid_compose_finish_properties (GstGidCompose *self);

/* gstgidcomposestats.c */

/** Creates the structure of the `stats` property. */
GstStructure *gst_gid_compose_create_stats (gpointer compose);

/** Posts a message whether the engine is connected. */
void gst_gid_compose_post_state (GstGidCompose *self, gboolean live);

/* gstgidlayers.c: makes layers of the pads' buffers */

/** A layer, and the objects that must live until the engine has read it. */
typedef struct
{
  GstGidComposePad *pad;
  GstBuffer *buffer;
  GstMiniObject *export; /* NULL: none */
  GstVideoInfo info;
  GstVideoRectangle box; /* on the canvas */
  gboolean opaque;
  struct gid_layer layer;
} GstGidLayer;

/** The layers of the pads' current buffers, the lowest first. */
GArray *gst_gid_compose_collect_layers (GstGidCompose *self);

/**
 * Removes the layers below `above` that it hides, if it is opaque. Returns the new index of
 * `above`.
 */
guint gst_gid_compose_drop_hidden (GstGidCompose *self, GArray *layers, guint above);

/**
 * Finds or makes a gid for the layer, and grants the engine access. Returns GST_FLOW_OK;
 * GST_GID_FLOW_NO_LAYER: the producer has reclaimed the picture; GST_GID_FLOW_LATE_LAYER: the
 * buffer does not match the pad's caps; or an error, which was posted.
 */
#define GST_GID_FLOW_NO_LAYER GST_FLOW_CUSTOM_SUCCESS_1
#define GST_GID_FLOW_LATE_LAYER GST_FLOW_CUSTOM_SUCCESS_2
GstFlowReturn gst_gid_compose_name_layer (GstGidCompose *self, GstGidLayer *layer);

/** Counts a copy; returns FALSE after an error. */
gboolean gst_gid_compose_count_copy (GstGidCompose *self, GstGidCopyReason reason, guint64 bytes);

G_END_DECLS

#endif
