// SPDX-License-Identifier: MIT
/** CLOCK_MONOTONIC in nanoseconds, the only clock of displays. */
#ifndef GID_COMPOSITOR_MONOTONIC_H
#define GID_COMPOSITOR_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_of(const struct timespec *time) {
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static inline uint64_t monotonic_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return monotonic_of(&now);
}

#endif
