// SPDX-License-Identifier: MIT
/* Whose input it is: what is seen under the finger gets it, and only while it is live. */
#include "cluster/input/input_router.h"

#include <linux/input-event-codes.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

#define COUNT 4u
#define DEVICES (INPUT_TOUCH | INPUT_POINTER | INPUT_KEYBOARD)

enum { ROLE, FRONT, BACK, OTHER };

static int screen, other_screen;
static struct input_target targets[COUNT];
static struct input_router router;

/* What the targets got, as words: "1:down0@32768,0 1:end". */
static char got[4096];

static void describe(void *data, size_t index, struct input_target *target) {
	*target = targets[index];
}

static void post(void *data, size_t index, const struct input_record *event) {
	static const char *const names[] = {[INPUT_KEY] = "key",
			[INPUT_BUTTON] = "button",
			[INPUT_MOTION] = "motion",
			[INPUT_AXIS] = "axis",
			[INPUT_TOUCH_DOWN] = "down",
			[INPUT_TOUCH_MOTION] = "move",
			[INPUT_TOUCH_UP] = "up",
			[INPUT_GROUP_END] = "end"};
	size_t used = strlen(got);
	tap_ok(input_record_is_valid(event), "a valid event: %s", names[event->type]);
	used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%zu:%s", used > 0 ? " " : "",
			index, names[event->type]);
	if (event->type == INPUT_KEY || event->type == INPUT_BUTTON) {
		snprintf(got + used, sizeof(got) - used, "%d=%d", event->code, event->value);
	} else if (event->type == INPUT_TOUCH_UP) {
		snprintf(got + used, sizeof(got) - used, "%d", event->code);
	} else if (event->type != INPUT_GROUP_END && event->type != INPUT_AXIS) {
		snprintf(got + used, sizeof(got) - used, "%d@%d,%d", event->code, event->x,
				event->y);
	}
}

static void release(void *data, size_t index) {
	size_t used = strlen(got);
	snprintf(got + used, sizeof(got) - used, "%s%zu:released", used > 0 ? " " : "", index);
}

static const struct input_router_hooks hooks = {describe, post, release};

/* A role in the corner of a layer, which lies on another one; and one on another screen. */
static void begin(void) {
	static const struct gid_box boxes[COUNT] = {
			{0, 0, 100, 100}, {0, 0, 400, 400}, {200, 0, 800, 400}, {0, 0, 400, 400}};
	for (size_t i = 0; i < COUNT; i++) {
		targets[i] = (struct input_target){.takes = i == ROLE ? 0 : DEVICES,
				.screen = i == OTHER ? &other_screen : &screen,
				.box = boxes[i],
				.covers = true,
				.is_live = true,
				.picture = boxes[i]};
	}
	got[0] = '\0';
	input_router_init(&router, COUNT, &hooks, NULL);
}

static void expect(const char *words, const char *what) {
	tap_ok(strcmp(got, words) == 0, "%s: %s", what, got);
	got[0] = '\0';
}

static void test_fingers(void) {
	begin();
	input_router_touch_down(&router, 77, &screen, 200, 100, 1);
	input_router_touch_down(&router, -5, &screen, 600, 200, 1);
	input_router_end_group(&router, 1);
	expect("1:down0@32768,16384 2:down1@32768,32768 1:end 2:end", "each gets its own finger");
	input_router_touch_motion(&router, 77, 300, 100, 2);
	input_router_end_group(&router, 2);
	expect("1:move0@49152,16384 1:end", "who moves");
	input_router_touch_up(&router, -5, 3);
	input_router_touch_up(&router, 77, 3);
	input_router_end_group(&router, 3);
	expect("2:up1 1:up0 1:end 2:end", "who is lifted");
	input_router_touch_motion(&router, 77, 300, 100, 4);
	input_router_touch_up(&router, 77, 4);
	input_router_end_group(&router, 4);
	expect("", "who is not there");
	input_router_touch_down(&router, 1, &other_screen, 399, 399, 5);
	expect("3:down0@65372,65372", "on another screen");
}

static void test_what_covers(void) {
	begin();
	input_router_touch_down(&router, 1, &screen, 50, 50, 1);
	input_router_touch_motion(&router, 1, 200, 200, 1);
	input_router_touch_up(&router, 1, 1);
	expect("", "nothing goes through a role that takes none, nor begins behind its edge");
	targets[FRONT].covers = targets[FRONT].is_live = false;
	input_router_touch_down(&router, 1, &screen, 300, 200, 2);
	expect("2:down0@8192,32768", "what is hidden does not cover");
	input_router_touch_down(&router, 2, &screen, 150, 200, 2);
	expect("", "and what lies beside it does not either");
	begin();
	targets[FRONT].is_live = false;
	input_router_touch_down(&router, 1, &screen, 300, 200, 2);
	expect("", "what is old covers, and gets nothing");
}

static void test_edges(void) {
	begin();
	input_router_touch_down(&router, 1, &screen, 300, 200, 1);
	expect("1:down0@49152,32768", "within");
	input_router_touch_motion(&router, 1, 450, 200, 2);
	expect("1:up0", "a finger that leaves is lifted");
	input_router_touch_motion(&router, 1, 300, 200, 3);
	input_router_touch_up(&router, 1, 4);
	expect("", "and stays so until it is down again");
	targets[FRONT].picture = (struct gid_box){0, 100, 400, 200}; /* black above and below */
	input_router_touch_down(&router, 1, &screen, 300, 350, 5);
	input_router_touch_up(&router, 1, 5);
	expect("", "beside the picture, in its place");
	input_router_touch_down(&router, 1, &screen, 300, 200, 6);
	expect("1:down0@49152,32768", "in the picture");
	targets[FRONT].picture = (struct gid_box){-400, 0, 1200, 400}; /* it stands out */
	input_router_touch_motion(&router, 1, 200, 200, 7);
	expect("1:move0@32768,32768", "of which only a part is seen");
}

