// SPDX-License-Identifier: MIT
/**
 * Real-time priority with a budget, for the thread of a worker: in each refresh it has the priority
 * for its budget, which work_bound.h grants. Work beyond that, which a producer may cause, has
 * ordinary priority until the display's thread renews the budget. So others lose no more time than
 * was announced, and a worker that they delay has its budget nevertheless.
 */
#ifndef CLUSTER_REALTIME_SHARE_H
#define CLUSTER_REALTIME_SHARE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct realtime_share {
	bool enabled;
	pid_t thread;	 /* the worker's */
	clockid_t clock; /* its processor time */
	timer_t timer;
	uint64_t budget_ns, refresh_ns; /* of a processor, in each refresh */
	int priority;
	atomic_bool is_before;	  /* it goes before others now */
	_Atomic uint64_t lowered; /* on `clock`: when its budget was spent; 0: it is not yet */

	pthread_mutex_t lock; /* of what follows. The display's thread never waits for it */
	int64_t left_ns;      /* of the budget, at most that of two refreshes; < 0: overspent */
	uint64_t refilled;    /* CLOCK_MONOTONIC ns: when `left_ns` was so */
	bool works;
	bool is_armed;	   /* it works, and its budget is being spent */
	uint64_t armed;	   /* on `clock`: since then */
	unsigned renewals; /* in this piece of work */
};

/*
 * For the calling thread, which has at most one. Returns 0, or -errno where that is not allowed;
 * then it is not enabled, and the others do nothing.
 */
int realtime_share_init(struct realtime_share *share, uint64_t budget_ns, uint64_t refresh_ns,
		int priority);
void realtime_share_finish(struct realtime_share *share);

/*
 * By the same thread, around a piece of work. Between two it is before others, for it sleeps then:
 * the kernel forgets how long a thread ran before others only if it also sleeps so
 * (RLIMIT_RTTIME).
 */
void realtime_share_begin(struct realtime_share *share);
void realtime_share_end(struct realtime_share *share);

/*
 * By the display's thread, in each refresh. A worker whose budget was spent within a piece of work
 * goes before others again, with what has come back meanwhile. Waits for nothing.
 */
void realtime_share_renew(struct realtime_share *share);

#endif
