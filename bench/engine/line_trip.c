// SPDX-License-Identifier: MIT
#include "line_trip.h"

#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define TRIPS 2000u
#define WARM 200u /* before they count: the other thread has its processor */
#define LOOKS 10000u
#define MOST_NS 20000000u

struct lines {
	_Alignas(128) atomic_uint there;
	_Alignas(128) atomic_uint back;
};

static uint64_t now_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *answer(void *data) {
	struct lines *lines = data;
	for (uint32_t last = 0, seen, looks = 0; last != UINT32_MAX; last = seen) {
		while ((seen = atomic_load_explicit(&lines->there, memory_order_acquire)) == last) {
			if (++looks % LOOKS == 0) {
				sched_yield(); /* as below */
			}
		}
		atomic_store_explicit(&lines->back, seen, memory_order_release);
	}
	return NULL;
}

double line_trip_ns(void) {
	static struct lines lines;
	pthread_t thread;
	lines = (struct lines){0};
	int error = pthread_create(&thread, NULL, answer, &lines);
	if (error != 0) {
		errno = error;
		err(1, "a thread");
	}
	const uint64_t end = now_ns() + MOST_NS;
	uint64_t begin = now_ns(), now = begin;
	uint32_t trip = 0, counted = 0;
	while (counted == 0 || (counted < TRIPS && now < end)) {
		atomic_store_explicit(&lines.there, ++trip, memory_order_release);
		uint32_t looks = 0;
		while (atomic_load_explicit(&lines.back, memory_order_acquire) != trip) {
			if (++looks % LOOKS == 0) {
				sched_yield(); /* the other one may have no processor of its own */
				now = now_ns();
			}
		}
		counted += trip > WARM;
		if (trip % 100 == 0) {
			now = now_ns();
			begin = counted == 0 ? now : begin;
		}
	}
	now = now_ns();
	atomic_store(&lines.there, UINT32_MAX);
	pthread_join(thread, NULL);
	return (double)(now - begin) / counted;
}
