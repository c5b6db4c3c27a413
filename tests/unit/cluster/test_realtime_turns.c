// SPDX-License-Identifier: MIT
/*
 * For which class a worker asks, and when, where it may have any: the kernel's answer is given
 * here, and the timer is the kernel's own. test_realtime_share.c is what comes of it.
 */
#include "cluster/workers/realtime_share.h"

#include <errno.h>
#include <gid/gid.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "tap.h"

#define MS 1000000ull
#define BUDGET_NS (20 * MS)
#define NEVER_NS (100000 * MS) /* a refresh that brings nothing back meanwhile */
#define PRIORITY 7

extern int __wrap_sched_setscheduler(pid_t pid, int wanted, const struct sched_param *param);
extern int __wrap_sched_getscheduler(pid_t pid);
extern int __real_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer);
extern int __wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer);
extern int __real_timer_delete(timer_t timer);
extern int __wrap_timer_delete(timer_t timer);

static volatile sig_atomic_t policy, priority, answer, timer_answer, timers, asked_late,
		spent_within;

static bool is_before(void) {
	return policy == (SCHED_RR | SCHED_RESET_ON_FORK) && priority == PRIORITY;
}

int __wrap_sched_setscheduler(pid_t pid, int wanted, const struct sched_param *param) {
	if (answer != 0) {
		errno = answer;
		return -1;
	}
	policy = wanted;
	priority = param->sched_priority;
	if (spent_within && is_before()) {
		spent_within = false;
		raise(SIGRTMIN);
	}
	return 0;
}

/* A thread that is within the call is not yet what it asked for. */
int __wrap_sched_getscheduler(pid_t pid) {
	return asked_late ? SCHED_RR | SCHED_RESET_ON_FORK : policy;
}

int __wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
	if (timer_answer != 0) {
		errno = timer_answer;
		return -1;
	}
	timers++;
	return __real_timer_create(clock, event, timer);
}

int __wrap_timer_delete(timer_t timer) {
	timers--;
	return __real_timer_delete(timer);
}

static bool is_as_others(void) {
	return policy == (SCHED_OTHER | SCHED_RESET_ON_FORK) && priority == 0;
}

static uint64_t cpu_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* At the most so long of a processor. Returns for how much of that it went before others. */
static uint64_t work(uint64_t ns) {
	uint64_t begin = cpu_ns(), now = begin;
	while (now - begin < ns && is_before()) {
		now = cpu_ns();
	}
	return now - begin;
}

/* As others do, or however else it is. */
static void work_on(uint64_t ns) {
	uint64_t begin = cpu_ns();
	while (cpu_ns() - begin < ns) {
	}
}

static void test_spent(void) {
	struct realtime_share share;
	tap_ok(realtime_share_init(&share, BUDGET_NS, NEVER_NS, PRIORITY) == 0 && is_before(),
			"it waits before others");
	realtime_share_begin(&share);
	tap_ok(is_before(), "it works before others");
	uint64_t before = work(100 * BUDGET_NS);
	tap_ok(is_as_others() && before >= 2 * BUDGET_NS && before < 20 * BUDGET_NS,
			"until two budgets are spent: %.1f ms", (double)before / MS);
	realtime_share_end(&share);
	tap_ok(is_before(), "it waits before others again");
	realtime_share_begin(&share);
	tap_ok(is_as_others(), "but works as others do, as long as nothing has come back");
	realtime_share_end(&share);
	tap_ok(is_before(), "and waits before others");
	realtime_share_finish(&share);
	realtime_share_finish(&share);
	tap_ok(timers == 0, "its timer is given back once");
}

static void test_small_pieces(void) {
	struct realtime_share share;
	int pieces = 0;
	realtime_share_init(&share, BUDGET_NS, NEVER_NS, PRIORITY);
	for (; pieces < 100; pieces++) {
		realtime_share_begin(&share);
		if (!is_before()) {
			break;
		}
		work_on(BUDGET_NS / 10);
		realtime_share_end(&share);
	}
	tap_ok(pieces >= 15 && pieces <= 18,
			"%d tenths of a budget, and the rest is too small to begin", pieces);
	realtime_share_end(&share);
	realtime_share_finish(&share);
}

static void test_comes_back(void) {
	struct realtime_share share;
	realtime_share_init(&share, BUDGET_NS, MS, PRIORITY);
	realtime_share_begin(&share);
	work(100 * BUDGET_NS);
	realtime_share_end(&share);
	nanosleep(&(struct timespec){.tv_nsec = 3 * MS}, NULL);
	realtime_share_begin(&share);
	tap_ok(is_before() && work(2 * BUDGET_NS) >= 2 * BUDGET_NS - MS,
			"two refreshes later it has all again");
	realtime_share_end(&share);
	realtime_share_finish(&share);
}

