// SPDX-License-Identifier: MIT
/** Copies a frame, where that cannot be avoided. */
#ifndef GST_GID_PICTURE_H
#define GST_GID_PICTURE_H

#include "gstgidlayout.h"

G_BEGIN_DECLS

/**
 * Copies the picture of caps `format` from one buffer to another. `from` may have several memories,
 * any GstVideoMeta, and a crop. Returns FALSE if a buffer cannot be mapped, or is too small.
 */
gboolean gst_gid_picture_copy (GstBuffer *to, GstBuffer *from, const GstGidFormat *format);

G_END_DECLS

#endif
