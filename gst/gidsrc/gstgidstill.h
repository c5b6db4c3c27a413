// SPDX-License-Identifier: MIT
/** Reads the picture of a file, in the format of a stream's pictures. */
#ifndef GST_GID_STILL_H
#define GST_GID_STILL_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/**
 * Writes the picture of a file to `to`, whose format is `info`. The file can be PNG, JPEG, or
 * anything that decodebin supports; of a video, the first picture. It keeps its aspect ratio, with
 * black borders. Blocks until it is decoded, at most two seconds. Any thread. Returns FALSE with an
 * error.
 */
gboolean gst_gid_still_paint (
    const gchar *path, GstBuffer *to, const GstVideoInfo *info, GError **error);

G_END_DECLS

#endif
