// SPDX-License-Identifier: MIT
/** The metadata that nearly every frame of gidsrc has, and that its buffers keep for the next one. */
#ifndef GST_GID_METAS_H
#define GST_GID_METAS_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/** Of one buffer; NULL: it has none of the kind. */
typedef struct
{
  GstVideoMeta *video;
  GstReferenceTimestampMeta *submit; /* when the frame was sent, CLOCK_MONOTONIC */
  GstReferenceTimestampMeta *media; /* the producer's PTS */
} GstGidMetas;

/** Finds those that the buffer has, and removes all others. FALSE where one cannot be removed. */
gboolean gst_gid_metas_clean (GstGidMetas *metas, GstBuffer *buffer);

/** Where the picture is: as gst_buffer_add_video_meta_full(). */
void gst_gid_metas_set_video (GstGidMetas *metas, GstBuffer *buffer, GstVideoFormat format,
    guint width, guint height, guint n_planes, const gsize offset[GST_VIDEO_MAX_PLANES],
    const gint stride[GST_VIDEO_MAX_PLANES]);

/** GST_CLOCK_TIME_NONE: it is not known. */
void gst_gid_metas_set_submit (GstGidMetas *metas, GstBuffer *buffer, GstClockTime time);
void gst_gid_metas_set_media (
    GstGidMetas *metas, GstBuffer *buffer, GstClockTime time, GstClockTime duration);

G_END_DECLS

#endif