static void test_who_is_not_live_any_more(void) {
	begin();
	input_router_touch_down(&router, 1, &screen, 300, 200, 1);
	input_router_tick(&router);
	expect("1:down0@49152,32768", "who is live keeps what he holds");
	targets[FRONT].is_live = false;
	input_router_tick(&router);
	input_router_tick(&router);
	expect("1:released", "who is not holds nothing");
	targets[FRONT].is_live = true;
	input_router_touch_motion(&router, 1, 310, 200, 2);
	input_router_touch_up(&router, 1, 3);
	expect("", "also when he is back");
	input_router_touch_down(&router, 1, &screen, 300, 200, 4);
	input_router_release_all(&router);
	expect("1:down0@49152,32768 1:released", "a device that goes");
	for (int32_t i = 0; i < 40; i++) {
		input_router_touch_down(&router, i, &screen, 300, 200, 5);
	}
	uint32_t fingers = 0;
	for (const char *at = got; (at = strstr(at, "down")) != NULL; at++) {
		fingers++;
	}
	tap_ok(fingers == INPUT_TOUCHES, "no more fingers than there are: %u", fingers);
}

static void test_pointer(void) {
	begin();
	input_router_button(&router, BTN_LEFT, true, 1);
	expect("", "a pointer that is nowhere");
	input_router_point(&router, &screen, 300, 200, 1);
	input_router_button(&router, BTN_LEFT, true, 1);
	input_router_end_group(&router, 1);
	expect("1:motion0@49152,32768 1:motion0@49152,32768 1:button272=1 1:end", "a press");
	input_router_point(&router, &screen, 500, 200, 2);
	expect("1:button272=0 2:motion0@24576,32768", "a drag ends where the picture does");
	input_router_button(&router, BTN_LEFT, false, 3);
	expect("", "and is not released elsewhere");
	input_router_axis(&router, &(struct input_record){.type = INPUT_AXIS, .x = 5});
	expect("2:motion0@24576,32768 2:axis", "a wheel");
	targets[BACK].is_live = false;
	input_router_axis(&router, &(struct input_record){.type = INPUT_AXIS, .x = 5});
	expect("", "a wheel on what is old since");
	input_router_button(&router, BTN_RIGHT, true, 4);
	expect("", "a press on what is old since");
	input_router_button(&router, KEY_A, true, 5);
	input_router_button(&router, UINT32_MAX, true, 5);
	expect("", "what is no button");
	targets[BACK].is_live = true;
	input_router_button(&router, KEY_A, true, 6);
	input_router_button(&router, UINT32_MAX, false, 6);
	expect("2:motion0@24576,32768", "also on what is live");
	input_router_button(&router, BTN_RIGHT, true, 7);
	input_router_point(&router, &screen, 300, 200, 8);
	expect("2:motion0@24576,32768 2:button273=1 2:button273=0 1:motion0@49152,32768",
			"whichever button is held is released");
	targets[FRONT].is_live = false;
	input_router_tick(&router);
	input_router_axis(&router, &(struct input_record){.type = INPUT_AXIS, .x = 5});
	expect("1:released", "who is not live any more has no pointer");
	targets[FRONT].is_live = true;
	input_router_axis(&router, &(struct input_record){.type = INPUT_AXIS, .x = 5});
	expect("1:motion0@49152,32768 1:axis", "who is live again has the wheel of one at rest");
}

static void test_keyboard(void) {
	begin();
	targets[FRONT].takes = INPUT_TOUCH;
	input_router_init(&router, COUNT, &hooks, NULL);
	input_router_key(&router, KEY_A, true, 1);
	expect("2:key30=1", "the highest one that takes keys gets them at first");
	input_router_touch_down(&router, 1, &screen, 300, 200, 2);
	input_router_key(&router, KEY_A, false, 2);
	expect("1:down0@49152,32768 2:key30=0", "who takes no keys does not take the keyboard");
	input_router_key(&router, KEY_B, true, 3);
	input_router_touch_down(&router, 2, &other_screen, 200, 200, 3);
	input_router_key(&router, KEY_C, true, 4);
	expect("2:key48=1 2:key48=0 3:down1@32768,32768 3:key46=1",
			"who is touched has it, and who had it holds no keys");
	input_router_key(&router, KEY_B, false, 4);
	expect("", "nor gets who has it a release of what it did not get");
	targets[OTHER].is_live = false;
	input_router_tick(&router);
	input_router_key(&router, KEY_A, true, 5);
	expect("3:released", "what is not live gets none");
	input_router_key(&router, BTN_LEFT, true, 5);
	input_router_key(&router, UINT32_MAX, true, 5);
	expect("", "what is no key");
	for (size_t i = 0; i < COUNT; i++) {
		targets[i].takes &= ~(uint32_t)INPUT_KEYBOARD;
	}
	input_router_init(&router, COUNT, &hooks, NULL);
	input_router_key(&router, KEY_A, true, 6);
	expect("", "where nothing takes keys nothing gets any");
}

int main(void) {
	test_fingers();
	test_what_covers();
	test_edges();
	test_who_is_not_live_any_more();
	test_pointer();
	test_keyboard();
	return tap_finish();
}
