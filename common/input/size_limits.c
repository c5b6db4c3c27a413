// SPDX-License-Identifier: MIT
#include "size_limits.h"

/* Shells cannot lay out anything useful below this size. */
#define SIDE_MIN 64

int32_t size_limits_bound(uint32_t wish, int32_t most, int32_t step) {
	int32_t side = wish < (uint32_t)most ? (int32_t)wish : most;
	if (side < SIDE_MIN) {
		side = most < SIDE_MIN ? most : SIDE_MIN;
	}
	return side - side % step;
}
