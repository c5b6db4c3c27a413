// SPDX-License-Identifier: MIT
/* When gid-cluster composes for a refresh, in virtual time. */
#include "cluster/screen/pace.h"

#include "tap.h"

#define MS UINT64_C(1000000)
#define REFRESH UINT64_C(16666667)

struct run {
	struct pace pace;
	uint64_t now;
	uint64_t lead;	 /* by which composing began before its refresh, last */
	unsigned missed; /* frames that were shown a refresh late */
	unsigned again;	 /* waits that did not end when they should */
};

static struct run run_start(bool on) {
	struct run run = {.now = 1000 * REFRESH};
	pace_init(&run.pace, on);
	pace_shown(&run.pace, run.now, REFRESH);
	return run;
}

/* Frames that are asked for some time after a refresh, and take so long. */
static void play(struct run *run, unsigned frames, uint64_t asked_after, uint64_t cost) {
	for (unsigned i = 0; i < frames; i++) {
		uint64_t due = run->now + REFRESH;
		run->now += asked_after;
		run->now += pace_delay(&run->pace, run->now, REFRESH);
		run->again += pace_delay(&run->pace, run->now, REFRESH) != 0;
		run->lead = due - run->now;
		run->now += cost;
		pace_committed(&run->pace, run->now);
		run->missed += run->now > due;
		run->now = run->now > due ? due + REFRESH : due;
		pace_shown(&run->pace, run->now, REFRESH);
	}
}

static void test_off(void) {
	struct run run = run_start(false);
	play(&run, 200, 0, 2 * MS);
	tap_ok(run.lead == REFRESH && run.missed == 0, "without pacing composing begins at once");
}

static void test_learns(void) {
	struct run run = run_start(true);
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
	struct run run = run_start(true);
	play(&run, 1000, 0, 2 * MS);
	uint64_t late = run.now + 5 * REFRESH + REFRESH - MS / 2;
	tap_ok(pace_delay(&run.pace, late, REFRESH) == 0, "too late for a refresh: at once");
	pace_committed(&run.pace, late + 2 * MS);
	uint64_t missed = run.pace.policy.missed;
	pace_shown(&run.pace, run.now + 7 * REFRESH, REFRESH);
	tap_ok(run.pace.policy.missed == missed, "which is no miss");
	run.now += 7 * REFRESH;
	uint64_t wait = pace_delay(&run.pace, run.now + 20 * REFRESH + MS, REFRESH);
	tap_ok(wait > 10 * MS && wait < REFRESH - MS,
			"after a pause the refreshes are where they were");
}

/* A frame that the device refused says nothing of what composing takes, nor of its refresh. */
static void test_refused(void) {
	struct run run = run_start(true);
	play(&run, 1000, 0, 2 * MS);
	run.now += pace_delay(&run.pace, run.now, REFRESH);
	pace_cancel(&run.pace);
	uint64_t missed = run.pace.policy.missed, frames = run.pace.policy.frames;
	run.now += REFRESH;
	tap_ok(pace_delay(&run.pace, run.now, REFRESH) < REFRESH, "after a refusal it plans anew");
	pace_cancel(&run.pace);
	pace_shown(&run.pace, run.now + REFRESH, REFRESH);
	tap_ok(run.pace.policy.missed == missed && run.pace.policy.frames == frames,
			"and what was not given is not judged");
}

int main(void) {
	test_off();
	test_learns();
	test_asked_late();
	test_refused();
	return tap_finish();
}
