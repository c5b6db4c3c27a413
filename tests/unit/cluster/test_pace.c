// SPDX-License-Identifier: MIT
/* When gid-cluster composes for a refresh, in virtual time. */
#include "cluster/screen/pace.h"

#include <string.h>

#include "tap.h"

#define MS UINT64_C(1000000)
#define REFRESH UINT64_C(16666668)
#define FRAME (4 * MS) /* at the worst */

struct run {
	struct pace pace;
	uint64_t now;
	uint64_t lead;	 /* by which composing began before its refresh, last */
	unsigned missed; /* frames that were shown a refresh late */
	unsigned again;	 /* waits that did not end when they should */
};

static uint64_t delay(struct run *run, uint64_t now) {
	uint64_t due = pace_next_refresh(&run->pace, now, REFRESH);
	return pace_delay(&run->pace, now, due, REFRESH);
}

/* The device has waited for its refresh with a few frames, as any has that has some. */
static struct run run_start(enum pacing pacing) {
	struct run run = {.now = 1000 * REFRESH};
	pace_init(&run.pace, pacing);
	run.pace.frame_ns = FRAME;
	for (int i = 0; i < 3; i++) {
		run.again += delay(&run, run.now) != 0;
		pace_committed(&run.pace, run.now);
		run.now += REFRESH;
		pace_shown(&run.pace, run.now, REFRESH);
	}
	return run;
}

/* Frames that are asked for some time after a refresh, and take so long. */
static void play(struct run *run, unsigned frames, uint64_t asked_after, uint64_t cost) {
	for (unsigned i = 0; i < frames; i++) {
		uint64_t due = run->now + REFRESH;
		run->now += asked_after;
		run->now += delay(run, run->now);
		run->again += delay(run, run->now) != 0;
		run->lead = due - run->now;
		run->now += cost;
		pace_committed(&run->pace, run->now);
		run->missed += run->now > due;
		run->now = run->now > due ? due + REFRESH : due;
		pace_shown(&run->pace, run->now, REFRESH);
	}
}

static void test_off(void) {
	struct run run = run_start(PACING_OFF);
	play(&run, 200, 0, 2 * MS);
	tap_ok(run.lead == REFRESH && run.missed == 0 && run.again == 0,
			"without pacing composing begins right after a refresh");
	tap_ok(strcmp(pace_name(&run.pace), "off") == 0, "and says so");
}

static void test_bound(void) {
	struct run run = run_start(PACING_BOUND);
	tap_ok(strcmp(pace_name(&run.pace), "bound") == 0, "it goes by what a frame takes");
	play(&run, 200, MS / 10, FRAME);
	tap_ok(run.lead == REFRESH / 2 && run.missed == 0 && run.again == 0,
			"composing begins half a refresh before its own, once");
	play(&run, 200, 11 * MS, FRAME);
	tap_ok(run.lead == REFRESH - 11 * MS && run.missed == 0,
			"who hears of a refresh late composes at once, and is in time");
	run.pace.frame_ns = 12 * MS;
	play(&run, 200, 0, 12 * MS);
	tap_ok(run.lead == 12 * MS + REFRESH / 8 && run.missed == 0,
			"sooner where a frame may take longer");
	run.pace.frame_ns = 0;
	play(&run, 200, 0, MS);
	tap_ok(run.lead == REFRESH && strcmp(pace_name(&run.pace), "off") == 0,
			"right after a refresh where nobody knows how long it takes");
}

