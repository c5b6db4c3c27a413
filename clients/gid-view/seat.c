// SPDX-License-Identifier: MIT
#include "seat.h"

#include <gid/gid.h>
#include <linux/input-event-codes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "seat_held.h"

#define SEAT_VERSION_MAX 8u /* has high-resolution wheels */
#define STEP 120	    /* of a wheel */
#define STEPS_MAX 1000
#define FIXED 256 /* units of wl_fixed_t in a pixel */
/* sway takes the keyboard focus and gives it back at once when its `input` commands change. */
#define LOSE_NS 20000000ull

/* --- common to all events --------------------------------------------------------------------- */

static void seat_note_time(struct seat *seat, uint32_t ms) {
	uint64_t time = input_time_of_ms(ms, gid_clock_now());
	seat->time = time > seat->time ? time : seat->time;
}

/* What the users of the other seats hold. */
static struct input_held seat_others(const struct seat *seat) {
	struct input_held others = {0};
	const struct seat *other;
	wl_list_for_each(other, seat->place->seats, link) {
		if (other != seat) {
			seat_held_join(&others, &other->held);
		}
	}
	return others;
}

/* Returns false for what the users of the other seats make void. */
static bool seat_send(struct seat *seat, struct input_record event) {
	struct input_held others = seat_others(seat);
	event.time = seat->time;
	bool counts = seat_held_note(&seat->held, &others, &event);
	if (counts) {
		seat->place->events->event(seat->place->data, seat, &event);
	}
	return counts;
}

static void seat_end_group(struct seat *seat) {
	seat_send(seat, (struct input_record){.type = INPUT_GROUP_END});
	seat->place->events->group(seat->place->data);
}

/* Distance of a position in the window from the picture's edge, in units of wl_fixed_t. */
static int64_t to_picture(wl_fixed_t at, int32_t begin) {
	return at - (int64_t)begin * FIXED;
}

static bool is_on_picture(const struct seat *seat, wl_fixed_t x, wl_fixed_t y) {
	struct box box = window_picture_box(seat->place->window);
	int64_t right = to_picture(x, box.x), down = to_picture(y, box.y);
	return seat->place->window->veil.surface == NULL && !seat->place->window->blank &&
			right >= 0 && down >= 0 && right < (int64_t)box.width * FIXED &&
			down < (int64_t)box.height * FIXED;
}

static int32_t part_of(int64_t at, int32_t size) {
	int64_t part = size > 0 ? at * INPUT_FULL / ((int64_t)size * FIXED) : 0;
	return part < 0 ? 0 : part >= INPUT_FULL ? INPUT_FULL - 1 : (int32_t)part;
}

/* An event at this position of the window. */
static struct input_record event_at(
		const struct seat *seat, enum input_type type, wl_fixed_t x, wl_fixed_t y) {
	struct box box = window_picture_box(seat->place->window);
	return (struct input_record){.type = (uint16_t)type,
			.x = part_of(to_picture(x, box.x), box.width),
			.y = part_of(to_picture(y, box.y), box.height)};
}

/* --- pointer ---------------------------------------------------------------------------------- */

/*
 * A desktop whose cursor is not a stream shows its cursor in the picture, as a rule: another one
 * would cover it. The picture of a window has no cursor.
 */
static bool picture_has_cursor(const struct seat *seat) {
	return !seat->place->window->of_program && !seat->place->window->without_cursor;
}

static void seat_show_cursor(struct seat *seat) {
	const struct cursor *cursor = seat->place->cursor;
	if (cursor->live && cursor->seen) {
		wl_pointer_set_cursor(seat->pointer, seat->entered, cursor->surface, cursor->x,
				cursor->y);
	} else if (cursor->live || picture_has_cursor(seat)) {
		wl_pointer_set_cursor(seat->pointer, seat->entered, NULL, 0, 0);
	} else {
		own_cursor_show(&seat->own_cursor, seat->place->wayland, seat->pointer,
				seat->entered, seat->place->window->scale.value);
	}
}

