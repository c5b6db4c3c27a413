// SPDX-License-Identifier: MIT
/** A picture of a file, in the form that a stream's pictures have. */
#ifndef GST_GID_STILL_H
#define GST_GID_STILL_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/**
 * Paints the picture of a file into `to`, which has room for one of `info`: PNG, JPEG, or whatever
 * decodebin knows; of a film the first picture. It keeps its shape, with black borders. Takes as
 * long as the file's decoder, at most two seconds. Any thread. FALSE: `error` says why.
 */
gboolean gst_gid_still_paint (
    const gchar *path, GstBuffer *to, const GstVideoInfo *info, GError **error);

G_END_DECLS

#endif
