// SPDX-License-Identifier: MIT
#include "output_seat.h"

#include <libweston/desktop.h>
#include <stdlib.h>
#include <string.h>

#include "libweston_input.h"
#include "output_pen.h"
#include "pointer_lock.h"

struct output_seat {
	struct input_seat *base;
	struct weston_output *output;
	const struct weston_surface
			*given; /* got the keyboard focus from us; only to be compared */
	struct wl_listener drawn;
	struct wl_event_source *focusing; /* an idle source, or NULL */
	struct output_pen *pen;		  /* NULL: there was no pen yet */
	bool pen_points;		  /* it was the pointer, in the current group of events */
	struct weston_coord_global told;  /* the last absolute position that the user sent */
	bool moved_locked;		  /* see pointer_is_lost() */
};

static struct weston_coord_global seat_place(
		const struct output_seat *seat, struct weston_coord place) {
	const struct weston_output *output = seat->output;
	return (struct weston_coord_global){
			.c = weston_coord(output->pos.c.x + place.x * output->width,
					output->pos.c.y + place.y * output->height)};
}

static bool is_window_on(struct weston_view *view, const struct weston_output *output) {
	view_update(view);
	return view->output == output && weston_view_is_mapped(view) &&
			weston_surface_is_desktop_surface(view->surface);
}

/* Weston's list of views is only made when it repaints. The layers have a new window earlier. */
static struct weston_view *find_highest(const struct weston_output *output) {
	const struct weston_layer *layer;
	struct weston_view *view;
	wl_list_for_each(layer, &output->compositor->layer_list, link) {
		wl_list_for_each(view, &layer->view_list.link, layer_link.link) {
			if (is_window_on(view, output)) {
				return view;
			}
		}
	}
	return NULL;
}

/*
 * A shell gives the keyboard focus to a window that is opened or clicked: not to one that was there
 * before the keyboard was. It may also know only one seat, as kiosk-shell does. So the topmost
 * window on the output gets it. NULL: there is none, or the shell gave the focus to another one.
 */
static struct weston_view *seat_find_focus(
		const struct output_seat *seat, const struct weston_keyboard *keyboard) {
	if (keyboard == NULL || (keyboard->focus != NULL && keyboard->focus != seat->given)) {
		return NULL;
	}
	return find_highest(seat->output);
}

static void seat_give_focus(struct output_seat *seat, struct weston_seat *base,
		struct weston_view *view, uint32_t flags) {
	seat->given = view->surface;
	weston_view_activate_input(view, base, flags);
}

static void seat_focus_highest(struct output_seat *seat, struct weston_seat *base) {
	const struct weston_keyboard *keyboard = weston_seat_get_keyboard(base);
	struct weston_view *view = seat_find_focus(seat, keyboard);
	if (view != NULL && view->surface != keyboard->focus) {
		seat_give_focus(seat, base, view, WESTON_ACTIVATE_FLAG_NONE);
	}
}

static bool is_toplevel(struct weston_surface *surface) {
	const char *role = weston_surface_get_role(surface);
	return role != NULL && strcmp(role, "xdg_toplevel") == 0;
}

static void handle_focusing(void *data) {
	struct output_seat *seat = data;
	seat->focusing = NULL;
	seat_focus_highest(seat, input_seat_get_base(seat->base));
}

/*
 * A window may have been mapped, unmapped or raised, and the shell may have told another seat only.
 * This runs within a repaint, so the focus changes later. Menus and tooltips do not get the focus
 * for being topmost.
 */
static void handle_drawn(struct wl_listener *listener, void *data) {
	struct output_seat *seat = wl_container_of(listener, seat, drawn);
	const struct weston_keyboard *keyboard =
			weston_seat_get_keyboard(input_seat_get_base(seat->base));
	const struct weston_view *view = seat_find_focus(seat, keyboard);
	struct wl_display *display = seat->output->compositor->wl_display;
	if (view != NULL && view->surface != keyboard->focus && is_toplevel(view->surface) &&
			seat->focusing == NULL) {
		seat->focusing = wl_event_loop_add_idle(
				wl_display_get_event_loop(display), handle_focusing, seat);
	}
}

