// SPDX-License-Identifier: MIT
/*
 * gid-bench-stall: measures the machine's own limits. It wakes up every millisecond, with real-time
 * priority if its caller may set that, and copies as much memory in each refresh as a display does:
 * a virtual machine may be late with that, too. At SIGTERM it writes a line of JSON: its largest
 * delay, and the shortest and longest time of a copy. No other program on this machine can be more
 * punctual or faster.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../../tests/hostile/programs/ending.h"

#define PERIOD_NS 1000000u
#define WAKES_A_REFRESH 16u
#define PICTURE ((size_t)1280 * 480 * 4)

static struct {
	uint64_t least, most; /* ns */
} copies = {.least = UINT64_MAX};

static uint64_t to_ns(const struct timespec *time) {
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static void copy_picture(void) {
	static char pictures[2][PICTURE];
	struct timespec begin, end;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	memcpy(pictures[0], pictures[1], PICTURE);
	__asm__ volatile("" : : "r"(pictures) : "memory"); /* keeps the copy */
	clock_gettime(CLOCK_MONOTONIC, &end);
	uint64_t took = to_ns(&end) - to_ns(&begin);
	copies.least = took < copies.least ? took : copies.least;
	copies.most = took > copies.most ? took : copies.most;
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
		if (wakes % WAKES_A_REFRESH == 0) {
			copy_picture();
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		uint64_t late = to_ns(&now) > due ? to_ns(&now) - due : 0;
		worst = !ending && late > worst ? late : worst;
		wakes++;
	}
	printf("{\"wakes\": %" PRIu64 ", \"latest_us\": %" PRIu64 ", \"copy_least_ns\": %" PRIu64
	       ", \"copy_most_ns\": %" PRIu64 "}\n",
			wakes, worst / 1000, copies.least, copies.most);
	return 0;
}
