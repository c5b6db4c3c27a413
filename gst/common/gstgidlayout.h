// SPDX-License-Identifier: MIT
/** GStreamer's words for pixels and libgid's: caps and GstVideoMeta to layouts, flags to flags. */
#ifndef GST_GID_LAYOUT_H
#define GST_GID_LAYOUT_H

#include <gid/stream.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/** DRM_FORMAT_MOD_LINEAR: rows as anybody reads them. */
#define GST_GID_LINEAR G_GUINT64_CONSTANT (0)

/** Caps with their format as DRM knows it. */
typedef struct
{
  GstVideoInfo info; /* with DMA_DRM caps of an unusual modifier: size only, no planes */
  guint32 fourcc;
  guint64 modifier;
  const struct gid_format_info *known; /* planes of such pictures, but for what a modifier adds */
  struct gid_colours colours;
  gboolean dmabuf; /* memory:DMABuf, format=DMA_DRM */
} GstGidFormat;

/**
 * What of `filter` is in `caps`, in its order. But where that begins with more than 8 bits, as in a
 * list of all formats there are, those of 8 come first: others are for who asks for them.
 */
GstCaps *gst_gid_caps_intersect (GstCaps *filter, GstCaps *caps);

/** Everything that libgid can lay out: video/x-raw, and `with_dmabuf` DMA_DRM, too. */
GstCaps *gst_gid_caps_template (gboolean with_dmabuf);

/**
 * Caps of these formats, each for itself, in their order and no more than the first few: video/x-raw
 * of those in this `memory` (bits of enum gid_showable_memory), and `with_dmabuf` DMA_DRM of those in
 * dma-bufs.
 */
GstCaps *gst_gid_caps_from_showable (
    const struct gid_showable *showable, guint count, guint32 memory, gboolean with_dmabuf);

gboolean gst_gid_format_from_caps (GstGidFormat *format, const GstCaps *caps);

/** Whether pixels of these caps lie in memory as those of video/x-raw do. */
gboolean gst_gid_format_is_linear (const GstGidFormat *format);

/** The size of one picture in memory: fields of alternate interlacing are pictures. */
guint gst_gid_format_width (const GstGidFormat *format);
guint gst_gid_format_height (const GstGidFormat *format);

/**
 * Whether the buffer can be a picture of the format, as far as its size or its GstVideoMeta tell: of
 * DMA_DRM nothing does.
 */
gboolean gst_gid_format_may_be_of (const GstGidFormat *format, GstBuffer *buffer);

/** The layout of a picture with the planes of `info`, which may have been aligned. */
void gst_gid_layout_from_info (
    struct gid_layout *layout, const GstGidFormat *format, const GstVideoInfo *info);

/** The layout of this very buffer: from its GstVideoMeta, or where it has none, from the caps. */
void gst_gid_layout_from_buffer (
    struct gid_layout *layout, const GstGidFormat *format, GstBuffer *buffer);

gboolean gst_gid_layout_equal (const struct gid_layout *a, const struct gid_layout *b);

/** Whether all pixels, of that format, lie in so many bytes, as far as their places are known. */
gboolean gst_gid_layout_is_within (
    const struct gid_layout *layout, const GstGidFormat *format, gsize size);

/** Whether the layout is the one that GStreamer assumes where there is no GstVideoMeta. */
gboolean gst_gid_layout_is_default (const struct gid_layout *layout, const GstGidFormat *format);

/** The caps that a slab's description says, or, where it says nothing, those of its layout. */
GstCaps *gst_gid_caps_from_slab (const struct gid_slab_info *info);

/** Times, offsets, flags and crop of a buffer into a frame; and flags back. */
void gst_gid_frame_set_buffer (
    struct gid_frame *frame, const GstGidFormat *format, GstBuffer *buffer);
void gst_gid_frame_apply_flags (const struct gid_frame *frame, GstBuffer *buffer);

/** Whether a clock's time is CLOCK_MONOTONIC. Too slow to be asked for each frame. */
gboolean gst_gid_clock_is_monotonic (GstClock *clock);

/** What to add to any other clock's time to have that. */
GstClockTimeDiff gst_gid_clock_offset (GstClock *clock);

G_END_DECLS

#endif
