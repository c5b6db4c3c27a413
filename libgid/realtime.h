/* SPDX-License-Identifier: MIT */
/** Whether the calling thread is one that must not wait: what may wait is left to others then. */
#ifndef GID_REALTIME_H
#define GID_REALTIME_H

#include <sched.h>
#include <stdbool.h>

static inline bool gid_is_realtime(void) {
	const int class = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	return class == SCHED_FIFO || class == SCHED_RR;
}

#endif