/* Nothing was there when composing could begin; then something comes. */
static void test_what_comes_later(void) {
	struct run run = run_start(PACING_BOUND);
	play(&run, 10, 0, MS);
	uint64_t due = run.now + REFRESH;
	delay(&run, run.now);
	pace_cancel(&run.pace);
	tap_ok(delay(&run, due - REFRESH / 2 + MS) == 0, "it is composed at once");
	pace_cancel(&run.pace);
	tap_ok(delay(&run, due - FRAME) == 0, "as long as that is in time for the refresh");
	pace_cancel(&run.pace);
	uint64_t late = due - FRAME + 1;
	tap_ok(late + delay(&run, late) == due + REFRESH / 2,
			"else half a refresh before the next");
	pace_cancel(&run.pace);
	uint64_t soon = due + 5 * REFRESH + MS;
	tap_ok(soon + delay(&run, soon) == due + 6 * REFRESH - REFRESH / 2,
			"after a pause it is as in a row");
	pace_cancel(&run.pace);
	tap_ok(delay(&run, run.now + 1100 * MS) == 0,
			"after a long one it is at once: nobody knows where the refreshes are");
}

/* A device that shows a frame at once, or that nobody knows yet, is not kept waiting. */
static void test_a_device_that_does_not_wait(void) {
	struct run run = {.now = 1000 * REFRESH};
	unsigned waits = 0;
	pace_init(&run.pace, PACING_BOUND);
	run.pace.frame_ns = FRAME;
	for (unsigned i = 0; i < 1000; i++) {
		waits += delay(&run, run.now) != 0;
		pace_committed(&run.pace, run.now + 2 * MS);
		pace_shown(&run.pace, run.now + (i % 3 == 2 ? 3 : 9) * MS, REFRESH);
		run.now += 10 * MS;
	}
	tap_ok(waits == 0, "a device that waits for no refresh is not waited for");
}

static void test_learns(void) {
	struct run run = run_start(PACING_ON);
	play(&run, 10, 0, 2 * MS);
	tap_ok(run.lead >= REFRESH - 2 * MS, "at first it begins as early as without");
	play(&run, 2000, 0, 2 * MS);
	tap_ok(run.lead >= 2 * MS && run.lead <= 5 * MS, "then as late as it can: %u us before",
			(unsigned)(run.lead / 1000));
	tap_ok(run.missed <= 2, "%u of 2010 frames are late, 2 may be", run.missed);
	tap_ok(run.again == 0, "and one wait is enough");
	play(&run, 200, 0, 9 * MS);
	tap_ok(run.lead >= 9 * MS, "what takes longer begins sooner: %u us before",
			(unsigned)(run.lead / 1000));
}

static void test_asked_late(void) {
	struct run run = run_start(PACING_ON);
	play(&run, 1000, 0, 2 * MS);
	uint64_t late = run.now + 5 * REFRESH + REFRESH - MS / 2;
	tap_ok(delay(&run, late) == 0, "too late for a refresh: at once");
	pace_committed(&run.pace, late + 2 * MS);
	uint64_t missed = run.pace.policy.missed;
	pace_shown(&run.pace, run.now + 7 * REFRESH, REFRESH);
	tap_ok(run.pace.policy.missed == missed, "which is no miss");
	run.now += 7 * REFRESH;
	uint64_t wait = delay(&run, run.now + 20 * REFRESH + MS);
	tap_ok(wait > 10 * MS && wait < REFRESH - MS,
			"after a pause the refreshes are where they were");
}

/* A frame that the device refused says nothing of what composing takes, nor of its refresh. */
static void test_refused(void) {
	struct run run = run_start(PACING_ON);
	play(&run, 1000, 0, 2 * MS);
	run.now += delay(&run, run.now);
	pace_cancel(&run.pace);
	uint64_t missed = run.pace.policy.missed, frames = run.pace.policy.frames;
	run.now += REFRESH;
	tap_ok(delay(&run, run.now) < REFRESH, "after a refusal it plans anew");
	pace_cancel(&run.pace);
	pace_shown(&run.pace, run.now + REFRESH, REFRESH);
	tap_ok(run.pace.policy.missed == missed && run.pace.policy.frames == frames,
			"and what was not given is not judged");
}

int main(void) {
	test_off();
	test_bound();
	test_what_comes_later();
	test_a_device_that_does_not_wait();
	test_learns();
	test_asked_late();
	test_refused();
	return tap_finish();
}
