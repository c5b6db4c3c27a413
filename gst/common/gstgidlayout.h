// SPDX-License-Identifier: MIT
/**
 * Converts between GStreamer's and libgid's description of video: caps and GstVideoMeta to layouts
 * and back, buffer flags to frame flags and back.
 */
#ifndef GST_GID_LAYOUT_H
#define GST_GID_LAYOUT_H

#include <gid/stream.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/** DRM_FORMAT_MOD_LINEAR: the rows are in memory one after the other. */
#define GST_GID_LINEAR G_GUINT64_CONSTANT (0)

/** Caps, with the format as DRM defines it. */
typedef struct
{
  GstVideoInfo info; /* for DMA_DRM caps of another modifier: only the size, no planes */
  guint32 fourcc;
  guint64 modifier;
  const struct gid_format_info *known; /* planes of the format, without those of a modifier */
  struct gid_colours colours;
  gboolean dmabuf; /* memory:DMABuf with format=DMA_DRM */
} GstGidFormat;

/**
 * Intersects in the order of `filter`. If the result begins with more than 8 bits per component, as
 * for a list of all formats, the formats of 8 bits come first: deep formats are used only on
 * request.
 */
GstCaps *gst_gid_caps_intersect (GstCaps *filter, GstCaps *caps);

/** All formats that libgid can lay out as video/x-raw; if `with_dmabuf`, DMA_DRM, too. */
GstCaps *gst_gid_caps_template (gboolean with_dmabuf);

/**
 * Caps of the first few of these formats, one structure each, in their order: video/x-raw for those
 * that can be shown from this `memory` (bits of enum gid_showable_memory); if `with_dmabuf`,
 * DMA_DRM for those that can be shown from dma-bufs.
 */
GstCaps *gst_gid_caps_from_showable (
    const struct gid_showable *showable, guint count, guint32 memory, gboolean with_dmabuf);

gboolean gst_gid_format_from_caps (GstGidFormat *format, const GstCaps *caps);

/** Whether the pixels are in memory as for video/x-raw. */
gboolean gst_gid_format_is_linear (const GstGidFormat *format);

/** The size of one picture in memory: in alternate interlacing, each field is a picture. */
guint gst_gid_format_width (const GstGidFormat *format);
guint gst_gid_format_height (const GstGidFormat *format);

/**
 * Whether the buffer can have this format, by its size or its GstVideoMeta. Always TRUE for
 * DMA_DRM, where neither says it.
 */
gboolean gst_gid_format_may_be_of (const GstGidFormat *format, GstBuffer *buffer);

/** The layout of a picture with the planes of `info`, which may have an alignment applied. */
void gst_gid_layout_from_info (
    struct gid_layout *layout, const GstGidFormat *format, const GstVideoInfo *info);

/** The layout of this buffer: by its GstVideoMeta, or by the caps if it has none. */
void gst_gid_layout_from_buffer (
    struct gid_layout *layout, const GstGidFormat *format, GstBuffer *buffer);

gboolean gst_gid_layout_equal (const struct gid_layout *a, const struct gid_layout *b);

/** Whether all pixels are within `size` bytes, as far as the modifier allows to tell. */
gboolean gst_gid_layout_is_within (
    const struct gid_layout *layout, const GstGidFormat *format, gsize size);

/**
 * Whether the layout is the default of GstVideoInfo, which elements assume without GstVideoMeta.
 */
gboolean gst_gid_layout_is_default (const struct gid_layout *layout, const GstGidFormat *format);

/**
 * Caps from the slab's description, or from its layout if the description is empty or contradicts
 * it.
 */
GstCaps *gst_gid_caps_from_slab (const struct gid_slab_info *info);

/** Copies timestamps, offsets, flags and crop of a buffer to a frame; and flags to a buffer. */
void gst_gid_frame_set_buffer (
    struct gid_frame *frame, const GstGidFormat *format, GstBuffer *buffer);
void gst_gid_frame_apply_flags (const struct gid_frame *frame, GstBuffer *buffer);

/** Whether the clock is CLOCK_MONOTONIC. Too slow to be called for each frame. */
gboolean gst_gid_clock_is_monotonic (GstClock *clock);

/** What to add to the time of any other clock to get CLOCK_MONOTONIC. */
GstClockTimeDiff gst_gid_clock_offset (GstClock *clock);

G_END_DECLS

#endif
