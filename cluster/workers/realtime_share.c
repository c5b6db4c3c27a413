// SPDX-License-Identifier: MIT
#include "realtime_share.h"

#include <errno.h>
#include <gid/gid.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

/* With less than this part of the budget left, work begins with ordinary priority. */
#define LEAST_PART 4

static _Thread_local struct realtime_share *own;

static int set_class(struct realtime_share *share, bool before) {
	const struct sched_param param = {.sched_priority = before ? share->priority : 0};
	const int policy = before ? SCHED_RR : SCHED_OTHER;
	if (sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param) < 0) {
		return -errno;
	}
	share->is_before = before;
	return 0;
}

/* Signal handler: the budget is spent during a piece of work. */
static void handle_spent(int number) {
	int error = errno;
	set_class(own, false);
	errno = error;
}

static void arm(const struct realtime_share *share, uint64_t ns) {
	const struct itimerspec after = {
			.it_value = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)}};
	timer_settime(share->timer, 0, &after, NULL);
}

/* The timer signals this thread only. The thread blocks all other signals. */
static int share_create_timer(struct realtime_share *share) {
	const struct sigaction action = {.sa_handler = handle_spent, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	event._sigev_un._tid = gettid();
	sigset_t spent;
	sigemptyset(&spent);
	sigaddset(&spent, SIGRTMIN);
	if (sigaction(SIGRTMIN, &action, NULL) < 0 ||
			timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &share->timer) < 0) {
		return -errno;
	}
	own = share;
	pthread_sigmask(SIG_UNBLOCK, &spent, NULL);
	return 0;
}

int realtime_share_init(struct realtime_share *share, uint64_t budget_ns, uint64_t refresh_ns,
		int priority) {
	*share = (struct realtime_share){
			.budget_ns = budget_ns,
			.refresh_ns = refresh_ns,
			.priority = priority,
			.refilled = gid_clock_now() - 2 * refresh_ns,
	};
	int ret = share_create_timer(share);
	if (ret < 0) {
		return ret;
	}
	ret = set_class(share, true);
	if (ret < 0) {
		timer_delete(share->timer);
		return ret;
	}
	share->enabled = true;
	return 0;
}

void realtime_share_finish(struct realtime_share *share) {
	if (share->enabled) {
		timer_delete(share->timer);
		share->enabled = false;
	}
}

/* --- pieces of work --------------------------------------------------------------------------- */

static void share_refill(struct realtime_share *share) {
	uint64_t now = gid_clock_now(), passed = now - share->refilled;
	uint64_t most = 2 * share->budget_ns;
	share->left_ns += passed < 2 * share->refresh_ns
			? passed * share->budget_ns / share->refresh_ns
			: most;
	share->left_ns = share->left_ns < most ? share->left_ns : most;
	share->refilled = now;
}

void realtime_share_begin(struct realtime_share *share) {
	if (!share->enabled) {
		return;
	}
	share_refill(share);
	share->is_armed = share->left_ns >= share->budget_ns / LEAST_PART;
	if (share->is_armed) {
		arm(share, share->left_ns);
	} else {
		set_class(share, false);
	}
}

void realtime_share_end(struct realtime_share *share, uint64_t spent_ns) {
	if (!share->enabled) {
		return;
	}
	if (share->is_armed) {
		arm(share, 0);
		share->left_ns -= spent_ns < share->left_ns ? spent_ns : share->left_ns;
	}
	if (!share->is_before) {
		set_class(share, true);
	}
}
