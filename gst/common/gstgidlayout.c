// SPDX-License-Identifier: MIT
#include "gstgidlayout.h"

#include <string.h>

#include <gst/allocators/gstdmabuf.h>

#include "gstgid.h"
#include "gstgidcaps.h"
#include "gstgidcolours.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* Maximum number of caps structures, approximately: each negotiation compares all of them. */
#define SHOWABLE_MAX 16

/* Buffer flags that both sides define. */
/* clang-format off */
#define FLAGS(row) \
  row (GST_BUFFER_FLAG_CORRUPTED, GID_FRAME_CORRUPTED) \
  row (GST_BUFFER_FLAG_DISCONT, GID_FRAME_DISCONT) \
  row (GST_BUFFER_FLAG_DELTA_UNIT, GID_FRAME_DELTA) \
  row (GST_VIDEO_BUFFER_FLAG_INTERLACED, GID_FRAME_INTERLACED) \
  row (GST_VIDEO_BUFFER_FLAG_TFF, GID_FRAME_TOP_FIELD_FIRST) \
  row (GST_VIDEO_BUFFER_FLAG_RFF, GID_FRAME_REPEAT_FIRST) \
  row (GST_VIDEO_BUFFER_FLAG_ONEFIELD, GID_FRAME_ONE_FIELD)
/* clang-format on */
#define OF_GST(gst, gid) | (guint) (gst)
#define TO_GID(gst, gid) | (flags & (gst) ? (gid) : 0)
#define TO_GST(gst, gid) | (flags & (gid) ? (guint) (gst) : 0)

/*
 * The other flags that describe the frame: neither those of the GstMiniObject nor
 * GST_BUFFER_FLAG_TAG_MEMORY, which only concerns the owner of the buffer.
 */
static guint
other_flags (guint flags)
{
  const guint own = (GST_MINI_OBJECT_FLAG_LAST - 1) | GST_BUFFER_FLAG_TAG_MEMORY;

  return flags & ~(own FLAGS (OF_GST));
}

static guint32
flags_to_gid (guint flags)
{
  return 0 FLAGS (TO_GID);
}

static guint
flags_to_gst (guint32 flags)
{
  return 0 FLAGS (TO_GST);
}

/* Formats that GStreamer does not map to DRM formats, although both define them. */
static const struct
{
  GstVideoFormat format;
  guint32 fourcc;
} more_formats[] = {
  { GST_VIDEO_FORMAT_BGR15, GST_MAKE_FOURCC ('X', 'B', '1', '5') },
  { GST_VIDEO_FORMAT_RGB10A2_LE, GST_MAKE_FOURCC ('A', 'B', '3', '0') },
  { GST_VIDEO_FORMAT_BGRA64_LE, GST_MAKE_FOURCC ('A', 'R', '4', '8') },
  { GST_VIDEO_FORMAT_RGBA64_LE, GST_MAKE_FOURCC ('A', 'B', '4', '8') },
  { GST_VIDEO_FORMAT_v308, GST_MAKE_FOURCC ('V', 'U', '2', '4') },
  { GST_VIDEO_FORMAT_Y216_LE, GST_MAKE_FOURCC ('Y', '2', '1', '6') },
  { GST_VIDEO_FORMAT_Y416_LE, GST_MAKE_FOURCC ('Y', '4', '1', '6') },
  { GST_VIDEO_FORMAT_P016_LE, GST_MAKE_FOURCC ('P', '0', '1', '6') },
  { GST_VIDEO_FORMAT_I420_10LE, GST_MAKE_FOURCC ('S', '0', '1', '0') },
  { GST_VIDEO_FORMAT_I422_10LE, GST_MAKE_FOURCC ('S', '2', '1', '0') },
  { GST_VIDEO_FORMAT_Y444_10LE, GST_MAKE_FOURCC ('S', '4', '1', '0') },
  { GST_VIDEO_FORMAT_I420_12LE, GST_MAKE_FOURCC ('S', '0', '1', '2') },
  { GST_VIDEO_FORMAT_I422_12LE, GST_MAKE_FOURCC ('S', '2', '1', '2') },
  { GST_VIDEO_FORMAT_Y444_12LE, GST_MAKE_FOURCC ('S', '4', '1', '2') },
  { GST_VIDEO_FORMAT_Y444_16LE, GST_MAKE_FOURCC ('S', '4', '1', '6') },
};

