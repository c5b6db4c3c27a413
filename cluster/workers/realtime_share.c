// SPDX-License-Identifier: MIT
#include "realtime_share.h"

#include <errno.h>
#include <gid/gid.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

/* With less than this part of the budget left, nothing goes before others. */
#define LEAST_PART 4
/*
 * Of one piece of work. The kernel counts what a thread runs before others until it sleeps so: 16
 * times two budgets, of half a refresh at most, are far from the second that RLIMIT_RTTIME allows.
 */
#define RENEWALS_MAX 16

static _Thread_local struct realtime_share *own;

static uint64_t clock_ns(clockid_t clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- classes ---------------------------------------------------------------------------------- */

static void share_raise(struct realtime_share *share) {
	const struct sched_param param = {.sched_priority = share->priority};
	share->is_before = sched_setscheduler(share->thread, SCHED_RR | SCHED_RESET_ON_FORK,
					   &param) == 0;
}

/*
 * The flag falls first. So whoever finds that it has fallen, and that the kernel has the ordinary
 * class, knows that this is done, and may raise.
 */
static void share_lower(struct realtime_share *share) {
	const struct sched_param param = {.sched_priority = 0};
	share->is_before = false;
	sched_setscheduler(share->thread, SCHED_OTHER | SCHED_RESET_ON_FORK, &param);
}

/* Signal handler: the budget is spent during a piece of work. */
static void handle_spent(int number) {
	int error = errno;
	own->lowered = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	share_lower(own);
	errno = error;
}

static void share_set_timer(const struct realtime_share *share, int64_t ns) {
	const struct itimerspec after = {
			.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
	timer_settime(share->timer, 0, &after, NULL);
}

/* The timer signals this thread only. The thread blocks all other signals. */
static int share_create_timer(struct realtime_share *share) {
	const struct sigaction action = {.sa_handler = handle_spent, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	event._sigev_un._tid = share->thread;
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
			.thread = gettid(),
			.budget_ns = budget_ns,
			.refresh_ns = refresh_ns,
			.priority = priority,
			.refilled = gid_clock_now() - 2 * refresh_ns,
			.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	int ret = -pthread_getcpuclockid(pthread_self(), &share->clock);
	if (ret == 0) {
		ret = share_create_timer(share);
	}
	if (ret < 0) {
		return ret;
	}
	share_raise(share);
	if (!share->is_before) {
		ret = -errno;
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

/* --- the budget. Its lock is held ------------------------------------------------------------- */

static void share_refill(struct realtime_share *share) {
	uint64_t now = gid_clock_now(), passed = now - share->refilled;
	double most = 2 * (double)share->budget_ns;
	double left = (double)share->left_ns +
			(double)passed * (double)share->budget_ns / (double)share->refresh_ns;
	share->left_ns = (int64_t)(left < most ? left : most);
	share->refilled = now;
}

/* The kernel looks at the timer at its ticks only: what was overspent meanwhile is charged, too. */
static void share_charge(struct realtime_share *share) {
	if (share->is_armed) {
		uint64_t lowered = share->lowered;
		uint64_t until = lowered != 0 ? lowered : clock_ns(share->clock);
		share->left_ns -= (int64_t)(until - share->armed);
		share->is_armed = false;
	}
}

static bool share_has_enough(const struct realtime_share *share) {
	return share->left_ns >= (int64_t)(share->budget_ns / LEAST_PART);
}

static void share_arm(struct realtime_share *share) {
	share->is_armed = true;
	share->lowered = 0;
	share->armed = clock_ns(share->clock);
	share_set_timer(share, share->left_ns);
}

/* --- pieces of work --------------------------------------------------------------------------- */

void realtime_share_begin(struct realtime_share *share) {
	if (!share->enabled) {
		return;
	}
	pthread_mutex_lock(&share->lock);
	share_refill(share);
	share->works = true;
	share->renewals = 0;
	bool goes_before = share->is_before && share_has_enough(share);
	if (goes_before) {
		share_arm(share);
	}
	pthread_mutex_unlock(&share->lock);
	if (!goes_before && share->is_before) {
		share_lower(share);
	}
}

void realtime_share_end(struct realtime_share *share) {
	if (!share->enabled) {
		return;
	}
	if (!share->is_before) { /* others may keep an ordinary thread from all that follows */
		share_raise(share);
	}
	pthread_mutex_lock(&share->lock);
	share_charge(share);
	share_set_timer(share, 0);
	share->works = false;
	pthread_mutex_unlock(&share->lock);
	if (!share->is_before || share->lowered != 0) { /* it may have been spent meanwhile */
		share_raise(share);
	}
}

void realtime_share_renew(struct realtime_share *share) {
	if (!share->enabled || share->is_before || pthread_mutex_trylock(&share->lock) != 0) {
		return;
	}
	if (share->works && share->renewals < RENEWALS_MAX &&
			sched_getscheduler(share->thread) == (SCHED_OTHER | SCHED_RESET_ON_FORK)) {
		share_charge(share);
		share_refill(share);
		if (share_has_enough(share)) {
			share->renewals++;
			share_arm(share); /* first: from then on it may run before this thread */
			share_raise(share);
			if (share->lowered != 0) { /* it is spent already: this thread waited */
				share_lower(share);
			}
		}
	}
	pthread_mutex_unlock(&share->lock);
}
