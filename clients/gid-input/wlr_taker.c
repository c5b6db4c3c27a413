// SPDX-License-Identifier: MIT
#include <err.h>
#include <gid/gid.h>
#include <gid/stream.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/display_connection.h"
#include "common/globals.h"
#include "common/output.h"
#include "keymap.h"
#include "output_resizer.h"
#include "taker.h"
#include "virtual-keyboard-unstable-v1-client-protocol.h"
#include "wlr-virtual-pointer-unstable-v1-client-protocol.h"

#define MS_NS 1000000ull
#define STEP 120 /* of a wheel */

struct wlr_taker {
	struct taker base;
	struct wl_display *display;
	struct wl_registry *registry;
	struct wl_seat *seat;
	struct zwlr_virtual_pointer_manager_v1 *pointers;
	struct zwp_virtual_keyboard_manager_v1 *keyboards;
	struct zwlr_output_manager_v1 *outputs;	  // NULL: they are not resized
	struct output_resizer *resizer;		  // the same
	struct output_watch watch;		  // zeroes: the picture is of all of them
	bool points;				  // the sender has a pointer
	struct zwlr_virtual_pointer_v1 *pointer;  // NULL: it has none, or there is no output for it
	struct zwp_virtual_keyboard_v1 *keyboard; // the same
	struct keymap *keymap;			  // of `keyboard`
	int32_t parts[INPUT_AXES];		  // of a wheel, that are no whole step yet
	bool pointed;				  // in the group that has begun
	bool told_of_touch;
	sd_event_source *source;
};

/* --- the compositor --------------------------------------------------------------------------- */

#define MEMBER(member) offsetof(struct wlr_taker, member)

static const struct global_row rows[] = {
		{&wl_seat_interface, 1, MEMBER(seat)},
		{&zwlr_virtual_pointer_manager_v1_interface, 2, MEMBER(pointers)},
		{&zwp_virtual_keyboard_manager_v1_interface, 1, MEMBER(keyboards)},
};
static const struct global_table globals = GLOBAL_TABLE(rows);

/* Who binds it is told of all outputs. */
static const struct global_row resizing_rows[] = {
		{&zwlr_output_manager_v1_interface, 3, MEMBER(outputs)},
};
static const struct global_table resizing_globals = GLOBAL_TABLE(resizing_rows);

static void registry_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	const struct wlr_taker *taker = data;
	globals_bind(&globals, data, registry, name, interface, version);
	if (taker->base.wish != NULL) {
		globals_bind(&resizing_globals, data, registry, name, interface, version);
	}
}

static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_global,
		.global_remove = registry_global_remove,
};

/* --- devices ---------------------------------------------------------------------------------- */

static void tell_modifiers(struct wlr_taker *taker, const struct modifiers *modifiers) {
	zwp_virtual_keyboard_v1_modifiers(taker->keyboard, modifiers->depressed, modifiers->latched,
			modifiers->locked, modifiers->group);
}

/*
 * The new keymap takes over the keys that are held: otherwise a compositor would keep their
 * modifiers for good.
 */
static void wlr_use_keymap(struct taker *base, const char *text) {
	struct wlr_taker *taker = (struct wlr_taker *)base;
	struct keymap *keymap = keymap_create(text);
	uint32_t size;
	int fd = keymap != NULL ? keymap_open(keymap, &size) : -1;
	if (fd < 0) { // that of before stays
		keymap_destroy(keymap);
		return;
	}
	if (taker->keyboard == NULL) {
		taker->keyboard = zwp_virtual_keyboard_manager_v1_create_virtual_keyboard(
				taker->keyboards, taker->seat);
	}
	zwp_virtual_keyboard_v1_keymap(taker->keyboard, WL_KEYBOARD_KEYMAP_FORMAT_XKB_V1, fd, size);
	close(fd);
	if (taker->keymap != NULL) {
		struct modifiers modifiers;
		keymap_follow(keymap, taker->keymap, &modifiers);
		tell_modifiers(taker, &modifiers);
	}
	keymap_destroy(taker->keymap);
	taker->keymap = keymap;
}

/*
 * Releases all buttons. sway keeps a button pressed that a killed client held, perhaps an earlier
 * gid-input. Programs ignore the release of a button that is not pressed.
 */
static void release_buttons(struct wlr_taker *taker) {
	uint32_t time = (uint32_t)(gid_clock_now() / MS_NS);
	for (uint32_t code = 0; code < INPUT_CODES; code++) {
		if (input_code_is_button(code)) {
			zwlr_virtual_pointer_v1_button(taker->pointer, time, code,
					WL_POINTER_BUTTON_STATE_RELEASED);
		}
	}
	zwlr_virtual_pointer_v1_frame(taker->pointer);
}

