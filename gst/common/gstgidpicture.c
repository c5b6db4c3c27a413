// SPDX-License-Identifier: MIT
#include "gstgidpicture.h"

#include <string.h>

/*
 * Moves the start of the planes to the crop, rounded to whole blocks of samples, so that no plane
 * is read beyond its end.
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
 * A linear dma-buf with DMA_DRM caps may have that format in its GstVideoMeta, too, and GStreamer
 * cannot map such a frame. So the same memory is mapped without the meta.
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
  gst_buffer_unref (bare); /* the frame has its own reference */
  return mapped;
}

/*
 * In packed formats two pixels share their chroma. If the crop begins with the second pixel of a
 * pair, the chroma stays one pixel to the left, and only the luma is shifted.
 */
static void
shift_brightness (GstVideoFrame *to, const GstVideoFrame *from)
{
  gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (to, 0);
  gsize sample = (GST_VIDEO_FRAME_COMP_DEPTH (to, 0) + 7) / 8;

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (to); y++) {
    guint8 *out = GST_VIDEO_FRAME_COMP_DATA (to, 0);
    const guint8 *in = GST_VIDEO_FRAME_COMP_DATA (from, 0);

    out += (gssize) y * GST_VIDEO_FRAME_COMP_STRIDE (to, 0);
    in += (gssize) y * GST_VIDEO_FRAME_COMP_STRIDE (from, 0);
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (to); x++)
      memcpy (out + x * step, in + (x + 1) * step, sample);
  }
}

/* Whether the copy begins one pixel to the left of the crop. */
static gboolean
parts_pixels (GstBuffer *buffer, guint32 fourcc)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  const struct gid_format_info *format = gid_format_find (fourcc);

  return crop && format->plane_count == 1 && crop->x % format->planes[0].hsub != 0;
}

/* The bytes at `at` of row `y` in the mapped memory; NULL if they are not all in it. */
static guint8 *
find_bytes (const GstVideoFrame *frame, gint y, gsize at, gsize bytes)
{
  guint8 *found = GST_VIDEO_FRAME_PLANE_DATA (frame, 0);
  const guint8 *begin = frame->map[0].data;

  found += (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0) + (gssize) at;
  return found >= begin && found + bytes <= begin + frame->map[0].size ? found : NULL;
}

/*
 * If a row ends with the first pixel of a pair, gst_video_frame_copy() copies only the bytes of
 * that pixel, without all of the chroma. Copies the whole pair.
 */
static void
copy_last_pairs (GstVideoFrame *to, const GstVideoFrame *from, guint32 fourcc)
{
  const struct gid_format_info *format = gid_format_find (fourcc);
  const struct gid_format_plane *pair = &format->planes[0];
  gsize at = (gsize) GST_VIDEO_FRAME_WIDTH (to) / pair->hsub * pair->bytes;

  if (format->plane_count != 1 || GST_VIDEO_FRAME_WIDTH (to) % pair->hsub == 0)
    return;
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (to); y++) {
    guint8 *out = find_bytes (to, y, at, pair->bytes);
    const guint8 *in = find_bytes (from, y, at, pair->bytes);

    if (in && out)
      memcpy (out, in, pair->bytes);
  }
}

/*
 * Whether what is copied from the plane is within the mapped memory. A GstVideoMeta can have any
 * value, and GStreamer does not check it.
 */
static gboolean
is_there (const GstVideoFrame *from, const GstVideoFrame *to, guint plane)
{
  const GstMapInfo *map = &from->map[from->meta ? plane : 0];
  gint64 at = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (from, plane) - map->data;
  gint comp[GST_VIDEO_MAX_COMPONENTS];
  gint64 rows, bytes, last;

  gst_video_format_info_component (to->info.finfo, plane, comp);
  rows = GST_VIDEO_FRAME_COMP_HEIGHT (to, comp[0]);
  bytes = (gint64) GST_VIDEO_FRAME_COMP_WIDTH (to, comp[0])
      * GST_VIDEO_FRAME_COMP_PSTRIDE (to, comp[0]);
  last = at + (rows - 1) * GST_VIDEO_FRAME_PLANE_STRIDE (from, plane);
  return MIN (at, last) >= 0 && MAX (at, last) + bytes <= (gint64) map->size;
}

static gboolean
are_planes_there (const GstVideoFrame *from, const GstVideoFrame *to)
{
  guint count = GST_VIDEO_FRAME_N_PLANES (to);

  if (GST_VIDEO_FRAME_FORMAT (from) != GST_VIDEO_FRAME_FORMAT (to))
    return FALSE;
  for (guint plane = 0; plane < count; plane++) {
    if (!is_there (from, to, plane))
      return FALSE;
  }
  return TRUE;
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
  copied = are_planes_there (&src, &dest) && gst_video_frame_copy (&dest, &src);
  if (copied)
    copy_last_pairs (&dest, &src, format->fourcc);
  if (copied && parts_pixels (from, format->fourcc))
    shift_brightness (&dest, &src);
  gst_video_frame_unmap (&dest);
  gst_video_frame_unmap (&src);
  return copied;
}
