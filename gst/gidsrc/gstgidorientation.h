// SPDX-License-Identifier: MIT
/**
 * Sends the tag image-orientation when the orientation of the frames changes, which their producer
 * says of each frame. Used by the streaming thread only.
 */
#ifndef GST_GID_ORIENTATION_H
#define GST_GID_ORIENTATION_H

#include <gst/base/gstbasesrc.h>

G_BEGIN_DECLS

typedef struct
{
  GstBaseSrc *src;
  guint transform; /* last one sent downstream, of enum wl_output_transform */
} GstGidOrientation;

void gst_gid_orientation_init (GstGidOrientation *self, GstBaseSrc *src);
void gst_gid_orientation_start (GstGidOrientation *self);

/** Call before each picture is sent downstream. */
void gst_gid_orientation_follow (GstGidOrientation *self, guint transform);

G_END_DECLS

#endif