static GstVideoFormat
format_of_fourcc (guint32 fourcc)
{
  for (guint i = 0; i < G_N_ELEMENTS (more_formats); i++) {
    if (more_formats[i].fourcc == fourcc)
      return more_formats[i].format;
  }
  return gst_video_dma_drm_fourcc_to_format (fourcc);
}

static guint32
fourcc_of_format (GstVideoFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS (more_formats); i++) {
    if (more_formats[i].format == format)
      return more_formats[i].fourcc;
  }
  return gst_video_dma_drm_fourcc_from_format (format);
}

/* video/x-raw of any size and framerate, and of `format` if it is not NULL. */
static GstStructure *
any_size (const gchar *format)
{
  GstStructure *structure = gst_structure_new ("video/x-raw", "width", GST_TYPE_INT_RANGE, 1,
      (gint) GID_SIZE_MAX, "height", GST_TYPE_INT_RANGE, 1, (gint) GID_SIZE_MAX, "framerate",
      GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);

  if (format)
    gst_structure_set (structure, "format", G_TYPE_STRING, format, NULL);
  return structure;
}

GstCaps *
gst_gid_caps_template (gboolean with_dmabuf)
{
  const struct gid_format_info *known;
  GValue formats = G_VALUE_INIT, name = G_VALUE_INIT;
  GstCaps *caps = gst_caps_new_empty ();
  GstStructure *raw, *drm;

  g_value_init (&formats, GST_TYPE_LIST);
  g_value_init (&name, G_TYPE_STRING);
  for (gsize i = 0; (known = gid_format_at (i)); i++) {
    GstVideoFormat format = format_of_fourcc (known->fourcc);

    if (format == GST_VIDEO_FORMAT_UNKNOWN)
      continue;
    g_value_set_string (&name, gst_video_format_to_string (format));
    gst_value_list_append_value (&formats, &name);
  }

  raw = any_size (NULL);
  drm = gst_structure_copy (raw);
  gst_structure_set_value (raw, "format", &formats);
  gst_caps_append_structure (caps, gst_structure_copy (raw));
  gst_caps_append_structure_full (
      caps, raw, gst_caps_features_new (GST_CAPS_FEATURE_FORMAT_INTERLACED, NULL));
  gst_structure_set (drm, "format", G_TYPE_STRING, "DMA_DRM", NULL);
  if (with_dmabuf)
    gst_caps_append_structure_full (
        caps, drm, gst_caps_features_new (GST_CAPS_FEATURE_MEMORY_DMABUF, NULL));
  else
    gst_structure_free (drm);

  g_value_unset (&formats);
  g_value_unset (&name);
  return caps;
}

static guint
depth_of (const gchar *name)
{
  GstVideoFormat format = gst_video_format_from_string (name);

  return format == GST_VIDEO_FORMAT_UNKNOWN || format == GST_VIDEO_FORMAT_ENCODED
      ? 0
      : GST_VIDEO_FORMAT_INFO_DEPTH (gst_video_format_get_info (format), 0);
}

static gboolean
is_deep_first (GstCaps *caps)
{
  const GValue *formats;

  if (gst_caps_is_empty (caps) || gst_caps_is_any (caps))
    return FALSE;
  formats = gst_structure_get_value (gst_caps_get_structure (caps, 0), "format");
  if (formats && GST_VALUE_HOLDS_LIST (formats) && gst_value_list_get_size (formats) > 0)
    formats = gst_value_list_get_value (formats, 0);
  return formats && G_VALUE_HOLDS_STRING (formats) && depth_of (g_value_get_string (formats)) > 8;
}

/* Formats of 8 bits per component, the one that every compositor supports first. */
static GstCaps *
shallow_caps (void)
{
  GstCaps *caps = gst_caps_new_full (any_size ("BGRx"), NULL);
  GstStructure *rest = any_size (NULL);
  GValue formats = G_VALUE_INIT;
  const struct gid_format_info *known;

  g_value_init (&formats, GST_TYPE_LIST);
  for (gsize i = 0; (known = gid_format_at (i)); i++) {
    const gchar *name = gst_video_format_to_string (format_of_fourcc (known->fourcc));

    if (depth_of (name) == 8) {
      GValue value = G_VALUE_INIT;

      g_value_init (&value, G_TYPE_STRING);
      g_value_set_static_string (&value, name);
      gst_value_list_append_and_take_value (&formats, &value);
    }
  }
  gst_structure_take_value (rest, "format", &formats);
  gst_caps_append_structure (caps, rest);
  return caps;
}

