// SPDX-License-Identifier: MIT
#include "gstgidpicture.h"

/* Moves the frame's planes to where its crop begins. */
static void
apply_crop (GstVideoFrame *frame)
{
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (frame->buffer);
  gint step[GST_VIDEO_MAX_COMPONENTS];

  if (crop == NULL)
    return;
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES (frame); plane++) {
    const GstVideoFormatInfo *finfo = frame->info.finfo;
    guint8 *data = frame->data[plane];

    gst_video_format_info_component (finfo, plane, step);
    data += (gssize) GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (finfo, step[0], crop->y)
        * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
    data += (gssize) GST_VIDEO_FORMAT_INFO_SCALE_WIDTH (finfo, step[0], crop->x)
        * GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, step[0]);
    frame->data[plane] = data;
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
  apply_crop (&src);
  copied = gst_video_frame_copy (&dest, &src);
  gst_video_frame_unmap (&dest);
  gst_video_frame_unmap (&src);
  return copied;
}
