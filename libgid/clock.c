// SPDX-License-Identifier: MIT
#include <gid/gid.h>
#include <time.h>

#define NS_PER_S 1000000000ull

uint64_t gid_clock_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}
