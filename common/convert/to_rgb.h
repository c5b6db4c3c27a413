// SPDX-License-Identifier: MIT
/**
 * Pictures of any linear format as the words of ARGB8888, by the matrix and range that their layout
 * says. Pure.
 *
 * One sample alone, as cameras without colour have it, is grey. Transfer functions and primaries
 * stay as they are: a picture of BT.2020 or PQ gets the right red, green and blue of its own kind,
 * and is not mapped to those of an ordinary screen.
 */
#ifndef GID_CONVERT_TO_RGB_H
#define GID_CONVERT_TO_RGB_H

#include <gid/gid.h>
#include <pixman.h>

/* Whether pictures of the format can be converted: any that gid_format_find() knows. */
bool to_rgb_can(uint32_t fourcc);

/*
 * Whether converting takes some ten times as long as for other formats, since pixels are taken
 * apart bit by bit: formats that pixman does not know, with components of 10 or 16 bits, YUV with
 * alpha, and grey. A display does not ask producers for them.
 */
bool to_rgb_is_slow(uint32_t fourcc);

/* Whether its planes hold luma and colour differences, and it can be converted. */
bool to_rgb_is_yuv(uint32_t fourcc);

/* Whether the format says how opaque its pixels are. */
bool to_rgb_has_alpha(uint32_t fourcc);

/* Pixman's code of the format; 0: pixman does not know it. */
pixman_format_code_t to_rgb_pixman(const struct gid_format_info *format);

/* From YUV: samples in 1/256 of a code of 8 bits, factors in 1/4096. */
struct to_rgb_matrix {
	int32_t y_offset, y;
	int32_t red_v, green_u, green_v, blue_u;
};

/* The matrix for pictures of these colours, for callers that convert by themselves. */
void to_rgb_find_matrix(struct to_rgb_matrix *matrix, const struct gid_colours *colours);

/*
 * Converts `height` rows of `width` pixels from (x, y) on. The layout was checked, is linear, of a
 * format that can be converted, and the box within. `memory` is that of the slot, all of which is
 * read once. Pixels have the alpha of the picture as it is, else 255; `stride` is in bytes.
 */
void to_rgb(const struct gid_layout *layout, const void *memory, uint32_t x, uint32_t y,
		uint32_t width, uint32_t height, uint32_t *pixels, size_t stride);

#endif
