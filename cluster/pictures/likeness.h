// SPDX-License-Identifier: MIT
/** Reference pictures from a PNG, one below the other: only pictures like these are learned. */
#ifndef CLUSTER_LIKENESS_H
#define CLUSTER_LIKENESS_H

#include "pixels.h"

struct likeness {
	void *surface;		/* of cairo; NULL: any picture is like it */
	uint32_t width, height; /* of one picture */
	uint32_t count;
	uint32_t tolerance; /* how far each colour may be from the picture's, of 255 */
};

/*
 * Reads pictures of this size. Returns 0, -EINVAL: it is no such PNG, or -ENOMEM; it is to be
 * finished in either case.
 */
int likeness_read(struct likeness *likeness, const char *png, uint32_t width, uint32_t height,
		uint32_t tolerance);
void likeness_finish(struct likeness *likeness);

/* Whether any of them is as near to this one, of the same size. */
bool likeness_has(const struct likeness *likeness, const struct pixels *picture);

#endif
