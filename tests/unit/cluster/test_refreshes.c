// SPDX-License-Identifier: MIT
/* When a virtual screen shows what it is given, however late that comes, and when it is composed.
 */
#include "cluster/screen/refreshes.h"

#include <stdbool.h>

#include "cluster/screen/pace.h"
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

#define REFRESH UINT64_C(16666666) /* of 60 Hz, as gid-cluster has it */
#define FRAME (4 * MS)		   /* at the worst */

/* As screen.c has it. */
struct screen {
	struct refreshes refreshes;
	struct pace pace;
	uint64_t timer; /* 0: not armed */
	uint64_t takes; /* a frame */
};

static struct screen screen_of(enum pacing pacing) {
	struct screen screen = {.refreshes = screen_start(60000), .takes = 2 * MS};
	pace_init(&screen.pace, pacing);
	screen.pace.frame_ns = FRAME;
	return screen;
}

static uint64_t screen_delay(struct screen *screen, uint64_t now) {
	uint64_t due = refreshes_next(&screen->refreshes, now);
	return pace_delay(&screen->pace, now, due, REFRESH);
}

/* A frame was begun at `now`. Returns which refresh shows it. */
static uint64_t screen_give(struct screen *screen, uint64_t now) {
	pace_committed(&screen->pace, now + screen->takes);
	return refreshes_give(&screen->refreshes, now + screen->takes);
}

static uint64_t screen_take(struct screen *screen, uint64_t now) {
	uint64_t when = refreshes_take(&screen->refreshes, now);
	if (when != 0) {
		pace_shown(&screen->pace, when, REFRESH);
	}
	return when;
}

/* Returns whether composing begins at `now`; `asked`: something has come. */
static bool screen_begins(struct screen *screen, uint64_t now, bool asked, bool news) {
	if (screen->refreshes.due != 0 ||
			!(asked || (screen->timer != 0 && now >= screen->timer))) {
		return false;
	}
	uint64_t wait = screen_delay(screen, now);
	screen->timer = wait > 0 ? now + wait : 0;
	if (wait == 0 && !news) {
		pace_cancel(&screen->pace);
	}
	return wait == 0 && news;
}

static void test_when_to_compose(void) {
	struct screen screen = screen_of(PACING_BOUND);
	uint64_t window = REFRESH / 2, first = time_of(1, 60000);
	tap_ok(START + MS + screen_delay(&screen, START + MS) == first - window,
			"composing begins half a refresh before the first refresh");
	tap_ok(screen_give(&screen, first - window) == first, "which shows it");
	screen_take(&screen, first + MS);
	uint64_t second = first + REFRESH;
	tap_ok(first + MS + screen_delay(&screen, first + MS) == second - window,
			"the next one begins as long before the next");
	tap_ok(screen_delay(&screen, second - window + 5 * MS) == 0, "at once where it is late");
	pace_cancel(&screen.pace);
	tap_ok(screen_delay(&screen, second - FRAME - MS) == 0,
			"as what comes when there was nothing, if it is in time");
	pace_cancel(&screen.pace);
	uint64_t late = second - FRAME + MS;
	tap_ok(late + screen_delay(&screen, late) == time_of(2, 60000) + REFRESH - window,
			"else for the refresh after that");
	screen = screen_of(PACING_OFF);
	screen_take(&screen, screen_give(&screen, START + MS));
	tap_ok(screen_delay(&screen, first) == 0, "without pacing it begins right after a refresh");
}

struct outcome {
	uint64_t last, gap; /* between two of the first producer's pictures that were shown */
	unsigned long_gaps; /* that were longer than a refresh */
};

/* A picture comes some time after each refresh, and another producer's now and then at any time. */
static struct outcome two_producers(enum pacing pacing, uint64_t after) {
	struct screen screen = screen_of(pacing);
	struct outcome outcome = {0};
	uint64_t came = 0;
	bool own = false, other = false, given = false;
	for (uint64_t now = START; now < START + 20 * S; now += MS / 10) {
		uint64_t number = (now - START) * 60 / S;
		bool comes = number > came && now - START - number * S / 60 >= after;
		bool others = (now - START) % (31 * MS) == 0;
		came = comes ? number : came;
		own |= comes;
		other |= others;
		uint64_t when = screen_take(&screen, now);
		if (when != 0 && given) {
			uint64_t gap = outcome.last != 0 ? when - outcome.last : 0;
			outcome.gap = gap > outcome.gap ? gap : outcome.gap;
			outcome.long_gaps += gap > REFRESH + MS;
			outcome.last = when;
		}
		if (screen_begins(&screen, now, comes || others || when != 0, own || other)) {
			screen_give(&screen, now);
			given = own;
			own = other = false;
		}
	}
	return outcome;
}

