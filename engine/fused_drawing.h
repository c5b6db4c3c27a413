// SPDX-License-Identifier: MIT
/**
 * Fills and layers that follow each other, put off and then drawn together: each pixel of the
 * target is read and written once for all of them, and nothing for what a later one covers.
 *
 * It takes what is frequent: whole rectangles by SRC and OVER, of pictures that are neither scaled
 * nor converted, in a clip of one rectangle. All else is pixman's, after what was put off.
 */
#ifndef ENGINE_FUSED_DRAWING_H
#define ENGINE_FUSED_DRAWING_H

#include "back_end.h"

/*
 * Puts a command off. Returns 0; -ENOTSUP: it is none of those; or what fused_draw() returns, which
 * is called where there is no more room.
 */
int fused_fill(struct drawing *drawing, const struct engine_fill *fill);
int fused_layer(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source);

/* Draws what was put off. Returns 0; -ECANCELED: `go_on` ended it; -ENOMEM. */
int fused_draw(struct drawing *drawing);

/* Whether there is something. */
static inline bool fused_waits(const struct drawing *drawing) {
	return drawing->fused.count > 0;
}

/* Forgets it. */
static inline void fused_drop(struct drawing *drawing) {
	drawing->fused.count = 0;
}

#endif
