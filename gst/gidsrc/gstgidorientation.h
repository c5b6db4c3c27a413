// SPDX-License-Identifier: MIT
/**
 * How pictures are to be turned before they are shown, which their producer says of each. Elements
 * hear of it by a tag, as of a film. The streaming thread's.
 */
#ifndef GST_GID_ORIENTATION_H
#define GST_GID_ORIENTATION_H

#include <gst/base/gstbasesrc.h>

G_BEGIN_DECLS

typedef struct
{
  GstBaseSrc *src;
  guint transform; /* as downstream knows it, of enum wl_output_transform */
} GstGidOrientation;

void gst_gid_orientation_init (GstGidOrientation *self, GstBaseSrc *src);
void gst_gid_orientation_start (GstGidOrientation *self);

/** The next picture has this one. */
void gst_gid_orientation_follow (GstGidOrientation *self, guint transform);

G_END_DECLS

#endif
