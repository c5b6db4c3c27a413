// SPDX-License-Identifier: MIT
/* The thread of a canvas comes before others only if it is marked, and not for longer than it may.
 */
#include "realtime_budget.h"

#include <errno.h>
#include <gid/gid.h>
#include <sched.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

static int policy(void) {
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

/* Works until the condition holds, for two seconds at most. Returns how long, in ms. */
static long work_until(struct realtime_budget *budget, int wanted) {
	uint64_t begin = gid_clock_now(), now = begin;
	while (policy() != wanted && now - begin < 2000000000) {
		realtime_budget_update(budget);
		now = gid_clock_now();
	}
	return (long)((now - begin) / 1000000);
}

/* How much of its work is done before others, in %, if there are 12 ms between two looks. */
static long share_of_long_parts(struct realtime_budget *budget) {
	int before_others = 0, parts = 40;
	for (int i = 0; i < parts; i++) {
		struct timespec now;
		uint64_t used = 0, begin = 0;
		while (begin == 0 || used - begin < 12000000) {
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
			used = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
			begin = begin == 0 ? used : begin;
		}
		before_others += policy() == SCHED_RR;
		realtime_budget_update(budget);
	}
	return 100 * before_others / parts;
}

/* As `chrt --idle` starts a program, for which it is no error that it cannot come before others. */
static bool may_be_idle(void) {
	const struct sched_param none = {0};
	struct realtime_budget budget;
	int status = -1;
	pid_t child = fork();
	if (child == 0) {
		const bool is_idle = sched_setscheduler(0, SCHED_IDLE, &none) == 0;
		const int error = realtime_budget_init(&budget, false);
		_exit(is_idle && error == 0 && policy() == SCHED_IDLE ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return status == 0;
}

int main(void) {
	tap_ok(may_be_idle(), "a thread that is not marked may be below others, and stays so");

	struct realtime_budget budget;
	const struct sched_param one = {.sched_priority = 1};
	bool may = sched_setscheduler(0, SCHED_FIFO, &one) == 0;

	tap_ok(realtime_budget_init(&budget, false) == 0 && policy() == SCHED_OTHER,
			"a thread that is not marked is as others, whoever started it");
	realtime_budget_update(&budget);
	tap_ok(policy() == SCHED_OTHER, "and stays so");

	int error = realtime_budget_init(&budget, true);
	if (!may) {
		tap_ok(error == -EPERM && policy() == SCHED_OTHER,
				"without the right to a priority a marked one has none");
		realtime_budget_update(&budget);
		tap_ok(policy() == SCHED_OTHER, "and does not get one");
		return tap_finish();
	}
	tap_ok(error == 0 && policy() == SCHED_RR, "a marked one comes before others");
	long first = work_until(&budget, SCHED_OTHER);
	tap_ok(policy() == SCHED_OTHER && first >= 4 && first < 1000, "but not without end: %ld ms",
			first);
	work_until(&budget, SCHED_RR);
	tap_ok(policy() == SCHED_RR, "and then again");
	long share = share_of_long_parts(&budget);
	tap_ok(share > 0 && share <= 60,
			"nor if it takes longer than that until it can look: %ld %% of the time",
			share);
	nanosleep(&(struct timespec){0, 120000000}, NULL);
	realtime_budget_update(&budget);
	tap_ok(policy() == SCHED_RR, "one that rests keeps it");
	return tap_finish();
}
