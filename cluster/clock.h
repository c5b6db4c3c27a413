// SPDX-License-Identifier: MIT
/** CLOCK_MONOTONIC in nanoseconds, the only clock here. */
#ifndef CLUSTER_CLOCK_H
#define CLUSTER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_of(const struct timespec *time) {
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static inline uint64_t clock_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return clock_of(&now);
}

#endif