static void seat_follow_lock(struct seat *seat) {
	grab_follow(&seat->grab, seat->place->cursor->locked && seat->focused,
			seat->place->window->root, seat->pointer);
}

void seat_cursor_changed(struct seat *seat) {
	if (seat->inside) {
		seat_show_cursor(seat);
	}
	seat_follow_lock(seat);
}

/*
 * Updates whether the pointer is on the picture. While a button is held it stays there, as with an
 * implicit grab. Returns whether it entered now; then its motion was sent.
 */
static bool seat_aim(struct seat *seat) {
	bool was_inside = seat->inside;
	if (seat->buttons == 0 && !seat->grab.locked) {
		seat->inside = seat->over && is_on_picture(seat, seat->x, seat->y);
	}
	if (was_inside || !seat->inside) {
		return false;
	}
	seat_show_cursor(seat);
	seat_send(seat, event_at(seat, INPUT_MOTION, seat->x, seat->y));
	return true;
}

/* Sends the pointer's position, if it is on the picture. */
static void seat_send_place(struct seat *seat) {
	if (!seat_aim(seat) && seat->inside) {
		seat_send(seat, event_at(seat, INPUT_MOTION, seat->x, seat->y));
	}
}

static void pointer_enter(void *data, struct wl_pointer *pointer, uint32_t serial,
		struct wl_surface *surface, wl_fixed_t x, wl_fixed_t y) {
	struct seat *seat = data;
	seat->over = surface == seat->place->window->root;
	seat->inside = false;
	seat->buttons = 0;
	seat->entered = serial;
	seat->x = x;
	seat->y = y;
	seat->time = gid_clock_now();
	seat_aim(seat);
}

static void pointer_leave(void *data, struct wl_pointer *pointer, uint32_t serial,
		struct wl_surface *surface) {
	struct seat *seat = data;
	seat->over = seat->inside = false;
}

static void pointer_motion(
		void *data, struct wl_pointer *pointer, uint32_t time, wl_fixed_t x, wl_fixed_t y) {
	struct seat *seat = data;
	if (seat->grab.locked) {
		return;
	}
	seat->x = x;
	seat->y = y;
	seat_note_time(seat, time);
	seat_send_place(seat);
}

/* Whether its events are for the picture. */
static bool seat_has_pointer(const struct seat *seat) {
	return seat->inside || seat->grab.locked;
}

static int32_t bounded(wl_fixed_t distance) {
	return distance > INPUT_DISTANCE_MAX		 ? INPUT_DISTANCE_MAX
			: distance < -INPUT_DISTANCE_MAX ? -INPUT_DISTANCE_MAX
							 : distance;
}

static void handle_moved(
		void *data, wl_fixed_t x, wl_fixed_t y, wl_fixed_t raw_x, wl_fixed_t raw_y) {
	struct seat *seat = data;
	seat->time = gid_clock_now();
	seat_send(seat,
			(struct input_record){.type = INPUT_RELATIVE,
					.x = bounded(x),
					.y = bounded(y),
					.raw_x = bounded(raw_x),
					.raw_y = bounded(raw_y)});
}

/* Meanwhile the producer's pointer may have moved to another position. */
static void handle_freed(void *data) {
	struct seat *seat = data;
	seat->time = gid_clock_now();
	seat_send_place(seat);
	seat_end_group(seat);
}

static void pointer_button(void *data, struct wl_pointer *pointer, uint32_t serial, uint32_t time,
		uint32_t button, uint32_t state) {
	struct seat *seat = data;
	bool pressed = state == WL_POINTER_BUTTON_STATE_PRESSED;
	seat->serial = serial;
	seat_note_time(seat, time);
	seat_aim(seat);
	if (pressed) {
		seat->buttons++;
	} else if (seat->buttons > 0) {
		seat->buttons--;
	}
	if (seat_has_pointer(seat) && pressed) {
		grab_permit(&seat->grab);
		seat_follow_lock(seat);
	}
	if ((seat_has_pointer(seat) || !pressed) && input_code_is_button(button)) {
		seat_send(seat,
				(struct input_record){.type = INPUT_BUTTON,
						.code = (uint16_t)button,
						.value = pressed});
	}
	seat_aim(seat);
}

