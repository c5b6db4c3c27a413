// SPDX-License-Identifier: MIT
/** The one copy of a frame where there is no way around it. */
#ifndef GST_GID_PICTURE_H
#define GST_GID_PICTURE_H

#include "gstgidlayout.h"

G_BEGIN_DECLS

/**
 * Copies the picture that caps of `format` mean, from wherever `from` has it (several memories, any
 * GstVideoMeta, a crop) to where `to` has it. FALSE where one of them cannot be mapped.
 */
gboolean gst_gid_picture_copy (GstBuffer *to, GstBuffer *from, const GstGidFormat *format);

G_END_DECLS

#endif
