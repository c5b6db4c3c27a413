// SPDX-License-Identifier: MIT
/*
 * Touch panels, mice and keyboards as wlroots tells of them: on which screen they are, what comes
 * from them, and what is left of them once they are pulled out.
 */
#include "cluster/input/panels.h"

#include <linux/input-event-codes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wlr/backend/interface.h>
#include <wlr/interfaces/wlr_keyboard.h>
#include <wlr/interfaces/wlr_pointer.h>
#include <wlr/interfaces/wlr_switch.h>
#include <wlr/interfaces/wlr_touch.h>

#include "tap.h"

#define SCREENS 2u
#define MOST 32 /* devices at once */
#define ALL (INPUT_TOUCH | INPUT_POINTER | INPUT_KEYBOARD)

static const struct wlr_backend_impl backend_impl = {0};
static const struct wlr_touch_impl touch_impl = {"touch"};
static const struct wlr_pointer_impl pointer_impl = {"pointer"};
static const struct wlr_keyboard_impl keyboard_impl = {.name = "keyboard"};
static const struct wlr_switch_impl switch_impl = {"switch"};

static struct wlr_output outputs[SCREENS];
static struct output_config configs[SCREENS];
static struct screen screens[SCREENS];
static struct wlr_backend backend, inputs;
static struct display display;
static struct input_router router;
static struct panels panels;

/* What the streams got, one on each screen, as words: "0:down@50,25 0:end". */
static char got[4096];

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
	size_t used = strlen(got);
	va_list values;
	va_start(values, format);
	if (used > 0) {
		used += (size_t)snprintf(got + used, sizeof(got) - used, " ");
	}
	vsnprintf(got + used, sizeof(got) - used, format, values);
	va_end(values);
}

static void describe(void *data, size_t index, struct input_target *target) {
	const struct gid_box all = {0, 0, 100, 100};
	*target = (struct input_target){.takes = ALL,
			.screen = &screens[index],
			.box = all,
			.covers = true,
			.is_live = true,
			.picture = all};
}

/* In pixels of a screen, which is a hundred of them wide and high. */
static int pixel(int32_t place) {
	return (int)(((int64_t)place * 100 + INPUT_FULL / 2) / INPUT_FULL);
}

static void post(void *data, size_t index, const struct input_record *event) {
	tap_ok(input_record_is_valid(event), "a valid event");
	switch (event->type) {
	case INPUT_TOUCH_DOWN:
		note("%zu:down@%d,%d", index, pixel(event->x), pixel(event->y));
		break;
	case INPUT_TOUCH_MOTION:
		note("%zu:move@%d,%d", index, pixel(event->x), pixel(event->y));
		break;
	case INPUT_TOUCH_UP:
		note("%zu:up", index);
		break;
	case INPUT_MOTION:
		note("%zu:point@%d,%d", index, pixel(event->x), pixel(event->y));
		break;
	case INPUT_BUTTON:
		note("%zu:button=%d", index, event->value);
		break;
	case INPUT_AXIS:
		note("%zu:axis%d=%d/%d", index, event->code, event->x, event->y);
		break;
	case INPUT_KEY:
		note("%zu:key%d=%d", index, event->code, event->value);
		break;
	default:
		note("%zu:end", index);
	}
}

static void release(void *data, size_t index) {
	note("%zu:released", index);
}

static const struct input_router_hooks hooks = {describe, post, release};

static void expect(const char *words, const char *what) {
	tap_ok(strcmp(got, words) == 0, "%s: %s", what, got);
	got[0] = '\0';
}

/* `with_inputs`: the devices come from a backend of their own. */
static void begin(size_t count, uint32_t wanted, bool with_inputs) {
	static char names[SCREENS][8] = {"left", "right"};
	wlr_backend_init(&backend, &backend_impl);
	wlr_backend_init(&inputs, &backend_impl);
	for (size_t i = 0; i < SCREENS; i++) {
		outputs[i] = (struct wlr_output){.name = names[i], .width = 100, .height = 100};
		configs[i] = (struct output_config){0};
		screens[i] = (struct screen){.config = &configs[i], .output = &outputs[i]};
	}
	display = (struct display){.screens = screens, .screen_count = count};
	display.device.backend = &backend;
	display.device.inputs = with_inputs ? &inputs : NULL;
	got[0] = '\0';
	input_router_init(&router, SCREENS, &hooks, NULL);
	panels_init(&panels, &display, &router, wanted);
}

static void end(void) {
	panels_finish(&panels);
	wlr_backend_finish(&inputs);
	wlr_backend_finish(&backend);
}

static void plug(struct wlr_backend *of, struct wlr_input_device *device) {
	wl_signal_emit_mutable(&of->events.new_input, device);
}

static void plug_touch(struct wlr_touch *touch, const char *name) {
	wlr_touch_init(touch, &touch_impl, name);
	plug(&backend, &touch->base);
}

static void plug_pointer(struct wlr_pointer *pointer, const char *name) {
	wlr_pointer_init(pointer, &pointer_impl, name);
	plug(&backend, &pointer->base);
}