/*
 * Whatever the other does, each refresh shows a picture of the first. Where that comes when
 * composing could have begun already, it may be shown sooner at first: until a picture of the other
 * is in its way for once.
 */
static void test_two_producers(void) {
	for (uint64_t after = MS; after < REFRESH - MS; after += MS) {
		struct outcome outcome = two_producers(PACING_BOUND, after);
		unsigned allowed = after > REFRESH / 2 && after < REFRESH - FRAME;
		tap_ok(outcome.last > START + 19 * S && outcome.long_gaps <= allowed &&
						outcome.gap <= (1 + allowed) * (REFRESH + 1),
				"%u ms after a refresh: a gap of %.2f refreshes at most, %u are long",
				(unsigned)(after / MS), (double)outcome.gap / (double)REFRESH,
				outcome.long_gaps);
	}
	struct outcome outcome = two_producers(PACING_OFF, 4 * MS);
	tap_ok(outcome.last > START + 19 * S && outcome.long_gaps <= 1,
			"as without pacing: %u are long", outcome.long_gaps);
}

/*
 * Two changes, each at any time, of a screen that stood still for long: the longest that one of
 * them takes to be shown, where each frame takes as long as it may.
 */
static uint64_t longest_way(enum pacing pacing, uint64_t frame) {
	uint64_t longest = 0;
	for (uint64_t first = 0; first < REFRESH; first += MS / 4) {
		for (uint64_t more = 0; more < 2 * REFRESH; more += MS / 4) {
			struct screen screen = screen_of(pacing);
			screen.takes = screen.pace.frame_ns = frame;
			const uint64_t at[] = {START + S + first, START + S + first + more};
			unsigned came = 0, begun = 0, shown = 0;
			for (uint64_t now = START + S; shown < 2; now += MS / 4) {
				uint64_t when = screen_take(&screen, now);
				for (; when != 0 && shown < begun; shown++) {
					uint64_t way = when - at[shown];
					longest = way > longest ? way : longest;
				}
				bool comes = came < 2 && now >= at[came];
				while (came < 2 && now >= at[came]) {
					came++;
				}
				if (screen_begins(&screen, now, comes || when != 0, came > begun)) {
					screen_give(&screen, now);
					begun = came;
				}
			}
		}
	}
	return longest;
}

/* What is told of a role's fallback is true of any change. */
static void test_the_promise(void) {
	const uint64_t step = MS / 2; /* of the simulation: it begins and sees so much later */
	uint64_t way = longest_way(PACING_BOUND, FRAME), promised = REFRESH + REFRESH / 2;
	tap_ok(way <= promised + step && way > promised - MS,
			"a change takes a refresh and a half at most: %.2f",
			(double)way / (double)REFRESH);
	way = longest_way(PACING_BOUND, 11 * MS);
	uint64_t longer = REFRESH + compose_window_of(PACING_BOUND, 11 * MS, REFRESH);
	tap_ok(way <= longer + step && way > longer - MS, "where a frame takes longer, more: %.2f",
			(double)way / (double)REFRESH);
	way = longest_way(PACING_OFF, FRAME);
	tap_ok(way <= 2 * REFRESH + step && way > 2 * REFRESH - MS, "without pacing two: %.2f",
			(double)way / (double)REFRESH);
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
static void play(enum pacing pacing, uint64_t latest, uint64_t once, unsigned expected,
		uint64_t longest) {
	struct screen screen = screen_of(pacing);
	uint64_t last = screen_give(&screen, START), gap = 0;
	screen_take(&screen, last);
	uint64_t now = last;
	unsigned shown = 0;
	while (last < time_of(1001, 60000)) {
		uint64_t late = shown == 500 ? once : shown * 7919 % 1000 * latest / 1000;
		now += screen_delay(&screen, now) + late;
		now = screen_give(&screen, now);
		uint64_t when = screen_take(&screen, now);
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
	test_the_promise();
	test_jumps();
	play(PACING_OFF, 0, 0, 1000, 1);
	play(PACING_OFF, 11 * MS, 14 * MS, 1000, 1);
	play(PACING_OFF, 11 * MS, 20 * MS, 999, 2);
	play(PACING_OFF, 11 * MS, 160 * MS, 991, 10);
	play(PACING_BOUND, 0, 0, 1000, 1);
	play(PACING_BOUND, 5 * MS, 6 * MS, 1000, 1);
	play(PACING_BOUND, 5 * MS, 20 * MS, 999, 2);
	play(PACING_BOUND, 5 * MS, 160 * MS, 990, 11); /* it begins half a refresh later */
	return tap_finish();
}