/* What the kernel let it run beyond its budget is not given once more. */
static void test_overspent(void) {
	struct realtime_share share;
	realtime_share_init(&share, BUDGET_NS, NEVER_NS, PRIORITY);
	realtime_share_begin(&share);
	uint64_t before = work(100 * BUDGET_NS);
	work_on(10 * BUDGET_NS);
	realtime_share_end(&share);
	int64_t left = share.left_ns;
	tap_ok(left <= 0 && left >= 2 * (int64_t)BUDGET_NS - (int64_t)before - (int64_t)MS,
			"%.1f ms too much are charged, and not what it worked as others do",
			(double)-left / MS);
	realtime_share_finish(&share);
}

static void test_renewed(void) {
	struct realtime_share share;
	realtime_share_init(&share, BUDGET_NS, NEVER_NS, PRIORITY);
	realtime_share_begin(&share);
	work(100 * BUDGET_NS);
	realtime_share_renew(&share);
	tap_ok(is_as_others(), "what is spent is not renewed before it has come back");
	share.refresh_ns = MS;
	nanosleep(&(struct timespec){.tv_nsec = 3 * MS}, NULL);
	asked_late = true;
	realtime_share_renew(&share);
	tap_ok(is_as_others(), "nor while the thread is still before others");
	asked_late = false;
	pthread_mutex_lock(&share.lock);
	realtime_share_renew(&share);
	tap_ok(is_as_others(), "nor is the worker waited for");
	pthread_mutex_unlock(&share.lock);
	realtime_share_renew(&share);
	tap_ok(is_before(), "then the same piece of work goes before others again");
	uint64_t before = work(100 * BUDGET_NS);
	tap_ok(is_as_others() && before < 20 * BUDGET_NS, "until that is spent: %.1f ms",
			(double)before / MS);
	realtime_share_end(&share);
	tap_ok(is_before(), "and it waits before others");
	realtime_share_renew(&share);
	tap_ok(is_before() && !share.is_armed, "where nothing is to be renewed");
	realtime_share_finish(&share);
}

/* The thread of the display may be kept from its processor within the call. */
static void test_spent_within_the_call(void) {
	struct realtime_share share;
	realtime_share_init(&share, BUDGET_NS, MS, PRIORITY);
	realtime_share_begin(&share);
	work(100 * BUDGET_NS);
	nanosleep(&(struct timespec){.tv_nsec = 3 * MS}, NULL);
	spent_within = true;
	realtime_share_renew(&share);
	tap_ok(is_as_others() && !spent_within, "what is spent as it is renewed is spent");
	realtime_share_renew(&share);
	tap_ok(is_before(), "and renewed later");
	spent_within = true;
	work(100 * BUDGET_NS);
	realtime_share_end(&share);
	tap_ok(is_before() && !spent_within, "nor does it wait as others do");
	realtime_share_finish(&share);
}

/* The kernel ends who goes before others for long without a sleep. */
static void test_renewed_for_ever(void) {
	struct realtime_share share;
	int renewals = 0;
	realtime_share_init(&share, MS, 1, PRIORITY);
	realtime_share_begin(&share);
	for (; renewals < 100; renewals++) {
		work(100 * BUDGET_NS);
		realtime_share_renew(&share);
		if (!is_before()) {
			break;
		}
	}
	tap_ok(renewals == 16, "%d times in one piece of work", renewals);
	realtime_share_end(&share);
	realtime_share_begin(&share);
	work(100 * BUDGET_NS);
	realtime_share_renew(&share);
	tap_ok(is_before(), "and anew in the next");
	realtime_share_end(&share);
	realtime_share_finish(&share);
}

static void test_refused(void) {
	struct realtime_share share;
	policy = -1;
	timer_answer = EAGAIN;
	int error = realtime_share_init(&share, BUDGET_NS, NEVER_NS, PRIORITY);
	tap_ok(error == -EAGAIN && policy == -1, "without a timer nothing goes before others");
	realtime_share_finish(&share);
	timer_answer = 0;
	answer = EPERM;
	error = realtime_share_init(&share, BUDGET_NS, NEVER_NS, PRIORITY);
	tap_ok(error == -EPERM && timers == 0, "nor without the right, and no timer is left");
	answer = 0;
	realtime_share_begin(&share);
	realtime_share_end(&share);
	realtime_share_finish(&share);
	tap_ok(policy == -1 && timers == 0, "whoever was refused asks no more");
}

/* The class may be taken from a program while it runs: it works on, and asks again. */
static void test_lost(void) {
	struct realtime_share share;
	realtime_share_init(&share, BUDGET_NS, NEVER_NS, PRIORITY);
	realtime_share_begin(&share);
	work(100 * BUDGET_NS);
	answer = EPERM;
	share.refresh_ns = MS;
	nanosleep(&(struct timespec){.tv_nsec = 3 * MS}, NULL);
	realtime_share_renew(&share);
	realtime_share_end(&share);
	tap_ok(is_as_others(), "what is refused later is not taken for given");
	answer = 0;
	realtime_share_begin(&share);
	realtime_share_end(&share);
	tap_ok(is_before(), "and is asked for after the next piece of work");
	realtime_share_finish(&share);
}

int main(void) {
	test_spent();
	test_small_pieces();
	test_comes_back();
	test_overspent();
	test_renewed();
	test_spent_within_the_call();
	test_renewed_for_ever();
	test_refused();
	test_lost();
	return tap_finish();
}
