// SPDX-License-Identifier: MIT
/** The metas that nearly every buffer of gidsrc has, and keeps when it is reused. */
#ifndef GST_GID_METAS_H
#define GST_GID_METAS_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/** Metas of one buffer; NULL: it has none of this kind. */
typedef struct
{
  GstVideoMeta *video;
  GstReferenceTimestampMeta *submit; /* when the frame was sent, CLOCK_MONOTONIC */
  GstReferenceTimestampMeta *media; /* the producer's PTS */
} GstGidMetas;

/**
 * Finds these metas in the buffer, and removes all others. Returns FALSE if one cannot be removed.
 */
gboolean gst_gid_metas_clean (GstGidMetas *metas, GstBuffer *buffer);

/** Sets the GstVideoMeta; arguments of gst_buffer_add_video_meta_full(). */
void gst_gid_metas_set_video (GstGidMetas *metas, GstBuffer *buffer, GstVideoFormat format,
    guint width, guint height, guint n_planes, const gsize offset[GST_VIDEO_MAX_PLANES],
    const gint stride[GST_VIDEO_MAX_PLANES]);

/** GST_CLOCK_TIME_NONE: removes the meta. */
void gst_gid_metas_set_submit (GstGidMetas *metas, GstBuffer *buffer, GstClockTime time);
void gst_gid_metas_set_media (
    GstGidMetas *metas, GstBuffer *buffer, GstClockTime time, GstClockTime duration);

G_END_DECLS

#endif
