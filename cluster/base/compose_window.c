// SPDX-License-Identifier: MIT
#include "compose_window.h"

#define LATE 8 /* a thread may wake late by this part of a refresh */

uint64_t compose_window_of(enum pacing pacing, uint64_t frame_ns, uint64_t refresh_ns) {
	if (pacing != PACING_BOUND || frame_ns == 0 || frame_ns > refresh_ns) {
		return refresh_ns;
	}
	uint64_t needed = frame_ns + refresh_ns / LATE, least = refresh_ns / 2;
	uint64_t window = needed > least ? needed : least;
	return window < refresh_ns ? window : refresh_ns;
}
