// SPDX-License-Identifier: MIT
/** How much of each pixel a polygon covers. Pure. */
#ifndef ENGINE_POLYGON_DRAWING_H
#define ENGINE_POLYGON_DRAWING_H

#include <pixman.h>
#include <stdbool.h>
#include <stddef.h>

#include "language.h"

/* A polygon whose edges are sorted by where they begin. */
struct polygon {
	struct polygon_edge *edges;
	size_t count;
	enum engine_rule rule;
	pixman_box32_t box; /* that it lies in, in pixels */
};

#define POLYGON_EDGE_WORK 128 /* as for so many pixels, in each row that an edge crosses */

/* Returns 0 or -ENOMEM. The corners of a pixel are points. */
int polygon_init(struct polygon *polygon, const struct engine_point *points, size_t count,
		enum engine_rule rule);
void polygon_finish(struct polygon *polygon);

/*
 * One row of pixels, from column `x1` on: `width` bytes, 255 where a pixel is covered whole.
 * Returns a measure of the work, which is as large as that for so many pixels, or -ENOMEM.
 */
int64_t polygon_row(
		const struct polygon *polygon, int32_t y, int32_t x1, uint32_t width, uint8_t *row);

#endif
