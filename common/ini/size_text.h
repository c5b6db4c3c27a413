// SPDX-License-Identifier: MIT
/** Sizes of pictures as users write them: 1280x720. Pure. */
#ifndef GID_SIZE_TEXT_H
#define GID_SIZE_TEXT_H

#include <stdint.h>

/*
 * Reads a number at the begin of `text`. Returns what stands behind it; NULL where there is none
 * from `least` to `most`, and sets nothing.
 */
const char *size_text_number(const char *text, uint32_t least, uint32_t most, uint32_t *number);

/* The same of WIDTHxHEIGHT, as 1280x720, where each is from 1 to `most`. */
const char *size_text_read(const char *text, uint32_t most, uint32_t *width, uint32_t *height);

#endif
