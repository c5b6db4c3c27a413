// SPDX-License-Identifier: MIT
/** Single points, clipped. Pure. */
#ifndef ENGINE_POINT_DRAWING_H
#define ENGINE_POINT_DRAWING_H

#include <pixman.h>
#include <stddef.h>

#include "language.h"

/* Where points go: rows of a format that drawing_can_target(). */
struct point_target {
	uint8_t *memory;
	uint32_t stride, fourcc;
	pixman_region32_t *clip; /* within the picture */
};

/* The colour 0xAARRGGBB (not multiplied by alpha) as such a format has it. */
uint32_t points_pixel(uint32_t fourcc, uint32_t colour);

/* Stores a pixel at each point that lies in the clip. It takes the place of what was there. */
void points_draw(const struct point_target *target, uint32_t pixel,
		const struct engine_point *points, size_t count);

#endif