/*
 * Makes the pointer, unless its output is gone: without an output the compositor would spread its
 * places over all outputs.
 */
static void make_pointer(struct wlr_taker *taker) {
	const struct output *output = taker->watch.output;
	if (taker->pointer == NULL && taker->points &&
			(taker->watch.name == NULL || output != NULL)) {
		taker->pointer = zwlr_virtual_pointer_manager_v1_create_virtual_pointer_with_output(
				taker->pointers, taker->seat, output != NULL ? output->base : NULL);
		release_buttons(taker);
	}
}

static void drop_pointer(struct wlr_taker *taker) {
	if (taker->pointer != NULL) {
		release_buttons(taker);
		zwlr_virtual_pointer_v1_destroy(taker->pointer);
		taker->pointer = NULL;
		taker->pointed = false;
	}
}

static void handle_output_changed(void *data) {
	struct wlr_taker *taker = data;
	bool is_there = taker->watch.output != NULL;
	warnx("the output %s is %s", taker->watch.name,
			is_there ? "back" : "gone: the pointer waits for it");
	if (is_there) {
		make_pointer(taker);
	} else {
		drop_pointer(taker);
	}
}

static void wlr_add_devices(struct taker *base, uint32_t devices) {
	struct wlr_taker *taker = (struct wlr_taker *)base;
	taker->points |= (devices & INPUT_POINTER) != 0;
	make_pointer(taker);
	if ((devices & INPUT_KEYBOARD) && taker->keyboard == NULL) {
		wlr_use_keymap(base, NULL);
	}
	if ((devices & INPUT_TOUCH) && !taker->told_of_touch) {
		taker->told_of_touch = true;
		warnx("touch is left out: the compositor has no protocol for it; use --uinput");
	}
}

/* --- events ----------------------------------------------------------------------------------- */

static void handle_key(struct wlr_taker *taker, const struct input_record *event, uint32_t time) {
	struct modifiers modifiers;
	if (taker->keyboard == NULL) {
		return;
	}
	zwp_virtual_keyboard_v1_key(taker->keyboard, time, event->code, (uint32_t)event->value);
	if (keymap_press(taker->keymap, event->code, event->value != 0, &modifiers)) {
		tell_modifiers(taker, &modifiers);
	}
}

static void handle_axis(struct wlr_taker *taker, const struct input_record *event, uint32_t time) {
	int32_t *part = &taker->parts[event->code];
	*part += event->y;
	int32_t steps = *part / STEP;
	*part -= steps * STEP;
	if (event->value != 0) {
		zwlr_virtual_pointer_v1_axis_source(taker->pointer, (uint32_t)event->value - 1);
	}
	if (event->x == 0 && event->y == 0) {
		zwlr_virtual_pointer_v1_axis_stop(taker->pointer, time, event->code);
	} else if (steps != 0) {
		zwlr_virtual_pointer_v1_axis_discrete(
				taker->pointer, time, event->code, event->x, steps);
	} else {
		zwlr_virtual_pointer_v1_axis(taker->pointer, time, event->code, event->x);
	}
}

/*
 * Compositors of wlroots treat a place on an output as one of its panel, and apply the output's
 * transform to it, as for a touch panel. Our place is in the upright picture: so it is turned back
 * first.
 */
static void handle_motion(
		struct wlr_taker *taker, const struct input_record *event, uint32_t time) {
	struct gid_box at = {event->x, event->y, 1, 1};
	if (taker->watch.output != NULL) {
		at = gid_box_turn_back(at, INPUT_FULL, INPUT_FULL, taker->watch.output->transform);
	}
	zwlr_virtual_pointer_v1_motion_absolute(taker->pointer, time, (uint32_t)at.x,
			(uint32_t)at.y, INPUT_FULL, INPUT_FULL);
}

static void handle_pointer(
		struct wlr_taker *taker, const struct input_record *event, uint32_t time) {
	if (taker->pointer == NULL) {
		return;
	}
	taker->pointed = true;
	switch (event->type) {
	case INPUT_BUTTON:
		zwlr_virtual_pointer_v1_button(
				taker->pointer, time, event->code, (uint32_t)event->value);
		break;
	case INPUT_MOTION:
		handle_motion(taker, event, time);
		break;
	case INPUT_RELATIVE:
		zwlr_virtual_pointer_v1_motion(taker->pointer, time, event->x, event->y);
		break;
	case INPUT_AXIS:
		handle_axis(taker, event, time);
		break;
	}
}

