// SPDX-License-Identifier: MIT
/* When gid-meter draws: by the display that shows its pictures, and without one by its own timer.
 */
#include "schedule.h"

#include "tap.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define START (100 * SECOND)
#define REFRESH (16 * MS) /* of a display of 62.5 Hz; a picture is begun 1 ms after each */
#define AFTER MS

static struct schedule make(uint32_t rate) {
	struct schedule schedule;
	schedule_init(&schedule, START, rate);
	return schedule;
}

/* One that follows a display, whose last picture was shown and drawn then. */
static struct schedule following(uint64_t shown, uint64_t begun) {
	struct schedule schedule = make(10);
	const struct gid_shown told = {.sequence = 1, .time = shown, .refresh_ns = REFRESH};
	schedule_shown(&schedule, &told);
	schedule_drawn(&schedule, 2, begun, begun + 2 * MS);
	return schedule;
}

static void test_timer(void) {
	struct schedule schedule = make(10);
	tap_ok(schedule_next(&schedule, START) == START, "the first picture is due at once");
	schedule_drawn(&schedule, 2, START + 30 * MS, START + 35 * MS);
	tap_ok(schedule_next(&schedule, START + 35 * MS) == START + 100 * MS,
			"a late one makes the next one not late");
	schedule_drawn(&schedule, 2, START + 170 * MS, START + 175 * MS);
	tap_ok(schedule_next(&schedule, START + 175 * MS) == START + 300 * MS,
			"half an interval is between two");
	schedule_drawn(&schedule, 2, START + 300 * MS, START + 520 * MS);
	tap_ok(schedule_next(&schedule, START + 520 * MS) == START + 600 * MS,
			"after one that took longer than that, the next one is in time again");
	schedule_drawn(&schedule, 2, START + 600 * MS, START + 601 * MS);
	tap_ok(schedule_next(&schedule, START + 900 * SECOND) == START + 700 * MS,
			"one that is overdue is not put off");
}

static void test_display(void) {
	uint64_t shown = START + 3 * MS;
	struct schedule schedule = following(shown, shown - REFRESH + AFTER);
	tap_ok(schedule_next(&schedule, shown) == shown + AFTER, "right after a refresh");
	schedule = following(shown, shown + AFTER);
	tap_ok(schedule_next(&schedule, shown + AFTER) == shown + REFRESH + AFTER,
			"the next one right after the next refresh, though nobody told of that yet");
	schedule = following(shown, shown + 10 * REFRESH + AFTER);
	tap_ok(schedule_next(&schedule, shown + 10 * REFRESH + 2 * MS) ==
					shown + 11 * REFRESH + AFTER,
			"also if for some refreshes nobody told anything");
	schedule = following(shown, shown + 12 * MS);
	tap_ok(schedule_next(&schedule, shown + 12 * MS) == shown + REFRESH + AFTER,
			"also after one that was late by most of a refresh");
	schedule = following(shown, shown + 14 * MS);
	tap_ok(schedule_next(&schedule, shown + 14 * MS) == shown + 2 * REFRESH + AFTER,
			"not two for one refresh");
	schedule = following(shown + 40 * REFRESH, shown + AFTER);
	tap_ok(schedule_next(&schedule, shown + AFTER) == shown + REFRESH + AFTER,
			"a display that is ahead of the clock does not have us wait for it");
}

/* It was drawn shortly before, and shown at once, as after a pause. */
static void test_shown_at_once(void) {
	uint64_t shown = START + 3 * MS;
	struct schedule schedule = following(shown, shown - 2 * MS);
	tap_ok(schedule_next(&schedule, shown) == shown + REFRESH + AFTER,
			"before it is told, the next one is for the refresh after the next");
	const struct gid_shown told = {.sequence = 2, .time = shown, .refresh_ns = REFRESH};
	schedule_shown(&schedule, &told);
	tap_ok(schedule_next(&schedule, shown) == shown + AFTER, "then for the next");
	schedule_drawn(&schedule, 2, shown, shown + MS);
	tap_ok(schedule_next(&schedule, shown) == shown + REFRESH + AFTER,
			"an eighth of a refresh is between two all the same");
}

/* When the next picture is begun after a refresh of a display that composes so long before each. */
static uint64_t begun_after(uint64_t window) {
	uint64_t shown = START + 3 * MS;
	struct schedule schedule = following(shown, shown - 3 * MS);
	const struct gid_shown told = {
			.sequence = 1, .time = shown, .refresh_ns = REFRESH, .window_ns = window};
	schedule_shown(&schedule, &told);
	return schedule_next(&schedule, shown) - shown;
}

static void test_display_that_tells_its_window(void) {
	tap_ok(begun_after(REFRESH / 2) == AFTER && begun_after(REFRESH / 4) == AFTER &&
					begun_after(REFRESH) == AFTER,
			"right after a refresh, whether it composes then or half a refresh later");
	tap_ok(begun_after(12 * MS) == REFRESH - 4 * MS + AFTER,
			"as much sooner as it composes sooner than half a refresh before");
}

static void test_no_display_any_more(void) {
	struct schedule schedule = following(START, START + AFTER);
	uint64_t last = START + SECOND - MS;
	schedule_drawn(&schedule, 2, last, last);
	tap_ok(schedule_interval(&schedule, last) == REFRESH, "it is followed for a second");
	last = START + SECOND;
	schedule_drawn(&schedule, 2, last, last);
	tap_ok(schedule_interval(&schedule, last) == 100 * MS &&
					schedule_next(&schedule, last) == START + 1100 * MS,
			"then the timer says when");
}

/* Whatever a reader tells, the timer's interval is kept. */
static void test_no_display(void) {
	const uint64_t refreshes[] = {0, 1, 3 * MS, 60 * MS, SECOND, UINT64_MAX};
	bool kept = true;
	for (size_t i = 0; i < sizeof(refreshes) / sizeof(refreshes[0]); i++) {
		struct schedule schedule = make(10);
		const struct gid_shown told = {
				.sequence = 1, .time = START, .refresh_ns = refreshes[i]};
		schedule_shown(&schedule, &told);
		schedule_drawn(&schedule, 2, START, START);
		kept = kept && schedule_next(&schedule, START) == START + 100 * MS;
	}
	tap_ok(kept, "a display that has no refreshes, or absurd ones, is not followed");
}

/* Drawing as it happens, each wake-up being late by up to a fifth of a refresh. */
static void test_each_refresh_has_one(void) {
	struct schedule schedule = make(60);
	uint64_t now = START, next = START, shown = START - 5 * MS, late = 0;
	unsigned drawn = 0, refreshes = 1000;
	for (unsigned refresh = 0; refresh < refreshes; refresh++) {
		const struct gid_shown told = {
				.sequence = refresh + 1, .time = shown, .refresh_ns = REFRESH};
		schedule_shown(&schedule, &told);
		next = schedule_next(&schedule, now);
		while (next < shown + REFRESH) {
			late = (late + 700 * 1000) % (REFRESH / 5);
			now = (next > now ? next : now) + late;
			schedule_drawn(&schedule, refresh + 2, now, now + 2 * MS);
			drawn++;
			next = schedule_next(&schedule, now);
		}
		shown += REFRESH;
	}
	tap_ok(drawn + 1 >= refreshes && drawn <= refreshes + 1, "%u pictures for %u refreshes",
			drawn, refreshes);
}

int main(void) {
	test_timer();
	test_display();
	test_shown_at_once();
	test_display_that_tells_its_window();
	test_no_display_any_more();
	test_no_display();
	test_each_refresh_has_one();
	return tap_finish();
}
