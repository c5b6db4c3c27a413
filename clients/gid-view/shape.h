// SPDX-License-Identifier: MIT
/* The shape of a stream's pixels: no squares on DVDs, nor where a picture has every other row. */
#ifndef GID_VIEW_SHAPE_H
#define GID_VIEW_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

// As they are to be shown, one in relation to the other.
struct shape {
	uint64_t width, height;
};

/* By the caps of GStreamer in a slab's description; squares where it says nothing of it. */
struct shape shape_of_description(const char *description);

/* The size in square pixels of a picture of this shape, `turned` by 90° where that is so. */
void shape_apply(struct shape shape, bool turned, int32_t *width, int32_t *height);

#endif
