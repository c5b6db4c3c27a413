// SPDX-License-Identifier: MIT
/* Whose time frames are composed at: the device's, or where that has none, our own. */
#include "../../cluster/pace.h"

#include "../unit/tap.h"

#define MS 1000000ull
#define REFRESH (16 * MS)

/* Composed late, shown at a refresh: in each refresh, or with some left out. */
static void test_a_device_with_refreshes(void) {
	struct frame_clock clock = {0};
	uint64_t now = 1000 * REFRESH;
	frame_clock_shown(&clock, now + 3 * MS, REFRESH); /* its modeset */
	unsigned held = 0, found = 0;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t asked = now + i % 13 * MS;
		held += frame_clock_wait(&clock, asked) != 0;
		frame_clock_take(&clock, asked, REFRESH);
		now += (1 + i % 3) * REFRESH;
		found += frame_clock_shown(&clock, now, REFRESH);
	}
	tap_ok(held == 0 && found == 0, "a device with refreshes is never held up");
}

/* Shows at once what it is given, and asks for more. Timers are up to a millisecond late. */
static void test_a_device_without(void) {
	struct frame_clock clock = {0};
	uint64_t start = 1000 * REFRESH, now = start, before = 0;
	unsigned frames = 0, hasty = 0, found = 0;
	while (now < start + 1000 * REFRESH) {
		uint64_t wait = frame_clock_wait(&clock, now);
		if (wait != 0) {
			now += wait + frames % 8 * (MS / 8);
			continue;
		}
		frame_clock_take(&clock, now, REFRESH);
		hasty += frames > 3 && now - before < REFRESH - MS;
		before = now;
		frames++;
		now += MS / 2; /* composing */
		found += frame_clock_shown(&clock, now, REFRESH);
	}
	tap_ok(found == 1, "a device without refreshes is found out once");
	tap_ok(hasty == 0, "then no frame is composed before its turn");
	tap_ok(frames >= 1000 && frames <= 1004, "and none is lost to late timers: %u", frames);
	now += 100 * REFRESH;
	tap_ok(frame_clock_wait(&clock, now) == 0, "after a pause the first frame does not wait");
}

static void test_a_device_that_refuses(void) {
	struct frame_clock clock = {0};
	tap_ok(frame_clock_refused(&clock, REFRESH) == REFRESH, "again after one refresh");
	tap_ok(frame_clock_refused(&clock, REFRESH) == 2 * REFRESH, "then after two");
	uint64_t wait = 0;
	for (int i = 0; i < 1000; i++) {
		wait = frame_clock_refused(&clock, REFRESH);
	}
	tap_ok(wait == 1000 * MS, "then each second");
	frame_clock_take(&clock, 1, REFRESH);
	tap_ok(frame_clock_refused(&clock, REFRESH) == REFRESH, "once one was taken, as at first");
}

int main(void) {
	test_a_device_with_refreshes();
	test_a_device_without();
	test_a_device_that_refuses();
	return tap_finish();
}
