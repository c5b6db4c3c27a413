// SPDX-License-Identifier: MIT
/* An output with a refresh, as DRM has it and headless Weston not: from points to windows. */
#include "pacing_output.h"

#include <string.h>

#include "arrivals.h"
#include "tap.h"

#define MS INT64_C(1000000)
#define REFRESH INT64_C(16666667)

static struct pacing_output output;
static int64_t now_ns; /* the last refresh */
static int missed, reports;
static char text[256];

/* A frame for each refresh; its repaint takes `cost_ns`. `applied` as with pacing=on. */
static void show_frame(int64_t cost_ns, bool applied) {
	int64_t due_ns = now_ns + REFRESH;
	int64_t done_ns = due_ns - output.in_force_ms * MS + cost_ns;
	pacing_output_begin(&output, due_ns);
	pacing_output_draw(&output, GID_PACING_NONE);
	pacing_output_done(&output, done_ns);
	now_ns = done_ns <= due_ns ? due_ns : due_ns + REFRESH;
	missed += now_ns != due_ns;
	int32_t window_ms = pacing_output_finish(&output, now_ns, REFRESH);
	if (applied) {
		output.in_force_ms = window_ms;
	}
	reports += pacing_output_report(&output, applied, text, sizeof(text));
}

static void begin_test(void) {
	pacing_output_init(&output, 0.001, 7);
	now_ns = 1000000 * MS;
	missed = reports = 0;
}

static void test_learns(void) {
	begin_test();
	show_frame(2 * MS, true);
	tap_ok(reports == 1 && strstr(text, "7 ms, learning"), "it says that it is learning: %s",
			text);
	for (int i = 0; i < 60000; i++) {
		show_frame(2 * MS + i % 7 * 10000, true);
	}
	tap_ok(output.in_force_ms <= 3 && missed <= 60,
			"the window becomes %d ms, %d frames missed", output.in_force_ms, missed);
	tap_ok(reports >= 2 && reports <= 4, "%d reports in 17 minutes", reports);
	tap_ok(strstr(text, " frames missed their refresh"), "with figures: %s", text);
}

static void test_observes(void) {
	begin_test();
	for (int i = 0; i < 1000; i++) {
		show_frame(2 * MS, false);
	}
	tap_ok(output.in_force_ms == 7 && output.policy.window_ms < 7, "observing applies nothing");
	tap_ok(strstr(text, "would be 3 ms") || strstr(text, "would be 4 ms"), "it says so: %s",
			text);
}

static void test_changing_modes_stay_quiet(void) {
	begin_test();
	for (int i = 0; i < 60 * 3600; i++) {
		int64_t cost_ms = i / 600 % 2 ? 15 : 2; /* at the limit every other ten seconds */
		show_frame(cost_ms * MS + 900000, true);
	}
	tap_ok(reports > 2 && reports <= 18, "%d reports in an hour of changes", reports);
}

static void test_unfinished(void) {
	begin_test();
	for (int i = 0; i < 200; i++) {
		show_frame(2 * MS, true);
	}
	uint64_t frames = output.policy.frames;
	pacing_output_begin(&output, now_ns + REFRESH);
	pacing_output_done(&output, now_ns + REFRESH);
	pacing_output_start(&output); /* the repaint failed; later the loop starts anew */
	pacing_output_finish(&output, now_ns + 100 * REFRESH, REFRESH);
	tap_ok(output.policy.frames == frames, "a repaint that failed teaches nothing");
	pacing_output_begin(&output, now_ns + 200 * REFRESH);
	pacing_output_finish(&output, now_ns + 200 * REFRESH, REFRESH);
	tap_ok(output.policy.frames == frames, "nor does one whose end is not known");
}

static void test_another_refresh(void) {
	begin_test();
	for (int i = 0; i < 1000; i++) {
		show_frame(2 * MS, true);
	}
	pacing_output_begin(&output, now_ns + 7 * MS);
	pacing_output_done(&output, now_ns + 6 * MS);
	int32_t window_ms = pacing_output_finish(&output, now_ns + 7 * MS, 6944444);
	tap_ok(window_ms == 5 && output.policy.mode == GID_PACING_LEARNING,
			"another refresh rate is learned anew");
	pacing_output_begin(&output, now_ns + 14 * MS);
	pacing_output_done(&output, now_ns + 13 * MS);
	window_ms = pacing_output_finish(&output, now_ns + 14 * MS, 0);
	tap_ok(output.policy.mode == GID_PACING_UNSURE && window_ms == 7,
			"without a refresh rate it is Weston's own window");
}

/* A surface that is committed and drawn for each refresh, with a window that varies. */
static int64_t commit_and_draw(struct arrivals *arrivals, bool own_clock) {
	int64_t arrival = GID_PACING_NONE, shown_ns = 1000 * MS, drawn_ns = shown_ns - 7 * MS;
	for (int i = 0; i < 300; i++) {
		int64_t next_ns = shown_ns + REFRESH;
		arrivals_commit(arrivals, 9, own_clock ? next_ns - 10 * MS : drawn_ns + 2 * MS);
		drawn_ns = next_ns - (i / 20 % 2 ? 3 : 7) * MS;
		arrival = arrivals_drawn(arrivals, 9, drawn_ns, shown_ns);
		shown_ns = next_ns;
	}
	return arrival;
}

static void test_arrivals(void) {
	static struct arrivals arrivals;
	tap_ok(commit_and_draw(&arrivals, true) != GID_PACING_NONE,
			"a camera that is locked to the refresh has a clock of its own");
	tap_ok(commit_and_draw(&arrivals, false) == GID_PACING_NONE,
			"a client that draws after each repaint has not");
	for (uint32_t id = 10; id < 200; id++) {
		arrivals_commit(&arrivals, id, 5000000 * MS + id);
	}
	tap_ok(arrivals_drawn(&arrivals, 9, 0, 0) == GID_PACING_NONE &&
					arrivals_drawn(&arrivals, 0, 0, 0) == GID_PACING_NONE,
			"of many surfaces the quiet ones are forgotten");
}

int main(void) {
	test_learns();
	test_observes();
	test_changing_modes_stay_quiet();
	test_unfinished();
	test_another_refresh();
	test_arrivals();
	return tap_finish();
}