/* --- fingers ---------------------------------------------------------------------------------- */

static void touch_at(struct wlr_touch *touch, double x, double y) {
	struct wlr_touch_down_event event = {.touch = touch, .touch_id = 1, .x = x, .y = y};
	wl_signal_emit_mutable(&touch->events.down, &event);
}

static void move_to(struct wlr_touch *touch, double x, double y) {
	struct wlr_touch_motion_event event = {.touch = touch, .touch_id = 1, .x = x, .y = y};
	wl_signal_emit_mutable(&touch->events.motion, &event);
}

static void lift(struct wlr_touch *touch) {
	struct wlr_touch_up_event event = {.touch = touch, .touch_id = 1};
	wl_signal_emit_mutable(&touch->events.up, &event);
}

static void test_fingers(void) {
	struct wlr_touch touch;
	begin(1, ALL, false);
	plug_touch(&touch, "panel");
	touch_at(&touch, 0.5, 0.25);
	move_to(&touch, -3, 7);
	wl_signal_emit_mutable(&touch.events.frame, NULL);
	expect("0:down@50,25 0:move@0,99 0:end", "a finger stays on the screen");
	struct wlr_touch_cancel_event cancel = {.touch = &touch, .touch_id = 1};
	wl_signal_emit_mutable(&touch.events.cancel, &cancel);
	expect("0:up", "one that the panel takes back is lifted");
	touch_at(&touch, 0.5, 0.5);
	lift(&touch);
	expect("0:down@50,50 0:up", "a touch");
	wlr_touch_finish(&touch);
	end();
}

static void test_which_screen(void) {
	struct wlr_touch touch;
	begin(2, ALL, false);
	plug_touch(&touch, "panel");
	touch_at(&touch, 0.5, 0.5);
	move_to(&touch, 0.6, 0.6);
	expect("", "of two screens it is on none, where nobody says on which");
	touch.output_name = strdup("elsewhere");
	touch_at(&touch, 0.5, 0.5);
	expect("", "nor where it names one that is not there");
	free(touch.output_name);
	touch.output_name = strdup("right");
	touch_at(&touch, 0.5, 0.5);
	lift(&touch);
	expect("1:down@50,50 1:up", "it is on the one that it names");
	configs[0].panel = "panel";
	configs[1].panel = "another";
	touch_at(&touch, 0.5, 0.5);
	lift(&touch);
	expect("0:down@50,50 0:up", "or on that of the configuration, whatever it names");
	screens[0].output = NULL;
	touch_at(&touch, 0.5, 0.5);
	expect("", "a screen that is dark gets nothing");
	wlr_touch_finish(&touch);
	end();
}

/* --- pointers --------------------------------------------------------------------------------- */

static void point_by(struct wlr_pointer *pointer, double x, double y) {
	struct wlr_pointer_motion_event event = {.pointer = pointer, .delta_x = x, .delta_y = y};
	wl_signal_emit_mutable(&pointer->events.motion, &event);
}

static void point_to(struct wlr_pointer *pointer, double x, double y) {
	struct wlr_pointer_motion_absolute_event event = {.pointer = pointer, .x = x, .y = y};
	wl_signal_emit_mutable(&pointer->events.motion_absolute, &event);
}

static void press(struct wlr_pointer *pointer, bool pressed) {
	struct wlr_pointer_button_event event = {.pointer = pointer,
			.button = BTN_LEFT,
			.state = pressed ? WL_POINTER_BUTTON_STATE_PRESSED
					 : WL_POINTER_BUTTON_STATE_RELEASED};
	wl_signal_emit_mutable(&pointer->events.button, &event);
}

static void turn(struct wlr_pointer *pointer, double delta, int32_t steps) {
	struct wlr_pointer_axis_event event = {.pointer = pointer,
			.orientation = WL_POINTER_AXIS_HORIZONTAL_SCROLL,
			.delta = delta,
			.delta_discrete = steps};
	wl_signal_emit_mutable(&pointer->events.axis, &event);
}

static void test_pointers(void) {
	struct wlr_pointer pointer;
	begin(1, ALL, false);
	plug_pointer(&pointer, "mouse");
	turn(&pointer, 1, 120);
	expect("", "a wheel turns nothing where no pointer is");
	point_by(&pointer, 30, 40);
	point_by(&pointer, 5, -1000);
	point_by(&pointer, 1000, 10);
	expect("0:point@30,40 0:point@35,0 0:point@99,10", "a mouse stays on the screen");
	point_to(&pointer, 0.5, 2);
	press(&pointer, true);
	press(&pointer, false);
	wl_signal_emit_mutable(&pointer.events.frame, NULL);
	expect("0:point@50,99 0:point@50,99 0:button=1 0:button=0 0:end", "a click");
	char far[128];
	snprintf(far, sizeof(far),
			"0:point@50,99 0:axis1=384/120 0:point@50,99 0:axis1=%d/0 "
			"0:point@50,99 0:axis1=%d/0",
			INPUT_DISTANCE_MAX, -INPUT_DISTANCE_MAX);
	turn(&pointer, 1.5, 120);
	turn(&pointer, 1e30, 0);
	turn(&pointer, -1e30, 0);
	expect(far, "a wheel, as far as an event can tell");
	screens[0].output = NULL;
	point_by(&pointer, 1, 1);
	point_to(&pointer, 0.5, 0.5);
	expect("", "on a dark screen it points at nothing");
	wlr_pointer_finish(&pointer);
	end();
}

