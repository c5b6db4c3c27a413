// SPDX-License-Identifier: MIT
/* When a virtual screen shows what it is given, however late that comes. */
#include "cluster/screen/refreshes.h"

#include <stdbool.h>

#include "tap.h"

#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)
#define START (UINT64_C(123456789) * MS + 7)
#define NTSC 59940u /* its refreshes are no whole number of ns apart */

static struct refreshes screen_start(uint32_t mhz) {
	struct refreshes refreshes;
	refreshes_init(&refreshes, START, mhz);
	return refreshes;
}

/* Exactly, but for what is no whole ns. Whole seconds apart: the product has more than 64 bits. */
static uint64_t time_of(uint64_t number, uint32_t mhz) {
	uint64_t thousandths = number * 1000;
	return START + thousandths / mhz * S + thousandths % mhz * S / mhz;
}

static void test_fixed_times(void) {
	static const uint32_t rates[] = {1000, 24000, NTSC, 60000, 143856, 1000000};
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct refreshes refreshes = screen_start(rates[i]);
		uint64_t now = START;
		unsigned wrong = 0;
		for (uint64_t number = 1; number <= 200000; number++) {
			now = refreshes_next(&refreshes, now);
			wrong += now != time_of(number, rates[i]);
		}
		tap_ok(wrong == 0, "%u mHz: each of 200000 is where it should be", rates[i]);
	}
	struct refreshes refreshes = screen_start(NTSC);
	const uint64_t year = UINT64_C(365) * 86400 * NTSC / 1000;
	tap_ok(refreshes_next(&refreshes, time_of(year, NTSC)) == time_of(year + 1, NTSC) &&
					refreshes_next(&refreshes, time_of(year, NTSC) - 1) ==
							time_of(year, NTSC),
			"and so it is after a year");
}

static void test_a_frame(void) {
	struct refreshes refreshes = screen_start(NTSC);
	uint64_t first = time_of(1, NTSC), second = time_of(2, NTSC);
	tap_ok(refreshes_take(&refreshes, START + S) == 0, "nothing was given: nothing is shown");
	tap_ok(refreshes_give(&refreshes, START + 5 * MS) == first, "the next refresh shows it");
	tap_ok(refreshes_take(&refreshes, first - 1) == 0 && refreshes.due == first, "not before");
	tap_ok(refreshes_take(&refreshes, first + 5 * MS) == first,
			"asked later, it was shown then all the same");
	tap_ok(refreshes_take(&refreshes, first + 6 * MS) == 0 && refreshes.due == 0, "once");
	tap_ok(refreshes_give(&refreshes, first) == second, "in the moment of a refresh: the next");
	refreshes_take(&refreshes, second);
	tap_ok(refreshes_give(&refreshes, second - 1 + (second - first)) == time_of(3, NTSC),
			"late by less than a refresh: it is in time");
	refreshes_take(&refreshes, time_of(3, NTSC));
	tap_ok(refreshes_give(&refreshes, time_of(4, NTSC) + MS) == time_of(5, NTSC),
			"late by more: one refresh is left out");
}

/* Composing begins after a refresh, while frames follow each other; after a pause it is at once. */
static void test_when_to_compose(void) {
	struct refreshes refreshes = screen_start(60000);
	uint64_t refresh = time_of(1, 60000) - START;
	tap_ok(refreshes_delay(&refreshes, START + MS) == 0, "the first frame need not wait");
	uint64_t due = refreshes_give(&refreshes, START + 2 * MS);
	refreshes_take(&refreshes, due + MS);
	tap_ok(refreshes_delay(&refreshes, due + MS) == 0, "nor does one that is there after it");
	refreshes_skip(&refreshes);
	uint64_t wait = refreshes_delay(&refreshes, due + 4 * MS);
	tap_ok(due + 4 * MS + wait == time_of(2, 60000), "one that comes then waits for the next");
	tap_ok(refreshes_delay(&refreshes, due + 6 * MS) == wait - 2 * MS &&
					refreshes_delay(&refreshes, time_of(2, 60000) + 9 * MS) ==
							0,
			"for that one alone, however late it is");
	due = refreshes_give(&refreshes, time_of(2, 60000) + 10 * MS);
	tap_ok(due == time_of(3, 60000), "and is shown by the one after it");
	refreshes_take(&refreshes, due);
	refreshes_skip(&refreshes);
	tap_ok(refreshes_delay(&refreshes, due + 13 * refresh / 2) > 0, "a slow film is no pause");
	refreshes_skip(&refreshes);
	tap_ok(refreshes_delay(&refreshes, due + 17 * refresh / 2) == 0, "after one it is at once");
}

