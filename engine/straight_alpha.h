// SPDX-License-Identifier: MIT
/** Pixels that are not multiplied by their alpha, as ARGB8888 that is. Pure. */
#ifndef ENGINE_STRAIGHT_ALPHA_H
#define ENGINE_STRAIGHT_ALPHA_H

#include "source_picture.h"

/* Whether straight_alpha_multiply() knows the format. */
bool straight_alpha_can_multiply(uint32_t fourcc);

/* `width` pixels of row `y`, from column `x`, of a format that it can multiply. */
void straight_alpha_multiply(const struct picture *picture, uint32_t x, uint32_t y, uint32_t width,
		uint32_t *pixels);

/* Those of any other format, which are words of ARGB8888 by now. */
void straight_alpha_multiply_words(uint32_t *pixels, size_t count);

#endif