/*
 * A client whose window has left this output must not keep the output's pointer from other windows.
 */
static void seat_free_pointer(struct output_seat *seat, struct weston_seat *base) {
	const struct weston_pointer *pointer = weston_seat_get_pointer(base);
	if (!pointer_is_constrained(pointer)) {
		return;
	}
	view_update(pointer->focus);
	struct weston_view *highest =
			pointer->focus->output != seat->output ? find_highest(seat->output) : NULL;
	if (highest != NULL) {
		seat_give_focus(seat, base, highest, WESTON_ACTIVATE_FLAG_NONE);
	}
}

static void handle_key(void *data, struct weston_seat *base, struct timespec *time, uint32_t key,
		bool pressed) {
	if (pressed) {
		seat_focus_highest(data, base);
	}
	seat_send_key(base, time, key, pressed);
}

/* To be called before something is done at the pointer's position. */
static void seat_find_pointer(
		struct output_seat *seat, struct weston_seat *base, struct timespec *time) {
	struct weston_pointer *pointer = weston_seat_get_pointer(base);
	if (pointer_is_lost(pointer, &seat->moved_locked)) {
		seat_send_motion(base, time, pointer->pos);
	}
}

/* Weston lets a client lock the pointer only after a click. */
static void handle_button(void *data, struct weston_seat *base, struct timespec *time,
		uint32_t button, bool pressed) {
	seat_free_pointer(data, base);
	seat_find_pointer(data, base, time);
	const struct weston_view *clicked = weston_seat_get_pointer(base)->focus;
	struct weston_view *view = NULL;
	if (pressed && clicked != NULL) {
		view = seat_find_focus(data, weston_seat_get_keyboard(base));
	}
	if (view != NULL && weston_surface_get_main_surface(clicked->surface) == view->surface) {
		seat_give_focus(data, base, view, WESTON_ACTIVATE_FLAG_CLICKED);
	}
	seat_send_button(base, time, button, pressed);
}

/*
 * A fullscreen window that requested a lock before it had the pointer gets it now, without a click,
 * as it would if it requested it now.
 */
static void seat_grant_lock(struct output_seat *seat, struct weston_seat *base) {
	struct weston_view *asker = pointer_find_asker(weston_seat_get_pointer(base));
	const struct weston_keyboard *keyboard = weston_seat_get_keyboard(base);
	if (asker == NULL || keyboard == NULL) {
		return;
	}
	struct weston_view *highest = seat_find_focus(seat, keyboard);
	if (highest != NULL && highest->surface == asker->surface) {
		seat_give_focus(seat, base, asker, WESTON_ACTIVATE_FLAG_FULLSCREEN);
	} else if (keyboard->focus == asker->surface) {
		weston_view_activate_input(asker, base, WESTON_ACTIVATE_FLAG_FULLSCREEN);
	}
}

/*
 * A client that locked the pointer needs relative motion, also from a user whose own compositor
 * cannot lock the pointer.
 */
static void handle_motion(void *data, struct weston_seat *base, struct timespec *time,
		struct weston_coord place) {
	struct output_seat *seat = data;
	struct weston_pointer *pointer = weston_seat_get_pointer(base);
	struct weston_coord_global told = seat_place(seat, place);
	struct weston_coord motion = weston_coord_sub(told.c, seat->told.c);
	seat->told = told;
	seat_free_pointer(seat, base);
	if (pointer_is_locked(pointer)) {
		seat->moved_locked = true;
		seat_send_relative(base, time, motion, motion);
	} else {
		pointer_is_lost(pointer, &seat->moved_locked);
		seat_send_motion(base, time, told);
		seat_grant_lock(seat, base);
	}
}