GstCaps *
gst_gid_caps_intersect (GstCaps *filter, GstCaps *caps)
{
  GstCaps *result = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);

  if (is_deep_first (result)) {
    GstCaps *shallow = shallow_caps (), *first;

    first = gst_caps_intersect_full (shallow, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (shallow);
    gst_caps_append (first, result);
    result = first;
  }
  return result;
}

static void
append_drm (GstCaps *caps, const struct gid_showable *showable)
{
  gchar *name = gst_video_dma_drm_fourcc_to_string (showable->fourcc, showable->modifier);
  GstStructure *structure;

  if (name == NULL)
    return;
  structure = any_size ("DMA_DRM");
  gst_structure_set (structure, "drm-format", G_TYPE_STRING, name, NULL);
  gst_caps_append_structure_full (
      caps, structure, gst_caps_features_new (GST_CAPS_FEATURE_MEMORY_DMABUF, NULL));
  g_free (name);
}

GstCaps *
gst_gid_caps_from_showable (
    const struct gid_showable *showable, guint count, guint32 memory, gboolean with_dmabuf)
{
  GstCaps *caps = gst_caps_new_empty ();

  for (guint i = 0; i < count && gst_caps_get_size (caps) < SHOWABLE_MAX; i++) {
    GstVideoFormat format = format_of_fourcc (showable[i].fourcc);

    if ((showable[i].memory & memory) && showable[i].modifier == GST_GID_LINEAR
        && format != GST_VIDEO_FORMAT_UNKNOWN)
      gst_caps_append_structure (caps, any_size (gst_video_format_to_string (format)));
    if (with_dmabuf && (showable[i].memory & GID_SHOWABLE_DMABUF))
      append_drm (caps, &showable[i]);
  }
  return caps;
}

gboolean
gst_gid_format_from_caps (GstGidFormat *format, const GstCaps *caps)
{
  memset (format, 0, sizeof (*format));
  if (gst_video_is_dma_drm_caps (caps)) {
    GstVideoInfoDmaDrm drm;

    if (!gst_video_info_dma_drm_from_caps (&drm, caps))
      return FALSE;
    format->dmabuf = TRUE;
    format->info = drm.vinfo;
    format->fourcc = drm.drm_fourcc;
    format->modifier = drm.drm_modifier;
  } else {
    if (!gst_video_info_from_caps (&format->info, caps))
      return FALSE;
    format->fourcc = fourcc_of_format (GST_VIDEO_INFO_FORMAT (&format->info));
    format->modifier = GST_GID_LINEAR;
  }
  gst_gid_colours_from_colorimetry (&format->colours, &GST_VIDEO_INFO_COLORIMETRY (&format->info));
  format->known = gid_format_find (format->fourcc);
  return format->known != NULL;
}

gboolean
gst_gid_format_is_linear (const GstGidFormat *format)
{
  return format->modifier == GST_GID_LINEAR
      && fourcc_of_format (GST_VIDEO_INFO_FORMAT (&format->info)) == format->fourcc;
}

guint
gst_gid_format_width (const GstGidFormat *format)
{
  return GST_VIDEO_INFO_WIDTH (&format->info);
}

guint
gst_gid_format_height (const GstGidFormat *format)
{
  return GST_VIDEO_INFO_FIELD_HEIGHT (&format->info);
}

gboolean
gst_gid_format_may_be_of (const GstGidFormat *format, GstBuffer *buffer)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  if (format->dmabuf)
    return TRUE;
  if (meta == NULL)
    return gst_buffer_get_size (buffer) == GST_VIDEO_INFO_SIZE (&format->info);
  return meta->format == GST_VIDEO_INFO_FORMAT (&format->info)
      && meta->width >= (guint) GST_VIDEO_INFO_WIDTH (&format->info)
      && meta->height >= (guint) GST_VIDEO_INFO_HEIGHT (&format->info);
}

/*
 * How many of a buffer's planes belong to the layout: a modifier may add some, for example for
 * compression.
 */
static guint
count_planes (const GstGidFormat *format, guint n_planes)
{
  guint known = format->known ? format->known->plane_count : 0;

  return format->modifier == GST_GID_LINEAR ? known : CLAMP (n_planes, known, GID_PLANES_MAX);
}

static void
fill_layout (struct gid_layout *layout, const GstGidFormat *format, guint width, guint height,
    guint n_planes, const gsize *offset, const gint *stride)
{
  memset (layout, 0, sizeof (*layout));
  layout->fourcc = format->fourcc;
  layout->modifier = format->modifier;
  layout->colours = format->colours;
  layout->width = width;
  layout->height = height;
  layout->plane_count = count_planes (format, n_planes);
  for (guint i = 0; i < layout->plane_count; i++) {
    layout->planes[i].offset = offset[i];
    layout->planes[i].stride = stride[i];
  }
}

