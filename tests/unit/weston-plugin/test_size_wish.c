// SPDX-License-Identifier: MIT
/* How often wishes for a size are granted, by a clock and a timer of the test's own. */
#include "weston-plugin/size_wish.h"

#include <gid/gid.h>

#include "tap.h"

#define MS_NS UINT64_C(1000000)
#define MAX_SIDE 1000
#define A_SECOND 5 /* are granted at most */

/* --- time ------------------------------------------------------------------------------------- */

static uint64_t now_ms;

static struct {
	wl_event_loop_timer_func_t handle;
	void *data;
	uint64_t due_ms; /* 0: never */
} timer;

uint64_t gid_clock_now(void) {
	return now_ms * MS_NS;
}

struct wl_event_source *wl_event_loop_add_timer(
		struct wl_event_loop *loop, wl_event_loop_timer_func_t handle, void *data) {
	timer.handle = handle;
	timer.data = data;
	timer.due_ms = 0;
	return (struct wl_event_source *)&timer;
}

int wl_event_source_timer_update(struct wl_event_source *source, int ms) {
	timer.due_ms = ms > 0 ? now_ms + (uint64_t)ms : 0;
	return 0;
}

int wl_event_source_remove(struct wl_event_source *source) {
	return 0;
}

static void pass(unsigned ms) {
	for (uint64_t end = now_ms + ms; now_ms < end;) {
		now_ms++;
		if (timer.due_ms != 0 && timer.due_ms <= now_ms) {
			timer.due_ms = 0;
			timer.handle(timer.data);
		}
	}
}

/* --- what has a size -------------------------------------------------------------------------- */

struct window {
	int32_t width, height;
	unsigned count; /* of sizes that it was given */
	bool is_busy;	/* it can get none now */
};

static bool handle_has_size(void *data, int32_t width, int32_t height) {
	const struct window *window = data;
	return window->width == width && window->height == height;
}

static bool handle_is_ready(void *data) {
	const struct window *window = data;
	return !window->is_busy;
}

static void handle_set_size(void *data, int32_t width, int32_t height) {
	struct window *window = data;
	window->width = width;
	window->height = height;
	window->count++;
}

static const struct sized sized = {
		.has_size = handle_has_size,
		.is_ready = handle_is_ready,
		.set_size = handle_set_size,
};

static struct size_wish *make_wish(struct window *window) {
	now_ms += 3600000; /* an hour later than all before */
	return size_wish_create(NULL, (struct size_limits){MAX_SIDE, MAX_SIDE, 1}, &sized, window);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* A window that is dragged: a wish at each step, for so many seconds. */
static void test_dragged(unsigned step_ms, unsigned seconds) {
	struct window window = {.width = 1, .height = 1};
	struct size_wish *wish = make_wish(&window);
	uint32_t side = 0;
	for (unsigned ms = 0; ms < seconds * 1000; ms += step_ms) {
		side = 100 + (side + 1) % 800;
		size_wish_make(wish, side, side);
		pass(step_ms);
	}
	tap_ok(window.count <= A_SECOND * seconds + 1,
			"of a wish each %u ms, %u are granted in %u s: no more than %u a second",
			step_ms, window.count, seconds, A_SECOND);
	tap_ok(window.count >= A_SECOND * seconds - 1, "and no less");
	pass(1000 / A_SECOND + 1);
	tap_ok(window.width == (int32_t)side && window.height == (int32_t)side, "and the last one");
	unsigned count = window.count;
	pass(60000);
	tap_ok(window.count == count, "after which nothing comes");
	size_wish_destroy(wish);
}

/* Many before any time has passed. */
static void test_at_once(void) {
	struct window window = {.width = 1, .height = 1};
	struct size_wish *wish = make_wish(&window);
	for (uint32_t side = 100; side < 900; side++) {
		size_wish_make(wish, side, side + 1);
	}
	pass(1000);
	tap_ok(window.count == 1 && window.width == 899 && window.height == 900,
			"of many at once only the last is granted");
	size_wish_make(wish, 899, 900);
	pass(1000);
	tap_ok(window.count == 1, "one that is fulfilled is not granted again");
	size_wish_make(wish, 500, 500);
	pass(2);
	tap_ok(window.count == 2, "after a rest one is granted at once");
	size_wish_make(wish, 600, 600);
	size_wish_make(wish, 500, 500);
	pass(1000);
	tap_ok(window.count == 2, "and none that was taken back");
	size_wish_destroy(wish);
}

static void test_busy(void) {
	struct window window = {.width = 1, .height = 1, .is_busy = true};
	struct size_wish *wish = make_wish(&window);
	for (uint32_t side = 100; side < 200; side++) {
		size_wish_make(wish, side, side);
		pass(10);
	}
	tap_ok(window.count == 0, "while what has the size cannot have another one, it gets none");
	window.is_busy = false;
	pass(50);
	tap_ok(window.count == 1 && window.width == 199, "and the last one soon after that");
	size_wish_destroy(wish);
}

static void test_bounds(void) {
	struct window window = {.width = 1, .height = 1};
	struct size_wish *wish = make_wish(&window);
	size_wish_make(wish, UINT32_MAX, 0);
	pass(1000);
	tap_ok(window.width == MAX_SIDE && window.height == 64, "each side is within bounds");
	window.width = 300;
	size_wish_repeat(wish);
	pass(1000);
	tap_ok(window.width == MAX_SIDE, "what is another one now gets the size, too");
	size_wish_set_step(wish, 3);
	size_wish_make(wish, 100, 200);
	pass(1000);
	tap_ok(window.width == 99 && window.height == 198, "and is a multiple of another step");
	size_wish_destroy(wish);
}

int main(void) {
	test_dragged(1, 10);
	test_dragged(16, 10);
	test_dragged(90, 10);
	test_at_once();
	test_busy();
	test_bounds();
	return tap_finish();
}
