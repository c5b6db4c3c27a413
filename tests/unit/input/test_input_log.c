// SPDX-License-Identifier: MIT
/* What a sender says: what is held, and the last events. */
#include <input_log.h>
#include <stdlib.h>

#include "tap.h"

static struct input_log events;
static struct input_frame frame;
static uint8_t *slot;

static bool add(uint16_t type, uint16_t code, int32_t value, int32_t x) {
	return input_log_add(&events,
			&(struct input_record){.time = 1,
					.type = type,
					.code = code,
					.value = value,
					.x = x});
}

static void read_frame(uint64_t seen) {
	input_log_write(&events, slot);
	tap_ok(input_frame_read(&frame, slot, seen) == 0, "what is written can be read");
}

static void test_held(void) {
	input_log_init(&events, INPUT_LEASE_DEFAULT_MS);
	tap_ok(add(INPUT_KEY, 30, 1, 0) && !add(INPUT_KEY, 30, 1, 0), "a key is pressed once");
	tap_ok(!add(INPUT_KEY, 31, 0, 0), "and released only if it was pressed");
	tap_ok(add(INPUT_BUTTON, 0x110, 1, 0) && add(INPUT_TOUCH_DOWN, 3, 0, 7), "all that can be");
	tap_ok(!add(INPUT_TOUCH_MOTION, 4, 0, 7) && !add(INPUT_TOUCH_UP, 4, 0, 0),
			"a finger that is not down neither moves nor leaves");
	read_frame(0);
	tap_ok(input_holds(&frame.head.held, 30) && input_holds(&frame.head.held, 0x110) &&
					frame.head.held.touches == 1u << 3 && frame.count == 3,
			"a frame says it");
	struct input_held these = {.touches = 1u << 3 | 1u << 4};
	input_hold(&these, 31, true);
	tap_ok(input_log_release(&events, &these, 4) && events.head.held.touches == 0 &&
					input_holds(&events.head.held, 30) && events.head.next == 5,
			"some of it is released, as far as it is held");
	tap_ok(!input_log_release(&events, &these, 4), "once");
	tap_ok(input_log_release_all(&events, 5), "and all of it is");
	read_frame(5);
	tap_ok(input_holds_nothing(&frame.head.held) && frame.count == 3 &&
					frame.events[2].type == INPUT_GROUP_END &&
					frame.events[0].time == 5,
			"by events of their own");
	tap_ok(!input_log_release_all(&events, 6), "once, too");
}

static void test_motion_is_joined(void) {
	input_log_init(&events, INPUT_LEASE_DEFAULT_MS);
	for (int32_t i = 0; i < 1000; i++) {
		add(INPUT_MOTION, 0, 0, i);
		add(INPUT_GROUP_END, 0, 0, 0);
	}
	read_frame(0);
	tap_ok(frame.count == 2 && frame.events[0].x == 999 && frame.head.next == 2,
			"of motions that nobody has heard of the last one counts");
	add(INPUT_MOTION, 0, 0, 7);
	tap_ok(events.head.next == 3 && events.head.count == 3,
			"one that was in a frame stays as it was");
	for (int32_t i = 0; i < 10; i++) {
		add(INPUT_RELATIVE, 0, 0, 100);
	}
	read_frame(3);
	tap_ok(frame.count == 1 && frame.events[0].x == 1000, "relative ones are added up");
	add(INPUT_RELATIVE, 0, 0, INPUT_DISTANCE_MAX);
	add(INPUT_RELATIVE, 0, 0, 1);
	read_frame(4);
	tap_ok(frame.count == 2, "as far as one can say it");
}

/* One at a time; whatever it presses is let go before it goes. */
static void test_pens(void) {
	const uint16_t pen = INPUT_TOOL_FIRST, eraser = INPUT_TOOL_FIRST + 1;
	input_log_init(&events, INPUT_LEASE_DEFAULT_MS);
	tap_ok(!add(INPUT_PEN_BUTTON, INPUT_PEN_TIP, 1, 0) && !add(INPUT_PEN_MOTION, 0, 0, 7),
			"a pen that is far neither presses nor moves");
	tap_ok(add(INPUT_PEN_NEAR, pen, 1, 0) && !add(INPUT_PEN_NEAR, pen, 1, 0) &&
					!add(INPUT_PEN_NEAR, eraser, 1, 0),
			"one comes near, once");
	add(INPUT_PEN_MOTION, 0, 1, 7);
	add(INPUT_GROUP_END, 0, 0, 0);
	add(INPUT_PEN_MOTION, 0, 2, 8);
	add(INPUT_GROUP_END, 0, 0, 0);
	read_frame(0);
	tap_ok(frame.count == 3 && frame.events[1].value == 2 && frame.events[1].x == 8,
			"of its motions the last one counts");
	add(INPUT_PEN_BUTTON, INPUT_PEN_TIP, 1, 0);
	add(INPUT_PEN_BUTTON, INPUT_PEN_BUTTON_LAST, 1, 0);
	tap_ok(!add(INPUT_PEN_NEAR, eraser, 0, 0) && add(INPUT_PEN_NEAR, pen, 0, 0), "it goes");
	read_frame(3);
	tap_ok(input_holds_nothing(&frame.head.held) && frame.count == 5 &&
					frame.events[2].type == INPUT_PEN_BUTTON &&
					frame.events[3].type == INPUT_PEN_BUTTON &&
					frame.events[4].type == INPUT_PEN_NEAR &&
					frame.events[4].value == 0,
			"and has let go before");
	add(INPUT_PEN_NEAR, eraser, 1, 0);
	add(INPUT_PEN_BUTTON, INPUT_PEN_TIP, 1, 0);
	tap_ok(input_log_release_all(&events, 9), "as when all is released");
	read_frame(8);
	tap_ok(input_holds_nothing(&frame.head.held) && frame.count == 5 &&
					frame.events[2].code == INPUT_PEN_TIP &&
					frame.events[3].code == eraser,
			"in that order");
}

/* Such as of a pointer beside the picture: nobody is woken for it. */
static void test_an_empty_group(void) {
	input_log_init(&events, INPUT_LEASE_DEFAULT_MS);
	tap_ok(!add(INPUT_GROUP_END, 0, 0, 0) && !add(INPUT_KEY, 30, 0, 0) &&
					!add(INPUT_GROUP_END, 0, 0, 0) && events.head.next == 0,
			"of nothing, or of a key that is not held");
	tap_ok(add(INPUT_KEY, 30, 1, 0) && add(INPUT_GROUP_END, 0, 0, 0) &&
					!add(INPUT_GROUP_END, 0, 0, 0) && events.head.next == 2,
			"another one ends once");
	read_frame(0);
	tap_ok(!add(INPUT_GROUP_END, 0, 0, 0), "also if it was in a frame");
}

static void test_the_oldest_go(void) {
	input_log_init(&events, INPUT_LEASE_DEFAULT_MS);
	for (int32_t i = 0; i < 1000; i++) {
		add(INPUT_KEY, 30, (i + 1) % 2, 0);
	}
	read_frame(0);
	tap_ok(frame.count == INPUT_EVENTS_MAX && frame.first == 1000 - INPUT_EVENTS_MAX,
			"the last events are there");
	input_log_forget(&events);
	read_frame(0);
	tap_ok(frame.count == 0 && frame.head.next == 1000, "but what was forgotten");
}

int main(void) {
	slot = calloc(1, INPUT_SLOT_SIZE);
	test_held();
	test_motion_is_joined();
	test_pens();
	test_an_empty_group();
	test_the_oldest_go();
	free(slot);
	return tap_finish();
}