static struct axis *seat_axis(struct seat *seat, uint32_t axis) {
	return axis < INPUT_AXES ? &seat->axes[axis] : NULL;
}

static void pointer_axis(void *data, struct wl_pointer *pointer, uint32_t time, uint32_t number,
		wl_fixed_t value) {
	struct seat *seat = data;
	struct axis *axis = seat_axis(seat, number);
	seat_note_time(seat, time);
	seat_aim(seat);
	if (axis != NULL) {
		axis->moved = true;
		axis->event.x = bounded(value);
	}
}

static void pointer_axis_source(void *data, struct wl_pointer *pointer, uint32_t source) {
	struct seat *seat = data;
	seat->axis_source = source < INPUT_AXIS_SOURCES ? (int32_t)source + 1 : 0;
}

static void pointer_axis_stop(
		void *data, struct wl_pointer *pointer, uint32_t time, uint32_t number) {
	pointer_axis(data, pointer, time, number, 0);
}

static void pointer_axis_value120(
		void *data, struct wl_pointer *pointer, uint32_t number, int32_t value) {
	struct seat *seat = data;
	struct axis *axis = seat_axis(seat, number);
	if (axis != NULL) {
		axis->event.y = bounded(value);
	}
}

static void pointer_axis_discrete(
		void *data, struct wl_pointer *pointer, uint32_t number, int32_t steps) {
	bool fits = steps >= -STEPS_MAX && steps <= STEPS_MAX;
	pointer_axis_value120(data, pointer, number, fits ? steps * STEP : 0);
}

static void pointer_frame(void *data, struct wl_pointer *pointer) {
	struct seat *seat = data;
	for (uint16_t i = 0; i < INPUT_AXES; i++) {
		struct axis *axis = &seat->axes[i];
		if (axis->moved && seat_has_pointer(seat)) {
			axis->event.type = INPUT_AXIS;
			axis->event.code = i;
			axis->event.value = seat->axis_source;
			seat_send(seat, axis->event);
		}
		*axis = (struct axis){0};
	}
	seat->axis_source = 0;
	seat_end_group(seat);
}

static const struct wl_pointer_listener pointer_listener = {
		.enter = pointer_enter,
		.leave = pointer_leave,
		.motion = pointer_motion,
		.button = pointer_button,
		.axis = pointer_axis,
		.frame = pointer_frame,
		.axis_source = pointer_axis_source,
		.axis_stop = pointer_axis_stop,
		.axis_discrete = pointer_axis_discrete,
		.axis_value120 = pointer_axis_value120,
};

/* --- keyboard --------------------------------------------------------------------------------- */

