// SPDX-License-Identifier: MIT
#include "gstgidpicture.h"

/*
 * Moves the frame's planes to where its crop begins: to whole blocks of samples, so that no plane is
 * read beyond its end.
 */
static void
apply_crop (GstVideoFrame *frame, GstBuffer *buffer, guint32 fourcc)
{
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  const struct gid_format_info *format = gid_format_find (fourcc);

  if (crop == NULL)
    return;
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES (frame); plane++) {
    const struct gid_format_plane *blocks = &format->planes[plane];

    frame->data[plane] = (guint8 *) frame->data[plane]
        + (gssize) (crop->y / blocks->vsub) * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane)
        + (gssize) (crop->x / blocks->hsub) * blocks->bytes;
  }
}

/*
 * A linear dma-buf of DMA_DRM caps may say DMA_DRM in its GstVideoMeta too, with which GStreamer maps
 * no frame: then the same memory without it.
 */
static gboolean
map_source (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstVideoInfo own = *info;
  GstBuffer *bare;
  gboolean mapped;

  if (meta == NULL || meta->format == GST_VIDEO_INFO_FORMAT (info))
    return gst_video_frame_map (frame, info, buffer, GST_MAP_READ);
  if (meta->n_planes != GST_VIDEO_INFO_N_PLANES (info))
    return FALSE;
  GST_VIDEO_INFO_WIDTH (&own) = (gint) meta->width;
  GST_VIDEO_INFO_HEIGHT (&own) = (gint) meta->height;
  GST_VIDEO_INFO_SIZE (&own) = gst_buffer_get_size (buffer);
  for (guint plane = 0; plane < meta->n_planes; plane++) {
    GST_VIDEO_INFO_PLANE_OFFSET (&own, plane) = meta->offset[plane];
    GST_VIDEO_INFO_PLANE_STRIDE (&own, plane) = meta->stride[plane];
  }
  bare = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_MEMORY, 0, -1);
  mapped = gst_video_frame_map (frame, &own, bare, GST_MAP_READ);
  gst_buffer_unref (bare); /* the frame has it */
  return mapped;
}

gboolean
gst_gid_picture_copy (GstBuffer *to, GstBuffer *from, const GstGidFormat *format)
{
  GstVideoFrame dest, src;
  gboolean copied;

  if (!map_source (&src, &format->info, from))
    return FALSE;
  if (!gst_video_frame_map (&dest, &format->info, to, GST_MAP_WRITE)) {
    gst_video_frame_unmap (&src);
    return FALSE;
  }
  apply_crop (&src, from, format->fourcc);
  copied = gst_video_frame_copy (&dest, &src);
  gst_video_frame_unmap (&dest);
  gst_video_frame_unmap (&src);
  return copied;
}