static void wlr_handle(struct taker *base, const struct input_record *event) {
	struct wlr_taker *taker = (struct wlr_taker *)base;
	uint32_t time = (uint32_t)(event->time / MS_NS);
	switch (event->type) {
	case INPUT_KEY:
		handle_key(taker, event, time);
		break;
	case INPUT_TOUCH_DOWN:
	case INPUT_TOUCH_MOTION:
	case INPUT_TOUCH_UP:
		break;
	case INPUT_GROUP_END:
		if (taker->pointed) {
			zwlr_virtual_pointer_v1_frame(taker->pointer);
			taker->pointed = false;
		}
		break;
	default:
		handle_pointer(taker, event, time);
	}
}

static void wlr_wish(struct taker *base, uint32_t width, uint32_t height, uint32_t scale) {
	const struct wlr_taker *taker = (struct wlr_taker *)base;
	output_resizer_wish(taker->resizer, width, height, scale);
}

/* --- life ------------------------------------------------------------------------------------- */

static void wlr_destroy(struct taker *base) {
	struct wlr_taker *taker = (struct wlr_taker *)base;
	display_settle(taker->display);
	if (taker->pointer != NULL) {
		zwlr_virtual_pointer_v1_destroy(taker->pointer);
	}
	if (taker->keyboard != NULL) {
		zwp_virtual_keyboard_v1_destroy(taker->keyboard);
	}
	keymap_destroy(taker->keymap);
	output_resizer_destroy(taker->resizer);
	output_watch_finish(&taker->watch);
	globals_finish(&resizing_globals, taker);
	globals_finish(&globals, taker);
	if (taker->registry != NULL) {
		wl_registry_destroy(taker->registry);
	}
	wl_display_flush(taker->display);
	sd_event_source_unref(taker->source);
	wl_display_disconnect(taker->display);
	free(taker);
}

static const char *missing_global(const struct wlr_taker *taker) {
	return taker->seat == NULL		   ? "wl_seat"
			: taker->pointers == NULL  ? "zwlr_virtual_pointer_manager_v1 version 2"
			: taker->keyboards == NULL ? "zwp_virtual_keyboard_manager_v1"
						   : NULL;
}

static int taker_prepare_resizing(
		struct wlr_taker *taker, const struct taker_options *options, sd_event *event) {
	if (taker->outputs == NULL) {
		warnx("--resize: the compositor has no zwlr_output_manager_v1 version 3, by which "
		      "outputs are resized");
		return -1;
	}
	taker->resizer = output_resizer_create(taker->outputs, options->output,
			(struct size_limits){(int32_t)options->width_max,
					(int32_t)options->height_max, 1},
			event);
	return taker->resizer != NULL ? 0 : -1;
}

static int taker_connect(
		struct wlr_taker *taker, const struct taker_options *options, sd_event *event) {
	taker->registry = wl_display_get_registry(taker->display);
	wl_registry_add_listener(taker->registry, &registry_listener, taker);
	if (display_roundtrip(taker->display, NULL) < 0) {
		return -1;
	}
	if (missing_global(taker) != NULL) {
		warnx("the compositor has no %s: those of wlroots have it; in Weston use input= of "
		      "[gid-output], elsewhere --uinput",
				missing_global(taker));
		return -1;
	}
	if (taker->base.wish != NULL && taker_prepare_resizing(taker, options, event) < 0) {
		return -1;
	}
	if (options->output != NULL &&
			output_watch_init(&taker->watch, taker->display, options->output,
					handle_output_changed, taker) < 0) {
		return -1;
	}
	return display_add_to_loop(taker->display, event, &taker->source);
}

struct taker *wlr_taker_create(const struct taker_options *options, sd_event *event) {
	struct wlr_taker *taker = calloc(1, sizeof(*taker));
	if (taker == NULL) {
		return NULL;
	}
	taker->base = (struct taker){.destroy = wlr_destroy,
			.add_devices = wlr_add_devices,
			.handle = wlr_handle,
			.use_keymap = options->sender_keymap ? wlr_use_keymap : NULL,
			.wish = options->width_max != 0 ? wlr_wish : NULL};
	taker->display = display_connect();
	if (taker->display == NULL) {
		free(taker);
		return NULL;
	}
	if (taker_connect(taker, options, event) < 0) {
		wlr_destroy(&taker->base);
		return NULL;
	}
	return &taker->base;
}