static void handle_relative(void *data, struct weston_seat *base, struct timespec *time,
		struct weston_coord motion, struct weston_coord raw) {
	struct output_seat *seat = data;
	struct weston_pointer *pointer = weston_seat_get_pointer(base);
	seat_free_pointer(seat, base);
	pointer_is_lost(pointer, &seat->moved_locked);
	seat_send_relative(base, time, motion, raw);
	seat->moved_locked = pointer_is_locked(pointer);
	seat_grant_lock(seat, base);
}

static void handle_axis(void *data, struct weston_seat *base, struct timespec *time,
		const struct input_axis *axis) {
	seat_find_pointer(data, base, time);
	if (axis->source != 0) {
		notify_axis_source(base, (uint32_t)axis->source - 1);
	}
	seat_send_axis(base, time, axis->axis, axis->value, axis->steps);
}

static void handle_pointer_frame(void *data, struct weston_seat *base) {
	notify_pointer_frame(base);
}

static void handle_touch(void *data, struct weston_touch_device *device, struct timespec *time,
		int id, struct weston_coord place, int type) {
	struct weston_coord_global at = seat_place(data, place);
	seat_send_touch(device->aggregate->seat, device, time, id, type == WL_TOUCH_UP ? NULL : &at,
			type);
}

static void handle_touch_frame(void *data, struct weston_touch_device *device) {
	notify_touch_frame(device);
}

/* If the client below does not support tablets, the pen is the pointer. */
static void handle_pen(void *data, struct weston_seat *base, struct timespec *time,
		const struct input_record *event, struct weston_coord place) {
	struct output_seat *seat = data;
	uint16_t button = input_pen_twin(event->code);
	if (output_pen_handle(seat->pen, time, event, seat_place(seat, place))) {
		return;
	}
	seat->pen_points = true;
	if (event->type == INPUT_PEN_MOTION) {
		handle_motion(seat, base, time, place);
	} else if (event->type == INPUT_PEN_BUTTON && button != 0) {
		handle_button(seat, base, time, button, event->value != 0);
	}
}

static void handle_pen_frame(void *data, struct weston_seat *base) {
	struct output_seat *seat = data;
	output_pen_end_group(seat->pen);
	if (seat->pen_points) {
		notify_pointer_frame(base);
	}
	seat->pen_points = false;
}

static void handle_add_pens(void *data, struct weston_seat *base) {
	struct output_seat *seat = data;
	if (seat->pen == NULL) {
		seat->pen = output_pen_create(base);
	}
}

static void handle_devices(void *data, struct weston_seat *base) {
	seat_focus_highest(data, base);
}

static const struct input_target target = {
		.key = handle_key,
		.button = handle_button,
		.motion = handle_motion,
		.relative = handle_relative,
		.axis = handle_axis,
		.pointer_frame = handle_pointer_frame,
		.touch = handle_touch,
		.touch_frame = handle_touch_frame,
		.pen = handle_pen,
		.pen_frame = handle_pen_frame,
		.add_pens = handle_add_pens,
		.devices = handle_devices,
};

struct input_seat *output_seat_get_base(struct output_seat *seat) {
	return seat->base;
}

struct output_seat *output_seat_create(struct weston_output *output, const char *name) {
	struct output_seat *seat = calloc(1, sizeof(*seat));
	if (seat == NULL) {
		return NULL;
	}
	seat->output = output;
	seat->base = input_seat_create(output->compositor, output, name, &target, seat);
	if (seat->base == NULL) {
		free(seat);
		return NULL;
	}
	seat->drawn.notify = handle_drawn;
	wl_signal_add(&output->frame_signal, &seat->drawn);
	return seat;
}

void output_seat_destroy(struct output_seat *seat) {
	if (seat == NULL) {
		return;
	}
	wl_list_remove(&seat->drawn.link);
	if (seat->focusing != NULL) {
		wl_event_source_remove(seat->focusing);
	}
	output_pen_destroy(seat->pen);
	input_seat_destroy(seat->base);
	free(seat);
}
