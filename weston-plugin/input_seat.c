// SPDX-License-Identifier: MIT
#include "input_seat.h"

#include <libweston/desktop.h>
#include <stdlib.h>

#include "libweston_input.h"

#define SECOND_NS 1000000000ull
#define FRACTION 256.0 /* of a distance in an event */
#define STEP 120       /* of a wheel, in an event */

struct input_seat {
	struct weston_seat base;
	struct weston_output *output;
	struct weston_touch_device *touch_device; /* NULL: it has none */
	int32_t part_steps[INPUT_AXES];		  /* of a wheel, that are no whole step yet */
	bool pointer_used, touch_used;		  /* in the group that has begun */
	const struct weston_surface *given;	  /* has the keyboard by us; only to be compared */
};

/* --- devices ---------------------------------------------------------------------------------- */

static bool seat_add_touch(struct input_seat *seat) {
	if (weston_seat_init_touch(&seat->base) < 0) {
		return false;
	}
	seat->touch_device = seat_create_touch_device(&seat->base, seat->base.seat_name);
	return seat->touch_device != NULL;
}

void input_seat_add_devices(struct input_seat *seat, uint32_t devices) {
	bool done = true;
	if ((devices & INPUT_KEYBOARD) && weston_seat_get_keyboard(&seat->base) == NULL) {
		done = weston_seat_init_keyboard(&seat->base, NULL) == 0;
	}
	if ((devices & INPUT_POINTER) && weston_seat_get_pointer(&seat->base) == NULL) {
		done = weston_seat_init_pointer(&seat->base) == 0 && done;
	}
	if ((devices & INPUT_TOUCH) && seat->touch_device == NULL) {
		done = seat_add_touch(seat) && done;
	}
	if (!done) {
		weston_log("gid: seat %s: Weston cannot make all of its devices\n",
				seat->base.seat_name);
	}
}

/* --- events ----------------------------------------------------------------------------------- */

/* The middle of what the event says. */
static struct weston_coord_global seat_place(
		const struct input_seat *seat, const struct input_record *event) {
	const struct weston_output *output = seat->output;
	double x = (event->x + 0.5) / INPUT_FULL, y = (event->y + 0.5) / INPUT_FULL;
	return (struct weston_coord_global){.c = weston_coord(output->pos.c.x + x * output->width,
							    output->pos.c.y + y * output->height)};
}

/* Wheels of high resolution: a step is told when it is whole. */
static int32_t seat_whole_steps(struct input_seat *seat, const struct input_record *event) {
	int32_t *part = &seat->part_steps[event->code];
	*part += event->y;
	int32_t steps = *part / STEP;
	*part -= steps * STEP;
	return steps;
}

static void seat_handle_pointer(
		struct input_seat *seat, const struct input_record *event, struct timespec *time) {
	if (weston_seat_get_pointer(&seat->base) == NULL) {
		return;
	}
	seat->pointer_used = true;
	switch (event->type) {
	case INPUT_BUTTON:
		seat_send_button(&seat->base, time, event->code, event->value != 0);
		break;
	case INPUT_MOTION:
		seat_send_motion(&seat->base, time, seat_place(seat, event));
		break;
	case INPUT_RELATIVE:
		seat_send_relative(&seat->base, time,
				weston_coord(event->x / FRACTION, event->y / FRACTION),
				weston_coord(event->raw_x / FRACTION, event->raw_y / FRACTION));
		break;
	case INPUT_AXIS:
		if (event->value != 0) {
			notify_axis_source(&seat->base, (uint32_t)event->value - 1);
		}
		seat_send_axis(&seat->base, time, event->code, event->x / FRACTION,
				seat_whole_steps(seat, event));
		break;
	}
}

static void seat_handle_touch(
		struct input_seat *seat, const struct input_record *event, struct timespec *time) {
	if (seat->touch_device == NULL) {
		return;
	}
	seat->touch_used = true;
	struct weston_coord_global place = seat_place(seat, event);
	if (event->type == INPUT_TOUCH_UP) {
		seat_send_touch(&seat->base, seat->touch_device, time, event->code, NULL,
				WL_TOUCH_UP);
	} else {
		seat_send_touch(&seat->base, seat->touch_device, time, event->code, &place,
				event->type == INPUT_TOUCH_DOWN ? WL_TOUCH_DOWN : WL_TOUCH_MOTION);
	}
}

static void seat_end_group(struct input_seat *seat) {
	if (seat->pointer_used) {
		notify_pointer_frame(&seat->base);
	}
	if (seat->touch_used) {
		notify_touch_frame(seat->touch_device);
	}
	seat->pointer_used = seat->touch_used = false;
}

/*
 * Before a key. A shell may know one seat only, as kiosk-shell does: then no window gets this
 * keyboard when it is opened, nor when it is clicked on. So the highest one on the output has it.
 */
static void seat_find_focus(struct input_seat *seat, const struct weston_keyboard *keyboard) {
	struct weston_view *view;
	if (keyboard->focus != NULL && keyboard->focus != seat->given) {
		return; /* by the shell */
	}
	wl_list_for_each(view, &seat->output->compositor->view_list, link) {
		if (view->output == seat->output && weston_view_is_mapped(view) &&
				weston_surface_is_desktop_surface(view->surface)) {
			break;
		}
	}
	if (&view->link != &seat->output->compositor->view_list &&
			view->surface != keyboard->focus) {
		seat->given = view->surface;
		weston_view_activate_input(view, &seat->base, WESTON_ACTIVATE_FLAG_NONE);
	}
}

static void seat_handle_key(
		struct input_seat *seat, const struct input_record *event, struct timespec *time) {
	const struct weston_keyboard *keyboard = weston_seat_get_keyboard(&seat->base);
	if (keyboard == NULL) {
		return;
	}
	if (event->value != 0) {
		seat_find_focus(seat, keyboard);
	}
	seat_send_key(&seat->base, time, event->code, event->value != 0);
}

void input_seat_handle(struct input_seat *seat, const struct input_record *event) {
	struct timespec time = {(time_t)(event->time / SECOND_NS), (long)(event->time % SECOND_NS)};
	switch (event->type) {
	case INPUT_KEY:
		seat_handle_key(seat, event, &time);
		break;
	case INPUT_TOUCH_DOWN:
	case INPUT_TOUCH_MOTION:
	case INPUT_TOUCH_UP:
		seat_handle_touch(seat, event, &time);
		break;
	case INPUT_GROUP_END:
		seat_end_group(seat);
		break;
	default:
		seat_handle_pointer(seat, event, &time);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

struct input_seat *input_seat_create(struct weston_output *output, const char *name) {
	struct input_seat *seat = calloc(1, sizeof(*seat));
	if (seat == NULL) {
		return NULL;
	}
	seat->output = output;
	weston_seat_init(&seat->base, output->compositor, name);
	seat->base.output = output; /* the pointer stays there */
	return seat;
}

void input_seat_destroy(struct input_seat *seat) {
	if (seat == NULL) {
		return;
	}
	if (seat->touch_device != NULL) {
		weston_touch_device_destroy(seat->touch_device);
	}
	weston_seat_release(&seat->base);
	free(seat);
}
