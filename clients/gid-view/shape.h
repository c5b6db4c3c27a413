// SPDX-License-Identifier: MIT
/*
 * The pixel aspect ratio of a stream: pixels of DVDs are not square, nor are those of a field of an
 * interlaced picture.
 */
#ifndef GID_VIEW_SHAPE_H
#define GID_VIEW_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

// Width and height of a pixel, in relation to each other.
struct shape {
	uint64_t width, height;
};

/* Reads it from the GStreamer caps in a slab's description; square if they do not have one. */
struct shape shape_of_description(const char *description);

/* Scales the size of a picture of such pixels to square ones; `turned` by 90° if so. */
void shape_apply(struct shape shape, bool turned, int32_t *width, int32_t *height);

#endif