void
gst_gid_layout_from_info (
    struct gid_layout *layout, const GstGidFormat *format, const GstVideoInfo *info)
{
  fill_layout (layout, format, gst_gid_format_width (format), gst_gid_format_height (format),
      GST_VIDEO_INFO_N_PLANES (info), info->offset, info->stride);
}

void
gst_gid_layout_from_buffer (
    struct gid_layout *layout, const GstGidFormat *format, GstBuffer *buffer)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  if (meta == NULL) {
    gst_gid_layout_from_info (layout, format, &format->info);
    return;
  }
  /*
   * The meta is larger than the caps if the buffer has a crop. In alternate interlacing, both caps
   * and meta have the height of the whole frame.
   */
  if (GST_VIDEO_INFO_INTERLACE_MODE (&format->info) == GST_VIDEO_INTERLACE_MODE_ALTERNATE)
    fill_layout (layout, format, meta->width, gst_gid_format_height (format), meta->n_planes,
        meta->offset, meta->stride);
  else
    fill_layout (
        layout, format, meta->width, meta->height, meta->n_planes, meta->offset, meta->stride);
}

gboolean
gst_gid_layout_equal (const struct gid_layout *a, const struct gid_layout *b)
{
  if (a->fourcc != b->fourcc || a->modifier != b->modifier || a->width != b->width
      || a->height != b->height || a->plane_count != b->plane_count
      || !gst_gid_colours_agree (&a->colours, &b->colours))
    return FALSE;
  for (guint i = 0; i < a->plane_count; i++) {
    if (a->planes[i].offset != b->planes[i].offset || a->planes[i].stride != b->planes[i].stride)
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_gid_layout_is_within (const struct gid_layout *layout, const GstGidFormat *format, gsize size)
{
  /* for other modifiers only the driver knows where the samples are */
  if (layout->modifier != GST_GID_LINEAR)
    return TRUE;
  for (guint i = 0; i < layout->plane_count; i++) {
    const struct gid_format_plane *blocks = &format->known->planes[i];
    guint64 rows = (layout->height + blocks->vsub - 1) / blocks->vsub;
    guint64 row = (guint64) (layout->width + blocks->hsub - 1) / blocks->hsub * blocks->bytes;
    guint64 offset = layout->planes[i].offset;

    if (offset > size || (rows - 1) * layout->planes[i].stride + row > size - offset)
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_gid_layout_is_default (const struct gid_layout *layout, const GstGidFormat *format)
{
  struct gid_layout plain;

  gst_gid_layout_from_info (&plain, format, &format->info);
  return gst_gid_layout_equal (layout, &plain);
}

static void
set_colorimetry (GstCaps *caps, const struct gid_colours *colours)
{
  GstVideoColorimetry colorimetry;
  gchar *text;

  gst_gid_colours_to_colorimetry (colours, &colorimetry);
  text = gst_video_colorimetry_to_string (&colorimetry);
  if (text != NULL)
    gst_caps_set_simple (caps, "colorimetry", G_TYPE_STRING, text, NULL);
  g_free (text);
}

/* Whether any of our elements supports these caps. Others would make the pipeline fail. */
static gboolean
are_possible (const GstCaps *caps)
{
  GstCaps *all = gst_gid_caps_template (TRUE);
  gboolean possible = gst_caps_can_intersect (caps, all);

  gst_caps_unref (all);
  return possible;
}

/*
 * Caps by the description, which libgid has not validated: it must agree with the layout, which libgid
 * has. NULL: it does not, or is empty.
 */
static GstCaps *
caps_from_description (const struct gid_slab_info *info)
{
  const struct gid_layout *layout = &info->layout;
  GstGidFormat said;
  GstCaps *caps;

  if (*info->description == '\0')
    return NULL;
  caps = gst_gid_caps_from_text (info->description, strlen (info->description));
  if (caps == NULL)
    return NULL;
  if (gst_gid_format_from_caps (&said, caps) && said.fourcc == layout->fourcc
      && said.modifier == layout->modifier && gst_gid_format_width (&said) <= layout->width
      && gst_gid_format_height (&said) <= layout->height
      && gst_gid_colours_agree (&said.colours, &layout->colours) && are_possible (caps)) {
    if (!said.dmabuf || info->memory == GID_MEMORY_DMABUF)
      return caps;
    /* a dma-buf for the producer, but not for us */
    if (gst_gid_format_is_linear (&said)) {
      gst_caps_unref (caps);
      return gst_video_info_to_caps (&said.info);
    }
  }
  gst_caps_unref (caps);
  return NULL;
}

/* DMA_DRM caps of a layout; NULL: its format has no name. */
static GstCaps *
drm_caps_from_layout (const struct gid_layout *layout)
{
  gchar *drm = gst_video_dma_drm_fourcc_to_string (layout->fourcc, layout->modifier);
  GstCaps *caps;

  if (drm == NULL)
    return NULL;
  caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "DMA_DRM", "drm-format",
      G_TYPE_STRING, drm, "width", G_TYPE_INT, layout->width, "height", G_TYPE_INT, layout->height,
      "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  gst_caps_set_features_simple (caps, gst_caps_features_new (GST_CAPS_FEATURE_MEMORY_DMABUF, NULL));
  set_colorimetry (caps, &layout->colours);
  g_free (drm);
  return caps;
}

static GstCaps *
raw_caps_from_layout (const struct gid_layout *layout, GstVideoFormat format)
{
  GstVideoInfo video;

  gst_video_info_set_format (&video, format, layout->width, layout->height);
  if (gst_gid_colours_are_said (&layout->colours))
    gst_gid_colours_to_colorimetry (&layout->colours, &video.colorimetry);
  else if (GST_VIDEO_INFO_IS_YUV (&video)) /* GStreamer would assume BT.709 */
    gst_video_colorimetry_from_string (&video.colorimetry, GST_VIDEO_COLORIMETRY_BT601);
  return gst_video_info_to_caps (&video);
}

GstCaps *
gst_gid_caps_from_slab (const struct gid_slab_info *info)
{
  const struct gid_layout *layout = &info->layout;
  GstVideoFormat format = format_of_fourcc (layout->fourcc);
  GstCaps *caps = caps_from_description (info);

  if (caps)
    return caps;
  if (info->memory == GID_MEMORY_DMABUF
      && (layout->modifier != GST_GID_LINEAR || format == GST_VIDEO_FORMAT_UNKNOWN))
    return drm_caps_from_layout (layout);
  return format == GST_VIDEO_FORMAT_UNKNOWN ? NULL : raw_caps_from_layout (layout, format);
}

void
gst_gid_frame_set_buffer (struct gid_frame *frame, const GstGidFormat *format, GstBuffer *buffer)
{
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  *frame = (struct gid_frame) GID_FRAME_INIT;
  frame->pts = GST_BUFFER_PTS (buffer);
  frame->dts = GST_BUFFER_DTS (buffer);
  frame->duration = GST_BUFFER_DURATION (buffer);
  frame->offset = GST_BUFFER_OFFSET (buffer);
  frame->offset_end = GST_BUFFER_OFFSET_END (buffer);
  frame->flags = flags_to_gid (GST_BUFFER_FLAGS (buffer));
  frame->media_flags = other_flags (GST_BUFFER_FLAGS (buffer));
  if (crop) {
    frame->crop.x = crop->x;
    frame->crop.y = crop->y;
    frame->crop.width = crop->width;
    frame->crop.height = crop->height;
  } else if (meta
      && (meta->width > (guint) GST_VIDEO_INFO_WIDTH (&format->info)
          || meta->height > (guint) GST_VIDEO_INFO_HEIGHT (&format->info))) {
    frame->crop.width = gst_gid_format_width (format);
    frame->crop.height = gst_gid_format_height (format);
  }
}

void
gst_gid_frame_apply_flags (const struct gid_frame *frame, GstBuffer *buffer)
{
  GST_BUFFER_FLAG_SET (buffer, flags_to_gst (frame->flags) | other_flags (frame->media_flags));
}

gboolean
gst_gid_clock_is_monotonic (GstClock *clock)
{
  GstClockType type;

  if (clock == NULL || G_OBJECT_TYPE (clock) != GST_TYPE_SYSTEM_CLOCK)
    return FALSE;
  g_object_get (clock, "clock-type", &type, NULL);
  return type == GST_CLOCK_TYPE_MONOTONIC;
}

GstClockTimeDiff
gst_gid_clock_offset (GstClock *clock)
{
  return GST_CLOCK_DIFF (gst_clock_get_time (clock), g_get_monotonic_time () * GST_USECOND);
}

G_STATIC_ASSERT (GST_CLOCK_TIME_NONE == GID_TIME_NONE);
G_STATIC_ASSERT (GST_BUFFER_OFFSET_NONE == GID_OFFSET_NONE);
