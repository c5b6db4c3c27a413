// SPDX-License-Identifier: MIT
/* What comes at one moment is called in turns, between which others of the caller's have theirs. */
#include "loop.h"

#include <gid/gid.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tap.h"

#define TIMERS 64u
#define SPENT_NS UINT64_C(200000)
#define TURN_NS UINT64_C(1000000)
#define CALLS_OF_A_TURN (TURN_NS / SPENT_NS + 1)

static struct gid_timer timers[TIMERS];
static struct gid_loop loop;
static unsigned called;
static bool in_order = true, over_before, over_after;

static void spend(uint64_t ns) {
	uint64_t end = gid_clock_now() + ns;
	while (gid_clock_now() < end) {
	}
}

static bool is_readable(void) {
	struct pollfd fd = {.fd = loop.epoll_fd, .events = POLLIN};
	return poll(&fd, 1, 0) == 1;
}

static void expired(void *data) {
	in_order = in_order && data == &timers[called];
	called++;
	spend(SPENT_NS);
}

/* As those of readers whose streams end at one moment, which each ask for the next one. */
static void test_timers(void) {
	bool in_turns = true, goes_on = true;
	for (unsigned i = 0; i < TIMERS; i++) {
		timers[i] = (struct gid_timer){.expired = expired, .data = &timers[i]};
		gid_loop_arm(&loop, &timers[i], 1 + i);
	}
	while (called < TIMERS && goes_on) {
		unsigned before = called;
		goes_on = is_readable();
		gid_loop_dispatch(&loop);
		goes_on = goes_on && called > before;
		in_turns = in_turns && called - before <= CALLS_OF_A_TURN;
	}
	tap_ok(called == TIMERS && in_order, "all timers expire, the earliest first");
	tap_ok(in_turns, "no more of them at once than a turn has time for");
	tap_ok(!is_readable(), "and there is nothing left to do");
}

static void ready(void *data) {
	called++;
	spend(SPENT_NS);
}

static void test_descriptors(void) {
	int fd = eventfd(1, EFD_CLOEXEC);
	bool in_turns = gid_loop_watch(&loop, fd, ready, NULL) == 0;
	for (unsigned i = 0; i < 3; i++) {
		called = 0;
		gid_loop_dispatch(&loop);
		in_turns = in_turns && called > 0 && called <= CALLS_OF_A_TURN;
	}
	tap_ok(in_turns, "one that is readable all the time has turns, too");
	gid_loop_unwatch(&loop, fd);
	close(fd);
}

static void look(void *data) {
	over_before = gid_loop_is_over(&loop);
	spend(2 * TURN_NS);
	over_after = gid_loop_is_over(&loop);
}

static void test_told(void) {
	struct gid_timer timer = {.expired = look};
	tap_ok(!gid_loop_is_over(&loop), "no turn is over before there is one");
	gid_loop_arm(&loop, &timer, 1);
	gid_loop_dispatch(&loop);
	tap_ok(!over_before && over_after, "a callback is told when to leave off");
	tap_ok(!gid_loop_is_over(&loop), "who calls it afterwards is not");
}

int main(void) {
	tap_ok(gid_loop_init(&loop) == 0, "there is a loop");
	test_timers();
	test_descriptors();
	test_told();
	gid_loop_finish(&loop);
	return tap_finish();
}
