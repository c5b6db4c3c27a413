// SPDX-License-Identifier: MIT
/** The picture of an instrument cluster: two dials whose needles move. */
#ifndef METER_DIAL_H
#define METER_DIAL_H

#include <stddef.h>
#include <stdint.h>

/* Draws XRGB8888 rows; the needles stand where they are `seconds` after the start. */
void dials_draw(void *data, uint32_t width, uint32_t height, size_t stride, double seconds);

#endif
