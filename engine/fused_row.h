// SPDX-License-Identifier: MIT
/**
 * Blends several layers into a row of pixels of 32 bits, each of which is kept in a register from
 * the first layer to the last. The results are pixman's, bit by bit. Pure.
 */
#ifndef ENGINE_FUSED_ROW_H
#define ENGINE_FUSED_ROW_H

#include <stdbool.h>
#include <stdint.h>

#define FUSED_LAYERS_MAX 16u

/* Alpha is the highest byte of a pixel, and the others are multiplied by it. */
struct row_layer {
	const uint32_t *pixels; /* for the row's first pixel and those behind it; NULL: `colour` */
	uint32_t colour;
	uint32_t opaque; /* bits that are set in each: the alpha of a format without one */
	uint8_t alpha;	 /* all are multiplied by it; 255: they stay as they are */
	bool replaces;	 /* SRC; else OVER */
};

/* Whether this processor can: pixman is as quick without such vectors. */
bool fused_row_can(void);

/* `count` is 1 to FUSED_LAYERS_MAX. */
void fused_row(uint32_t *target, const struct row_layer *layers, uint32_t count, uint32_t width);

#endif