static void test_pointer_screen(void) {
	struct wlr_pointer pointer;
	begin(2, ALL, false);
	plug_pointer(&pointer, "mouse");
	point_to(&pointer, 0.5, 0.5);
	expect("", "of two screens a mouse is on none");
	pointer.output_name = strdup("right");
	point_to(&pointer, 0.5, 0.5);
	expect("1:point@50,50", "or on the one that it names");
	wlr_pointer_finish(&pointer);
	end();
}

/* --- devices ---------------------------------------------------------------------------------- */

static void press_key(struct wlr_keyboard *keyboard, bool pressed) {
	struct wlr_keyboard_key_event event = {.keycode = KEY_A,
			.state = pressed ? WL_KEYBOARD_KEY_STATE_PRESSED
					 : WL_KEYBOARD_KEY_STATE_RELEASED};
	wl_signal_emit_mutable(&keyboard->events.key, &event);
}

static void test_pulled_out(void) {
	struct wlr_touch touch;
	struct wlr_keyboard keyboard;
	begin(1, ALL, false);
	plug_touch(&touch, "panel");
	wlr_keyboard_init(&keyboard, &keyboard_impl, "keys");
	plug(&backend, &keyboard.base);
	touch_at(&touch, 0.5, 0.5);
	press_key(&keyboard, true);
	expect("0:down@50,50 0:key30=1 0:end", "a finger and a key");
	wlr_keyboard_finish(&keyboard);
	expect("0:released", "with a device nothing stays pressed");
	wlr_touch_finish(&touch);
	expect("", "nor is it released twice");
	tap_ok(panels.count == 0, "none is left");
	end();
}

static void test_wanted(void) {
	struct wlr_touch touch;
	struct wlr_pointer pointer;
	struct wlr_switch lid;
	begin(1, INPUT_TOUCH, false);
	plug_touch(&touch, "panel");
	plug_pointer(&pointer, "mouse");
	wlr_switch_init(&lid, &switch_impl, "lid");
	plug(&backend, &lid.base);
	tap_ok(panels.count == 1, "only those are listened to that something takes");
	point_to(&pointer, 0.5, 0.5);
	expect("", "not a mouse");
	wlr_switch_finish(&lid);
	wlr_pointer_finish(&pointer);
	wlr_touch_finish(&touch);
	end();
}

static void test_too_many(void) {
	static struct wlr_touch all[MOST + 1];
	begin(1, ALL, false);
	for (size_t i = 0; i < MOST + 1; i++) {
		plug_touch(&all[i], "panel");
	}
	tap_ok(panels.count == MOST, "no more than %d devices", MOST);
	touch_at(&all[MOST], 0.5, 0.5);
	expect("", "one more is left out");
	touch_at(&all[MOST - 1], 0.5, 0.5);
	expect("0:down@50,50", "the others are not");
	wlr_touch_finish(&all[0]);
	wlr_touch_finish(&all[MOST]);
	expect("0:released", "only one of them was listened to");
	plug_touch(&all[0], "panel");
	tap_ok(panels.count == MOST, "where one was there is room again");
	panels_finish(&panels);
	touch_at(&all[1], 0.5, 0.5);
	expect("", "nobody listens at the end");
	for (size_t i = 0; i < MOST; i++) {
		wlr_touch_finish(&all[i]);
	}
	wlr_backend_finish(&inputs);
	wlr_backend_finish(&backend);
}

static void test_backends(void) {
	struct wlr_touch touch, late;
	begin(1, ALL, true);
	wlr_touch_init(&touch, &touch_impl, "panel");
	plug(&inputs, &touch.base);
	touch_at(&touch, 0.5, 0.5);
	lift(&touch);
	expect("0:down@50,50 0:up", "a panel of a seat beside the display's device");
	wlr_backend_finish(&inputs);
	plug_touch(&late, "late");
	touch_at(&late, 0.5, 0.5);
	expect("0:down@50,50", "the seat is lost, and the other one is not");
	wlr_touch_finish(&late);
	wlr_touch_finish(&touch);
	panels_finish(&panels);
	wlr_backend_finish(&backend);
	struct panels none = {0};
	panels_finish(&none);
	tap_ok(true, "the end of none");
}

int main(void) {
	test_fingers();
	test_which_screen();
	test_pointers();
	test_pointer_screen();
	test_pulled_out();
	test_wanted();
	test_too_many();
	test_backends();
	return tap_finish();
}
