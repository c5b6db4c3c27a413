// SPDX-License-Identifier: MIT
#include "gstgidpicture.h"

/*
 * Moves the frame's planes to where its crop begins: to whole blocks of samples, so that no plane is
 * read beyond its end.
 */
static void
apply_crop (GstVideoFrame *frame, guint32 fourcc)
{
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (frame->buffer);
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

gboolean
gst_gid_picture_copy (GstBuffer *to, GstBuffer *from, const GstGidFormat *format)
{
  GstVideoFrame dest, src;
  gboolean copied;

  if (!gst_video_frame_map (&src, &format->info, from, GST_MAP_READ))
    return FALSE;
  if (!gst_video_frame_map (&dest, &format->info, to, GST_MAP_WRITE)) {
    gst_video_frame_unmap (&src);
    return FALSE;
  }
  apply_crop (&src, format->fourcc);
  copied = gst_video_frame_copy (&dest, &src);
  gst_video_frame_unmap (&dest);
  gst_video_frame_unmap (&src);
  return copied;
}
