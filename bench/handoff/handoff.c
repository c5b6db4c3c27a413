// SPDX-License-Identifier: MIT
#include "handoff.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t handoff_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void handoff_sleep_until(uint64_t time) {
	struct timespec then = {(time_t)(time / 1000000000), (long)(time % 1000000000)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR) {
	}
}

void handoff_pin(int cpu) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0) {
		fprintf(stderr, "core %d: %s\n", cpu, strerror(errno));
		exit(1);
	}
}

uint64_t handoff_read(const void *data, size_t size) {
	const uint64_t *words = data;
	uint64_t sums[8] = {0};
	for (size_t i = 0; i + 8 <= size / 8; i += 8) {
		for (size_t j = 0; j < 8; j++) {
			sums[j] += words[i + j];
		}
	}
	uint64_t sum = 0;
	for (size_t j = 0; j < 8; j++) {
		sum += sums[j];
	}
	return sum;
}
