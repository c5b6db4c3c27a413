// SPDX-License-Identifier: MIT
/* What PipeWire calls gidway's formats and colours. Pure functions. */
#ifndef GID_PIPEWIRE_VIDEO_FORMATS_H
#define GID_PIPEWIRE_VIDEO_FORMATS_H

#include <gid/gid.h>
#include <spa/param/video/raw.h>

/* SPA_VIDEO_FORMAT_UNKNOWN: PipeWire has no such format. */
enum spa_video_format video_format_of(uint32_t fourcc);

/*
 * The format as which browsers show such pictures: the same, or with an alpha in place of what
 * nobody looks at. 0: they show none.
 */
uint32_t video_browsers_format_of(uint32_t fourcc);

enum spa_video_color_range video_range_of(const struct gid_colours *colours);
enum spa_video_color_matrix video_matrix_of(const struct gid_colours *colours);

#endif
