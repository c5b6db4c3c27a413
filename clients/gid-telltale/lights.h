// SPDX-License-Identifier: MIT
/** The picture: a row of warning lights, each on or off. */
#ifndef TELLTALE_LIGHTS_H
#define TELLTALE_LIGHTS_H

#include <stddef.h>
#include <stdint.h>

#define LIGHTS 4u
#define LIGHTS_STATES (1u << LIGHTS)

/*
 * Draws the lights of which `state` has the bit set as lit, the others dark, on black. `data` is
 * XRGB8888 memory of `height` rows of `stride` bytes; every visible byte is written.
 */
void lights_draw(void *data, uint32_t width, uint32_t height, size_t stride, unsigned state);

/* Writes the same picture to a PNG file. Returns 0, or -1 after saying why not on stderr. */
int lights_write_png(const char *path, uint32_t width, uint32_t height, unsigned state);

#endif
