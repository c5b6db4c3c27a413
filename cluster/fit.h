// SPDX-License-Identifier: MIT
/** How a picture of any size is put into a place of ours: the words of CSS' object-fit. */
#ifndef CLUSTER_FIT_H
#define CLUSTER_FIT_H

#include <gid/stream.h>

#include "pixels.h"

enum fit {
	FIT_CONTAIN, /* as large as it can be, all of it; what is left is black */
	FIT_COVER,   /* as small as it can be, without a gap; what stands out is cut off */
	FIT_FILL,    /* stretched to the place */
	FIT_NONE,    /* as it is, in the middle */
	FIT_EXACT,   /* of the place's size, or it is refused */
};

/* Where the picture is, seen from the place's corner: it can stand out on all sides. Pure. */
struct gid_box fit_place(enum fit fit, uint32_t width, uint32_t height, uint32_t place_width,
		uint32_t place_height);

/*
 * Draws the picture, opaque, into the place, all of which is written. Its memory can be another's,
 * who writes it meanwhile. Returns 0 or -ENOMEM.
 */
int fit_draw(enum fit fit, const struct pixels *picture, uint32_t *place, uint32_t place_width,
		uint32_t place_height);

#endif
