// SPDX-License-Identifier: MIT
/*
 * gid-bench-stall: the machine's own limit. Wakes every millisecond, before all other programs
 * where that is allowed (it is started so), and does nothing else. At SIGTERM it writes a line of
 * JSON: by how much it was late at most. No program can be more punctual than that.
 */
#include "../../tests/hostile/programs/ending.h"
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#define PERIOD_NS 1000000u

static uint64_t to_ns(const struct timespec *time) {
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

int main(void) {
	struct timespec now;
	uint64_t wakes = 0, worst = 0;
	ending_init();
	mlockall(MCL_CURRENT | MCL_FUTURE);
	clock_gettime(CLOCK_MONOTONIC, &now);
	while (!ending) {
		uint64_t due = to_ns(&now) + PERIOD_NS;
		struct timespec until = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR &&
				!ending) {
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		uint64_t late = to_ns(&now) > due ? to_ns(&now) - due : 0;
		worst = !ending && late > worst ? late : worst;
		wakes++;
	}
	printf("{\"wakes\": %" PRIu64 ", \"latest_us\": %" PRIu64 "}\n", wakes, worst / 1000);
	return 0;
}
