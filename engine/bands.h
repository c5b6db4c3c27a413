// SPDX-License-Identifier: MIT
/**
 * Draws a part of a command in bands of rows. If the drawing has helpers and there is enough to do,
 * these draw some of the bands at the same time: so no band may need what another one draws.
 * Between two of its own bands the calling thread calls `go_on`. If that ends the command, helpers
 * end their bands, too, before this returns. A long command has several jobs of helpers, so that
 * `go_on` is also called while there is none.
 */
#ifndef ENGINE_BANDS_H
#define ENGINE_BANDS_H

#include "back_end.h"

/*
 * Draws the rows [y, y + rows). `drawing` is the thread's own, with the target, clip and scratch
 * memory that it needs; `data` is shared by all, and constant. Returns 0 or -errno.
 */
typedef int (*band_function)(struct drawing *drawing, const void *data, int32_t y, int32_t rows);

struct bands {
	band_function draw;
	const void *data;
	int32_t first, last;  /* rows: the last one is not drawn */
	uint32_t width;	      /* of each, pixels */
	uint64_t band_pixels; /* of a band, without helpers; 0: about a millisecond of work */
	uint32_t elements;    /* that each band has to look at */
};

/*
 * Each helper begins the same target with its own state. Returns 0, -ECANCELED, or the error of a
 * band: then some of the others are drawn.
 */
int bands_draw(const struct bands *bands, const struct back_end *back_end, struct drawing *drawing);

#endif
