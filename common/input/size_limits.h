// SPDX-License-Identifier: MIT
/**
 * The size that the user of a picture may wish for (input_sink.size), and how often one is granted.
 *
 * Pure.
 */
#ifndef GID_SIZE_LIMITS_H
#define GID_SIZE_LIMITS_H

#include <stdint.h>

#define SIZE_INTERVAL_NS 200000000ull /* between two sizes that are granted */

struct size_limits {
	int32_t width, height; /* at most, in pixels */
	int32_t step;	       /* each side is a multiple of it */
};

/* Returns the nearest width or height to `wish` where `most` is the largest. */
int32_t size_limits_bound(uint32_t wish, int32_t most, int32_t step);

#endif