/*
 * A picture comes some time after each refresh, and another producer's now and then at any time:
 * whatever that does, each refresh shows one of the first.
 */
static void test_two_producers(void) {
	struct refreshes refreshes = screen_start(60000);
	uint64_t came = 0, timer = 0, last = 0, gap = 0;
	bool own = false, other = false, given = false;
	for (uint64_t now = START; now < START + 20 * S; now += MS / 10) {
		uint64_t number = (now - START) * 60 / S;
		bool comes = number > came && now - START - number * S / 60 >= 4 * MS;
		bool others = (now - START) % (31 * MS) == 0;
		came = comes ? number : came;
		own |= comes;
		other |= others;
		uint64_t when = refreshes_take(&refreshes, now);
		if (when != 0 && given) {
			gap = last != 0 && when - last > gap ? when - last : gap;
			last = when;
		}
		bool asked = comes || others || when != 0 || (timer != 0 && now >= timer);
		if (refreshes.due != 0 || !asked) {
			continue;
		}
		uint64_t wait = refreshes_delay(&refreshes, now);
		timer = wait > 0 ? now + wait : 0;
		if (wait == 0 && (own || other)) {
			refreshes_give(&refreshes, now + 2 * MS);
			given = own;
			own = other = false;
		} else if (wait == 0) {
			refreshes_skip(&refreshes);
		}
	}
	tap_ok(last > START + 19 * S && gap <= 16666667, "a gap of %.2f refreshes at most",
			(double)gap / 16666667.0);
}

static void test_jumps(void) {
	struct refreshes refreshes = screen_start(NTSC);
	uint64_t first = refreshes_give(&refreshes, START);
	uint64_t hours = START + 9 * 3600 * S + 3 * MS;
	tap_ok(refreshes_take(&refreshes, hours) == first, "hours later it was shown when it was");
	uint64_t due = refreshes_give(&refreshes, hours);
	uint64_t number = (due - START) * NTSC / (1000 * S) + 1;
	tap_ok(due > hours && due - hours <= 17 * MS && due == time_of(number, NTSC),
			"and the next is where it would have been");
	refreshes = screen_start(NTSC);
	tap_ok(refreshes_give(&refreshes, START - S) == START, "before the start: with that");
}

/* A thread that wakes late, and takes 2 ms for each frame; at the 500th it is late by `once`. */
static void play(uint64_t latest, uint64_t once, unsigned expected, uint64_t longest) {
	struct refreshes refreshes = screen_start(60000);
	uint64_t last = refreshes_give(&refreshes, START), gap = 0;
	refreshes_take(&refreshes, last);
	uint64_t now = last;
	unsigned shown = 0;
	while (last < time_of(1001, 60000)) {
		uint64_t due = refreshes_give(&refreshes, now + 2 * MS);
		now = due + (shown == 500 ? once : shown * 7919 % 1000 * latest / 1000);
		uint64_t when = refreshes_take(&refreshes, now);
		gap = when - last > gap ? when - last : gap;
		last = when;
		shown++;
	}
	tap_ok(shown == expected && gap <= longest * 16666667,
			"late by %u ms, once by %u: %u of 1000 refreshes, a gap of %.2f",
			(unsigned)(latest / MS), (unsigned)(once / MS), shown,
			(double)gap / 16666667.0);
}

int main(void) {
	test_fixed_times();
	test_a_frame();
	test_when_to_compose();
	test_two_producers();
	test_jumps();
	play(0, 0, 1000, 1);
	play(11 * MS, 14 * MS, 1000, 1);
	play(11 * MS, 20 * MS, 999, 2);
	play(11 * MS, 160 * MS, 991, 10);
	return tap_finish();
}
