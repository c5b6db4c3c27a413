// SPDX-License-Identifier: MIT
/** How much of each pixel triangles cover. Pure. */
#ifndef ENGINE_TRIANGLE_DRAWING_H
#define ENGINE_TRIANGLE_DRAWING_H

#include <pixman.h>

/* In pixels from the canvas's corner. Any finite numbers are fine. */
struct triangle {
	double x[3], y[3];
};

/* The pixels that it lies in, as far as they can be a canvas's. It may be empty. */
pixman_box32_t triangle_box(const struct triangle *triangle);

/*
 * Adds the part of it that lies in `band` to a mask of that band: bytes, 255 where a pixel is
 * covered whole. Bands that follow each other have exactly what one of all their rows has.
 */
void triangle_cover(
		const struct triangle *triangle, pixman_image_t *mask, const pixman_box32_t *band);

#endif
