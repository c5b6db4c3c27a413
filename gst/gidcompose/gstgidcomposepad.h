// SPDX-License-Identifier: MIT
/** A sink pad of gidcompose: the position of its layer, and the memory proposed to upstream. */
#ifndef GST_GID_COMPOSE_PAD_H
#define GST_GID_COMPOSE_PAD_H

#include <gst/video/gstvideoaggregator.h>

#include "common/gstgidpool.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_COMPOSE_PAD (gst_gid_compose_pad_get_type ())
G_DECLARE_FINAL_TYPE (
    GstGidComposePad, gst_gid_compose_pad, GST, GID_COMPOSE_PAD, GstVideoAggregatorPad)

/** How the picture is combined with what is below it; values of the compositor element. */
typedef enum
{
  GST_GID_OPERATOR_SOURCE,
  GST_GID_OPERATOR_OVER,
  GST_GID_OPERATOR_ADD,
} GstGidOperator;

/** How a picture fills a box of another aspect ratio; values of the compositor element. */
typedef enum
{
  GST_GID_SIZING_NONE,
  GST_GID_SIZING_KEEP_ASPECT_RATIO,
} GstGidSizing;

#define GST_TYPE_GID_OPERATOR (gst_gid_operator_get_type ())
GType gst_gid_operator_get_type (void);

#define GST_TYPE_GID_SIZING (gst_gid_sizing_get_type ())
GType gst_gid_sizing_get_type (void);

struct _GstGidComposePad
{
  GstVideoAggregatorPad parent;

  /* properties; the object lock */
  gint xpos, ypos, width, height;
  gdouble alpha;
  GstGidOperator op;
  GstGidSizing sizing;

  /* for ALLOCATION queries; upstream's streaming thread */
  GstGidAllocator *offered;
  GstCaps *offered_caps;

  /* the element's streaming thread */
  GstGidFormat format; /* of the pictures */
  GstGidFormat format_before; /* the previous format; none if fourcc is 0 */
  GstBufferPool *copy_pool; /* for copies; NULL: none yet */
  GstBuffer *copied, *copy; /* the last copy, which may be shown several times, and its original */
};

/**
 * The box of a picture with `info` on a canvas with the pixel aspect ratio par_n/par_d. The picture
 * has its natural size unless properties set another one.
 */
void gst_gid_compose_pad_get_box (GstGidComposePad *pad, const GstVideoInfo *info, gint par_n,
    gint par_d, GstVideoRectangle *box);

/** Frees the memory for copies. */
void gst_gid_compose_pad_clear_copies (GstGidComposePad *pad);

G_END_DECLS

#endif
