// SPDX-License-Identifier: MIT
/** Pictures whose pixels are not those of ARGB8888 multiplied by alpha, made so row by row. Pure.
 */
#ifndef ENGINE_COLOURS_H
#define ENGINE_COLOURS_H

#include "language.h"
#include <gid/gid.h>
#include <stdbool.h>

/* Pixels that somebody else may change meanwhile. The layout was checked, and fits the memory. */
struct picture {
	struct gid_layout layout;
	const uint8_t *memory; /* of the slot */
};

/* Whether the format is YUV, and one that colours_row() can convert. */
bool colours_convert(uint32_t fourcc);

/* A matrix, with factors of 1/65536. */
struct colours {
	int32_t y_offset, y_factor;
	int32_t red_v, green_u, green_v, blue_u;
};

void colours_init(struct colours *colours, uint32_t encoding, uint32_t range);

/*
 * Converts `width` pixels of row `y`, from column `x`, to opaque ARGB8888. Each sample of colour
 * counts for all pixels that share it.
 */
void colours_row(const struct colours *colours, const struct picture *picture, uint32_t x,
		uint32_t y, uint32_t width, uint32_t *pixels);

/* Whether the format has alpha, and colours_multiply_row() can multiply its pixels by it. */
bool colours_multiply(uint32_t fourcc);

/* The same as colours_row() for pixels that are not multiplied by their alpha. */
void colours_multiply_row(const struct picture *picture, uint32_t x, uint32_t y, uint32_t width,
		uint32_t *pixels);

#endif
