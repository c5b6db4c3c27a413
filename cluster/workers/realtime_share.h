// SPDX-License-Identifier: MIT
/**
 * Real-time priority with a budget, for the thread of a worker: in each refresh it has the priority
 * for its budget, which work_bound.h grants. Work beyond that, which a producer may cause, has
 * ordinary priority. So others lose no more time than was announced.
 */
#ifndef CLUSTER_REALTIME_SHARE_H
#define CLUSTER_REALTIME_SHARE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct realtime_share {
	bool enabled;
	timer_t timer;
	uint64_t budget_ns, refresh_ns; /* of a processor, in each refresh */
	int priority;
	uint64_t left_ns;  /* of it; what was not used adds up to that of two refreshes */
	uint64_t refilled; /* CLOCK_MONOTONIC ns: when `left_ns` was so */
	bool is_armed;	   /* its work began before others */
	volatile sig_atomic_t is_before; /* it goes before others now */
};

/*
 * For the calling thread, which has at most one. Returns 0, or -errno where that is not allowed;
 * then it is not enabled, and the others do nothing.
 */
int realtime_share_init(struct realtime_share *share, uint64_t budget_ns, uint64_t refresh_ns,
		int priority);
void realtime_share_finish(struct realtime_share *share);

/*
 * By the same thread, around a piece of work, which took `spent_ns` of a processor. Between two it
 * is before others, for it sleeps then: the kernel forgets how long a thread ran before others only
 * if it also sleeps so (RLIMIT_RTTIME).
 */
void realtime_share_begin(struct realtime_share *share);
void realtime_share_end(struct realtime_share *share, uint64_t spent_ns);

#endif
