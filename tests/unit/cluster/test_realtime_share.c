// SPDX-License-Identifier: MIT
/* A worker goes before ordinary programs for as long as it was granted, and not longer. */
#include "cluster/workers/realtime_share.h"

#include <errno.h>
#include <gid/gid.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

#include "tap.h"

#define MS 1000000ull
#define BUDGET_NS (20 * MS)
#define REFRESH_NS (200 * MS)
/* The kernel looks at the timer of a thread at each of its ticks only, 10 ms apart at most. */
#define TICK_NS (10 * MS)

static int policy(void) {
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

static uint64_t cpu_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* So long of a processor. Returns for how much of that it went before others. */
static uint64_t work(struct realtime_share *share, uint64_t ns) {
	uint64_t begin = cpu_ns(), now = begin, before = 0;
	realtime_share_begin(share);
	while (now - begin < ns) {
		bool is_before = policy() == SCHED_RR;
		uint64_t next = cpu_ns();
		before += is_before ? next - now : 0;
		now = next;
	}
	realtime_share_end(share);
	return before;
}

static void rest(uint64_t ns) {
	nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
}

static void test_not_allowed(void) {
	struct realtime_share share;
	int error = realtime_share_init(&share, BUDGET_NS, REFRESH_NS, 1);
	tap_ok(error == -EPERM && policy() == SCHED_OTHER, "who may not goes before nobody");
	tap_ok(work(&share, 2 * MS) == 0 && policy() == SCHED_OTHER, "also when it works");
	realtime_share_finish(&share);
}

static void test_budget(struct realtime_share *share) {
	tap_ok(work(share, BUDGET_NS / 4) >= BUDGET_NS / 5, "work of its budget is before others");
	tap_ok(policy() == SCHED_RR, "and so it waits for more");
	rest(2 * REFRESH_NS);
	uint64_t before = work(share, 10 * BUDGET_NS);
	tap_ok(before >= BUDGET_NS && before <= 2 * BUDGET_NS + 2 * TICK_NS,
			"of ten budgets at once those of two refreshes: %.1f ms",
			(double)before / MS);
	tap_ok(policy() == SCHED_RR, "but it waits before others");
	rest(2 * REFRESH_NS);
	tap_ok(work(share, BUDGET_NS / 4) >= BUDGET_NS / 5, "later it is before others again");
}

/* Who asks for more again and again gets the same share, whatever the pieces are. */
static void test_share_of_all(struct realtime_share *share) {
	uint64_t begin = gid_clock_now(), before = 0;
	rest(2 * REFRESH_NS);
	while (gid_clock_now() - begin < 10 * REFRESH_NS) {
		before += work(share, 3 * MS);
		rest(MS);
	}
	uint64_t passed = gid_clock_now() - begin;
	uint64_t budgets = BUDGET_NS * (passed / REFRESH_NS + 2);
	tap_ok(before <= budgets + budgets / 4 && before > budgets / 4,
			"%.1f ms before others in %.1f s, in pieces", (double)before / MS,
			(double)passed / 1e9);
}

/* One piece of work, of any length, while the display's thread does its own in each refresh. */
struct display {
	struct realtime_share *share;
	atomic_bool ends;
};

static void *run_display(void *data) {
	struct display *display = data;
	while (!display->ends) {
		rest(REFRESH_NS / 4);
		realtime_share_renew(display->share);
	}
	return NULL;
}

static void test_renewed(struct realtime_share *share) {
	struct display display = {.share = share};
	pthread_t thread;
	rest(2 * REFRESH_NS);
	pthread_create(&thread, NULL, run_display, &display);
	uint64_t begin = gid_clock_now();
	uint64_t before = work(share, 6 * REFRESH_NS);
	uint64_t passed = gid_clock_now() - begin;
	display.ends = true;
	pthread_join(thread, NULL);
	double budgets = 2 + (double)passed / REFRESH_NS;
	tap_ok(before > 4 * BUDGET_NS && (double)before < budgets * BUDGET_NS + 2 * TICK_NS,
			"work of %.1f s has its budget in each refresh: %.1f ms before others",
			(double)passed / 1e9, (double)before / MS);
	tap_ok(policy() == SCHED_RR, "and waits before others");
}

/* The kernel counts what a thread runs before others until it sleeps so, and ends it then. */
static void test_limit_of_the_kernel(struct realtime_share *share) {
	const struct rlimit limit = {100000, 100000};
	setrlimit(RLIMIT_RTTIME, &limit);
	uint64_t before = 0;
	for (int i = 0; i < 15; i++) {
		before += work(share, 2 * BUDGET_NS);
		rest(REFRESH_NS);
	}
	tap_ok(before > 2 * 100 * MS, "not ended after %.0f ms in all, of 100 without a sleep",
			(double)before / MS);
}

int main(void) {
	const struct sched_param one = {.sched_priority = 1}, none = {0};
	struct realtime_share share;
	bool may = sched_setscheduler(0, SCHED_FIFO, &one) == 0;
	sched_setscheduler(0, SCHED_OTHER, &none);
	if (!may) {
		test_not_allowed();
		return tap_finish();
	}
	tap_ok(realtime_share_init(&share, BUDGET_NS, REFRESH_NS, 1) == 0 && policy() == SCHED_RR,
			"who may goes before others");
	test_budget(&share);
	test_share_of_all(&share);
	test_renewed(&share);
	test_limit_of_the_kernel(&share);
	realtime_share_finish(&share);
	return tap_finish();
}
