// SPDX-License-Identifier: MIT
/** Threads of tests that hold a lock of the kernel's, and of what must not wait for it. */
#ifndef TESTS_HOLDING_H
#define TESTS_HOLDING_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define HOLDING_PATIENCE_S 60

/* Runs beside the test, for good. Returns when it has most probably begun to wait. */
static inline void holding_start(void *(*run)(void *)) {
	pthread_t thread;
	pthread_create(&thread, NULL, run, NULL);
	pthread_detach(thread);
	nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}

/* Whether it comes back. */
static inline bool holding_returns(void *(*run)(void *)) {
	pthread_t thread;
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HOLDING_PATIENCE_S;
	pthread_create(&thread, NULL, run, NULL);
	return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

#endif
