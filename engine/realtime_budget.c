// SPDX-License-Identifier: MIT
#include "realtime_budget.h"

#include <errno.h>
#include <gid/gid.h>
#include <sched.h>

#include "realtime.h"
#include "thread.h"

#define MS 1000000ull
#define WINDOW_NS (10 * MS) /* less than a refresh: others wait at most this long */
#define BUDGET_NS (5 * MS)  /* of each window */
#define TURN_NS (2 * MS)

static int set_class(struct realtime_budget *budget, bool realtime) {
	const struct sched_param param = {.sched_priority = realtime ? 1 : 0};
	const int policy = realtime ? SCHED_RR : SCHED_OTHER;
	/* Threads that a graphics driver starts from here do not have it: nobody would count
	 * theirs. */
	int error = sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param) < 0 ? errno : 0;
	budget->is_realtime = error == 0 && realtime;
	return -error;
}

int realtime_budget_init(struct realtime_budget *budget, bool enabled) {
	*budget = (struct realtime_budget){0};
	/* Only if there is one to take away: leaving SCHED_IDLE needs a right. */
	int error = enabled || gid_is_realtime() ? set_class(budget, enabled) : 0;
	budget->enabled = budget->is_realtime;
	budget->window_start = gid_clock_now();
	budget->used_ns = gid_thread_used();
	return error;
}

void realtime_budget_charge(struct realtime_budget *budget, uint64_t ns) {
	budget->charged_ns += budget->is_realtime ? ns : 0;
}

void realtime_budget_update(struct realtime_budget *budget) {
	if (!budget->enabled) {
		/*
		 * An ordinary thread: the kernel shares the processor in slices of a millisecond or
		 * two.
		 */
		return;
	}
	uint64_t now = gid_clock_now();
	if (budget->is_realtime) {
		const uint64_t used_ns = gid_thread_used();
		budget->charged_ns += used_ns - budget->used_ns;
		budget->used_ns = used_ns;
	}
	if (now - budget->window_start >= WINDOW_NS) {
		/* Work beyond the budget counts in the next windows. */
		const uint64_t paid = (now - budget->window_start) / (WINDOW_NS / BUDGET_NS);
		budget->charged_ns -= paid < budget->charged_ns ? paid : budget->charged_ns;
		budget->window_start = now;
		if (!budget->is_realtime && budget->charged_ns <= BUDGET_NS) {
			budget->used_ns = gid_thread_used();
			set_class(budget, true);
		}
	}
	if (budget->is_realtime && budget->charged_ns > BUDGET_NS) {
		set_class(budget, false);
	}
	if (budget->is_realtime && now - budget->yield_time >= TURN_NS) {
		budget->yield_time = now;
		sched_yield(); /* a slice of SCHED_RR lasts 100 ms, which is six frames */
	}
}