static void keyboard_keymap(
		void *data, struct wl_keyboard *keyboard, uint32_t format, int fd, uint32_t size) {
	struct seat *seat = data;
	char *text = MAP_FAILED;
	if (format == WL_KEYBOARD_KEYMAP_FORMAT_XKB_V1 && size > 0) {
		text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	bool is_text = text != MAP_FAILED && memchr(text, '\0', size) != NULL;
	seat->place->events->keymap(seat->place->data, is_text ? text : NULL);
	if (text != MAP_FAILED) {
		munmap(text, size);
	}
}

/* The focus may come back at once. */
static void seat_set_focus(struct seat *seat, bool focused) {
	seat->focused = focused;
	seat->lose_time = focused ? UINT64_MAX : gid_clock_now() + LOSE_NS;
	seat->place->events->focus(seat->place->data, seat);
}

/* Keys that are held when the window gets the focus were meant for another window. */
static void keyboard_enter(void *data, struct wl_keyboard *keyboard, uint32_t serial,
		struct wl_surface *surface, struct wl_array *keys) {
	struct seat *seat = data;
	seat_set_focus(seat, surface == seat->place->window->root);
	seat_follow_lock(seat);
}

/* Releases all that its user alone holds, and the pen's proximity. */
static void seat_lose(struct seat *seat) {
	struct input_held held = seat->held, others = seat_others(seat);
	seat_held_leave(&held, &others);
	seat->held = (struct input_held){0};
	pens_forget(&seat->pens);
	seat->place->events->lost(seat->place->data, &held);
}

void seat_lose_focus(struct seat *seat) {
	seat->lose_time = UINT64_MAX;
	grab_let_go(&seat->grab);
	seat_lose(seat);
}

static void keyboard_leave(void *data, struct wl_keyboard *keyboard, uint32_t serial,
		struct wl_surface *surface) {
	seat_set_focus(data, false);
}

static void seat_toggle_grab(struct seat *seat) {
	if (seat->grab.held || seat->grab.lock != NULL) {
		grab_refuse(&seat->grab);
		seat_lose_focus(seat);
	} else {
		grab_take(&seat->grab, seat->place->window->root, seat->base, seat->pointer);
	}
}

static void keyboard_key(void *data, struct wl_keyboard *keyboard, uint32_t serial, uint32_t time,
		uint32_t key, uint32_t state) {
	struct seat *seat = data;
	bool pressed = state == WL_KEYBOARD_KEY_STATE_PRESSED;
	if (!seat->focused) {
		return;
	}
	seat->serial = serial;
	if (key == seat->place->release_key && key != KEY_RESERVED) {
		if (pressed) {
			seat_toggle_grab(seat);
		}
		return;
	}
	if (input_code_is_key(key)) {
		seat_note_time(seat, time);
		seat_send(seat,
				(struct input_record){.type = INPUT_KEY,
						.code = (uint16_t)key,
						.value = pressed});
		seat_end_group(seat);
	}
}

static void keyboard_modifiers(void *data, struct wl_keyboard *keyboard, uint32_t serial,
		uint32_t depressed, uint32_t latched, uint32_t locked, uint32_t group) {
}

static void keyboard_repeat_info(
		void *data, struct wl_keyboard *keyboard, int32_t rate, int32_t delay) {
}

static const struct wl_keyboard_listener keyboard_listener = {
		.keymap = keyboard_keymap,
		.enter = keyboard_enter,
		.leave = keyboard_leave,
		.key = keyboard_key,
		.modifiers = keyboard_modifiers,
		.repeat_info = keyboard_repeat_info,
};

/* --- touch ------------------------------------------------------------------------------------ */

/* INPUT_TOUCHES: not a finger of ours. */
static uint32_t seat_find_finger(const struct seat *seat, int32_t id) {
	uint32_t i = 0;
	while (i < INPUT_TOUCHES && !(seat->held.touches >> i & 1 && seat->fingers[i] == id)) {
		i++;
	}
	return i;
}

static void touch_down(void *data, struct wl_touch *touch, uint32_t serial, uint32_t time,
		struct wl_surface *surface, int32_t id, wl_fixed_t x, wl_fixed_t y) {
	struct seat *seat = data;
	uint32_t taken = seat->held.touches | seat_others(seat).touches, i = 0;
	while (i < INPUT_TOUCHES && (taken >> i & 1)) {
		i++;
	}
	if (surface != seat->place->window->root || !is_on_picture(seat, x, y) ||
			i == INPUT_TOUCHES) {
		return;
	}
	seat->serial = serial;
	seat->fingers[i] = id;
	struct input_record event = event_at(seat, INPUT_TOUCH_DOWN, x, y);
	event.code = (uint16_t)i;
	seat_note_time(seat, time);
	seat_send(seat, event);
}

static void seat_lift_finger(struct seat *seat, uint32_t i) {
	seat_send(seat, (struct input_record){.type = INPUT_TOUCH_UP, .code = (uint16_t)i});
}

static void touch_up(
		void *data, struct wl_touch *touch, uint32_t serial, uint32_t time, int32_t id) {
	struct seat *seat = data;
	uint32_t i = seat_find_finger(seat, id);
	if (i < INPUT_TOUCHES) {
		seat_note_time(seat, time);
		seat_lift_finger(seat, i);
	}
}

static void touch_motion(void *data, struct wl_touch *touch, uint32_t time, int32_t id,
		wl_fixed_t x, wl_fixed_t y) {
	struct seat *seat = data;
	uint32_t i = seat_find_finger(seat, id);
	if (i < INPUT_TOUCHES) {
		struct input_record event = event_at(seat, INPUT_TOUCH_MOTION, x, y);
		event.code = (uint16_t)i;
		seat_note_time(seat, time);
		seat_send(seat, event);
	}
}

static void touch_frame(void *data, struct wl_touch *touch) {
	seat_end_group(data);
}

static void touch_cancel(void *data, struct wl_touch *touch) {
	struct seat *seat = data;
	for (uint32_t i = 0; i < INPUT_TOUCHES; i++) {
		if (seat->held.touches >> i & 1) {
			seat_lift_finger(seat, i);
		}
	}
	seat_end_group(seat);
}

static void touch_shape(void *data, struct wl_touch *touch, int32_t id, wl_fixed_t major,
		wl_fixed_t minor) {
}

static void touch_orientation(
		void *data, struct wl_touch *touch, int32_t id, wl_fixed_t orientation) {
}

static const struct wl_touch_listener touch_listener = {
		.down = touch_down,
		.up = touch_up,
		.motion = touch_motion,
		.frame = touch_frame,
		.cancel = touch_cancel,
		.shape = touch_shape,
		.orientation = touch_orientation,
};

/* --- pens ------------------------------------------------------------------------------------- */

static void handle_pen_time(void *data, uint32_t ms) {
	seat_note_time(data, ms);
}

static bool handle_pen_at(void *data, wl_fixed_t x, wl_fixed_t y, struct input_record *event) {
	const struct seat *seat = data;
	*event = event_at(seat, INPUT_PEN_MOTION, x, y);
	return is_on_picture(seat, x, y);
}

static bool handle_pen_event(void *data, const struct input_record *event) {
	return seat_send(data, *event);
}

static void handle_pen_group(void *data) {
	seat_end_group(data);
}

static void handle_pen_pressed(void *data, uint32_t serial) {
	struct seat *seat = data;
	seat->serial = serial;
}

static bool handle_pen_hides_cursor(void *data) {
	const struct seat *seat = data;
	return !seat->place->cursor->live && picture_has_cursor(seat);
}

static void handle_pen_tablets(void *data) {
	const struct seat *seat = data;
	seat->place->events->devices(seat->place->data);
}

static const struct pens_user pens_user = {
		.time = handle_pen_time,
		.at = handle_pen_at,
		.event = handle_pen_event,
		.group = handle_pen_group,
		.pressed = handle_pen_pressed,
		.hides_cursor = handle_pen_hides_cursor,
		.tablets = handle_pen_tablets,
};

/* --- the seat --------------------------------------------------------------------------------- */

uint32_t seat_devices(const struct seat *seat) {
	return (seat->pointer != NULL ? INPUT_POINTER : 0u) |
			(seat->keyboard != NULL ? INPUT_KEYBOARD : 0u) |
			(seat->touch != NULL ? INPUT_TOUCH : 0u) |
			(pens_are_there(&seat->pens) ? INPUT_PEN : 0u);
}

static void seat_release_pointer(struct seat *seat) {
	seat->over = seat->inside = false;
	grab_let_go(&seat->grab);
	if (seat->pointer != NULL) {
		wl_pointer_release(seat->pointer);
	}
	seat->pointer = NULL;
}

static void seat_release_keyboard(struct seat *seat) {
	if (seat->keyboard != NULL) {
		wl_keyboard_release(seat->keyboard);
	}
	seat->keyboard = NULL;
	seat->focused = false;
}

static void seat_release_touch(struct seat *seat) {
	if (seat->touch != NULL) {
		wl_touch_release(seat->touch);
	}
	seat->touch = NULL;
}

static void seat_use_pointer(struct seat *seat, bool is_there) {
	if (is_there && seat->pointer == NULL) {
		seat->pointer = wl_seat_get_pointer(seat->base);
		wl_pointer_add_listener(seat->pointer, &pointer_listener, seat);
	} else if (!is_there) {
		seat_release_pointer(seat);
	}
}

static void seat_use_keyboard(struct seat *seat, bool is_there) {
	if (is_there && seat->keyboard == NULL) {
		seat->keyboard = wl_seat_get_keyboard(seat->base);
		wl_keyboard_add_listener(seat->keyboard, &keyboard_listener, seat);
	} else if (!is_there) {
		seat_release_keyboard(seat);
	}
}

static void seat_use_touch(struct seat *seat, bool is_there) {
	if (is_there && seat->touch == NULL) {
		seat->touch = wl_seat_get_touch(seat->base);
		wl_touch_add_listener(seat->touch, &touch_listener, seat);
	} else if (!is_there) {
		seat_release_touch(seat);
	}
}

/* All that is held on a removed device is released. */
static void seat_capabilities(void *data, struct wl_seat *base, uint32_t capabilities) {
	struct seat *seat = data;
	seat_use_pointer(seat, capabilities & WL_SEAT_CAPABILITY_POINTER);
	seat_use_keyboard(seat, capabilities & WL_SEAT_CAPABILITY_KEYBOARD);
	seat_use_touch(seat, capabilities & WL_SEAT_CAPABILITY_TOUCH);
	seat_lose(seat);
	seat->place->events->devices(seat->place->data);
}

static void seat_name(void *data, struct wl_seat *base, const char *name) {
}

static const struct wl_seat_listener seat_listener = {
		.capabilities = seat_capabilities,
		.name = seat_name,
};

static void registry_global(void *data, struct wl_registry *registry, uint32_t name,
		const char *interface, uint32_t version) {
	struct seat *seat = data;
	grab_bind(&seat->grab, registry, name, interface);
	pens_bind(&seat->pens, registry, name, interface);
	if (name == seat->name && seat->base == NULL) {
		seat->base = wl_registry_bind(registry, name, &wl_seat_interface,
				version < SEAT_VERSION_MAX ? version : SEAT_VERSION_MAX);
		wl_seat_add_listener(seat->base, &seat_listener, seat);
		seat->place->events->bound(seat->place->data);
	}
	pens_use_seat(&seat->pens, seat->base);
}

static void seat_release(struct seat *seat) {
	seat_release_pointer(seat);
	seat_release_keyboard(seat);
	seat_release_touch(seat);
	pens_leave_seat(&seat->pens);
	seat_lose(seat);
	if (seat->base != NULL) {
		seat->place->events->gone(seat->place->data, seat->base);
		wl_seat_release(seat->base);
		seat->base = NULL;
	}
}

/* seats.c sees it, too. */
static void registry_global_remove(void *data, struct wl_registry *registry, uint32_t name) {
}

static const struct wl_registry_listener registry_listener = {
		.global = registry_global,
		.global_remove = registry_global_remove,
};

void seat_init(struct seat *seat, const struct seat_place *place, uint32_t name) {
	*seat = (struct seat){.link = seat->link,
			.place = place,
			.name = name,
			.lose_time = UINT64_MAX,
			.grab = {.refused = true,
					.moved = handle_moved,
					.freed = handle_freed,
					.data = seat}};
	pens_init(&seat->pens, &pens_user, seat, place->window->root);
	seat->registry = wl_display_get_registry(place->wayland->display);
	wl_registry_add_listener(seat->registry, &registry_listener, seat);
}

void seat_finish(struct seat *seat) {
	if (seat->registry != NULL) {
		seat_release(seat);
		own_cursor_finish(&seat->own_cursor);
		grab_finish(&seat->grab);
		pens_finish(&seat->pens);
		wl_registry_destroy(seat->registry);
		seat->registry = NULL;
	}
}
