// SPDX-License-Identifier: MIT
/** Times of displays as gid_clock_now() has them. */
#ifndef GID_COMPOSITOR_MONOTONIC_H
#define GID_COMPOSITOR_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_of(const struct timespec *time) {
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

#endif
