// SPDX-License-Identifier: MIT
/** A layer of gidcompose: where its picture goes, and the memory that its upstream is offered. */
#ifndef GST_GID_COMPOSE_PAD_H
#define GST_GID_COMPOSE_PAD_H

#include <gst/video/gstvideoaggregator.h>

#include "common/gstgidpool.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_COMPOSE_PAD (gst_gid_compose_pad_get_type ())
G_DECLARE_FINAL_TYPE (
    GstGidComposePad, gst_gid_compose_pad, GST, GID_COMPOSE_PAD, GstVideoAggregatorPad)

/** What becomes of the picture below, with the names that compositor has for it. */
typedef enum
{
  GST_GID_OPERATOR_SOURCE,
  GST_GID_OPERATOR_OVER,
  GST_GID_OPERATOR_ADD,
} GstGidOperator;

/** How a picture of one shape fills a box of another, with the names that compositor has for it. */
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

  /* of ALLOCATION queries: the thread of upstream's */
  GstGidAllocator *offered;
  GstCaps *offered_caps;

  /* the element's streaming thread's */
  GstGidFormat format; /* of the pictures */
  GstGidFormat format_before; /* that which it was before, if fourcc is not 0 */
  GstBufferPool *copy_pool; /* for those that have to be copied; NULL: none yet */
  GstBuffer *copied, *copy; /* the last of them, which may be shown several times */
};

/**
 * Where a picture of `info` goes on a canvas with pixels of the shape par_n/par_d: as large as it
 * is where the properties do not say.
 */
void gst_gid_compose_pad_get_box (GstGidComposePad *pad, const GstVideoInfo *info, gint par_n,
    gint par_d, GstVideoRectangle *box);

/** Lets go of the memory for copies. */
void gst_gid_compose_pad_clear_copies (GstGidComposePad *pad);

G_END_DECLS

#endif
