// SPDX-License-Identifier: MIT
#include "input_seat.h"

#include <stdlib.h>

#include "libweston_input.h"

#define SECOND_NS 1000000000ull
#define FRACTION 256.0 /* units of an event's distance in a pixel */
#define STEP 120       /* units of an event in a step of a wheel */

struct input_seat {
	struct weston_seat base;
	const struct input_target *target;
	void *data;
	struct weston_touch_device *touch_device; /* NULL: it has none */
	int32_t part_steps[INPUT_AXES];		  /* of wheels: less than a whole step */
	bool pointer_used, touch_used, pen_used;  /* in the current group of events */
};

/* --- events ----------------------------------------------------------------------------------- */

/* The middle of the range that the event's numbers stand for. */
static struct weston_coord event_place(const struct input_record *event) {
	return weston_coord((event->x + 0.5) / INPUT_FULL, (event->y + 0.5) / INPUT_FULL);
}

/* A high-resolution wheel: a step is sent when it is whole. */
static int32_t seat_whole_steps(struct input_seat *seat, const struct input_record *event) {
	int32_t *part = &seat->part_steps[event->code];
	*part += event->y;
	int32_t steps = *part / STEP;
	*part -= steps * STEP;
	return steps;
}

static void seat_handle_pointer(
		struct input_seat *seat, const struct input_record *event, struct timespec *time) {
	const struct input_target *target = seat->target;
	if (weston_seat_get_pointer(&seat->base) == NULL) {
		return;
	}
	seat->pointer_used = true;
	switch (event->type) {
	case INPUT_BUTTON:
		target->button(seat->data, &seat->base, time, event->code, event->value != 0);
		break;
	case INPUT_MOTION:
		target->motion(seat->data, &seat->base, time, event_place(event));
		break;
	case INPUT_RELATIVE:
		target->relative(seat->data, &seat->base, time,
				weston_coord(event->x / FRACTION, event->y / FRACTION),
				weston_coord(event->raw_x / FRACTION, event->raw_y / FRACTION));
		break;
	case INPUT_AXIS:
		target->axis(seat->data, &seat->base, time,
				&(struct input_axis){.source = event->value,
						.axis = event->code,
						.value = event->x / FRACTION,
						.steps = seat_whole_steps(seat, event)});
		break;
	}
}

static void seat_handle_touch(
		struct input_seat *seat, const struct input_record *event, struct timespec *time) {
	if (seat->touch_device == NULL) {
		return;
	}
	int type = event->type == INPUT_TOUCH_DOWN	? WL_TOUCH_DOWN
			: event->type == INPUT_TOUCH_UP ? WL_TOUCH_UP
							: WL_TOUCH_MOTION;
	seat->touch_used = true;
	seat->target->touch(seat->data, seat->touch_device, time, event->code, event_place(event),
			type);
}

static void seat_handle_pen(
		struct input_seat *seat, const struct input_record *event, struct timespec *time) {
	if (weston_seat_get_pointer(&seat->base) != NULL) {
		seat->pen_used = true;
		seat->target->pen(seat->data, &seat->base, time, event, event_place(event));
	}
}

static void seat_end_group(struct input_seat *seat) {
	if (seat->pointer_used) {
		seat->target->pointer_frame(seat->data, &seat->base);
	}
	if (seat->touch_used) {
		seat->target->touch_frame(seat->data, seat->touch_device);
	}
	if (seat->pen_used) {
		seat->target->pen_frame(seat->data, &seat->base);
	}
	seat->pointer_used = seat->touch_used = seat->pen_used = false;
}

void input_seat_handle(struct input_seat *seat, const struct input_record *event) {
	struct timespec time = {(time_t)(event->time / SECOND_NS), (long)(event->time % SECOND_NS)};
	switch (event->type) {
	case INPUT_KEY:
		if (weston_seat_get_keyboard(&seat->base) != NULL) {
			seat->target->key(seat->data, &seat->base, &time, event->code,
					event->value != 0);
		}
		break;
	case INPUT_TOUCH_DOWN:
	case INPUT_TOUCH_MOTION:
	case INPUT_TOUCH_UP:
		seat_handle_touch(seat, event, &time);
		break;
	case INPUT_PEN_NEAR:
	case INPUT_PEN_BUTTON:
	case INPUT_PEN_MOTION:
		seat_handle_pen(seat, event, &time);
		break;
	case INPUT_GROUP_END:
		seat_end_group(seat);
		break;
	default:
		seat_handle_pointer(seat, event, &time);
	}
}

/* --- devices ---------------------------------------------------------------------------------- */

static bool seat_add_touch(struct input_seat *seat) {
	if (weston_seat_init_touch(&seat->base) < 0) {
		return false;
	}
	seat->touch_device = seat_create_touch_device(&seat->base, seat->base.seat_name);
	return seat->touch_device != NULL;
}

static void seat_take_devices(struct input_seat *seat, uint32_t devices) {
	if (!(devices & INPUT_KEYBOARD) && weston_seat_get_keyboard(&seat->base) != NULL) {
		weston_seat_release_keyboard(&seat->base);
	}
	if (!(devices & INPUT_POINTER) && weston_seat_get_pointer(&seat->base) != NULL) {
		weston_seat_release_pointer(&seat->base);
	}
	if (!(devices & INPUT_TOUCH) && seat->touch_device != NULL) {
		weston_touch_device_destroy(seat->touch_device);
		seat->touch_device = NULL;
		weston_seat_release_touch(&seat->base);
	}
}

void input_seat_set_devices(struct input_seat *seat, uint32_t devices) {
	bool done = true;
	devices |= devices & INPUT_PEN ? INPUT_POINTER : 0; /* for clients without tablet-v2 */
	seat_end_group(seat);				    /* a device may go */
	seat_take_devices(seat, devices);
	if ((devices & INPUT_KEYBOARD) && weston_seat_get_keyboard(&seat->base) == NULL) {
		done = weston_seat_init_keyboard(&seat->base, NULL) == 0;
	}
	if ((devices & INPUT_POINTER) && weston_seat_get_pointer(&seat->base) == NULL) {
		done = weston_seat_init_pointer(&seat->base) == 0 && done;
	}
	if ((devices & INPUT_TOUCH) && seat->touch_device == NULL) {
		done = seat_add_touch(seat) && done;
	}
	if (devices & INPUT_PEN) {
		seat->target->add_pens(seat->data, &seat->base);
	}
	if (!done) {
		weston_log("gid: seat %s: Weston cannot make all of its devices\n",
				seat->base.seat_name);
	}
	if (seat->target->devices != NULL) {
		seat->target->devices(seat->data, &seat->base);
	}
}

struct weston_seat *input_seat_get_base(struct input_seat *seat) {
	return &seat->base;
}

/* --- create ----------------------------------------------------------------------------------- */

struct input_seat *input_seat_create(struct weston_compositor *compositor,
		struct weston_output *output, const char *name, const struct input_target *target,
		void *data) {
	struct input_seat *seat = calloc(1, sizeof(*seat));
	if (seat == NULL) {
		return NULL;
	}
	seat->target = target;
	seat->data = data;
	weston_seat_init(&seat->base, compositor, name);
	seat->base.output = output;
	return seat;
}

/* --- destroyed seats -------------------------------------------------------------------------- */

static bool weston_ends;

void input_seats_end(void) {
	weston_ends = true;
}

/* Weston would leave these in a list of the freed seat. */
static void seat_forget_tablets(struct weston_seat *seat) {
	struct wl_resource *resource, *next;
	wl_resource_for_each_safe(resource, next, &seat->tablet_seat_resource_list) {
		wl_list_remove(wl_resource_get_link(resource));
		wl_list_init(wl_resource_get_link(resource));
	}
}

/*
 * A seat without global and devices, for as long as Weston runs. The wl_seat objects of a destroyed
 * seat refer to it, until their clients know that the seat is gone: Weston would crash at
 * get_tablet_seat for no seat. Returns NULL without memory.
 */
static struct weston_seat *gone_seat(struct weston_compositor *compositor) {
	static struct weston_seat *gone;
	if (gone == NULL) {
		gone = calloc(1, sizeof(*gone));
		if (gone == NULL) {
			return NULL;
		}
		weston_seat_init(gone, compositor, "gone");
		wl_list_remove(&gone->link);
		wl_list_init(&gone->link);
		wl_global_remove(gone->global);
	}
	return gone;
}

/* Weston leaves the clients' wl_seat objects without a seat: they get gone_seat(). */
static void seat_release(struct weston_seat *seat) {
	size_t count = (size_t)wl_list_length(&seat->base_resource_list), i = 0;
	struct wl_resource **objects = calloc(count + 1, sizeof(struct wl_resource *));
	struct weston_seat *gone = count > 0 && !weston_ends ? gone_seat(seat->compositor) : NULL;
	struct wl_resource *object;
	wl_resource_for_each(object, &seat->base_resource_list) {
		if (objects != NULL) {
			objects[i++] = object;
		}
	}
	seat_forget_tablets(seat);
	weston_seat_release(seat);
	while (i > 0) {
		wl_resource_set_user_data(objects[--i], gone);
	}
	free(objects);
}

/* --- destroy ---------------------------------------------------------------------------------- */

void input_seat_destroy(struct input_seat *seat) {
	if (seat == NULL) {
		return;
	}
	/* Shells stop listening to a device that goes: seat_release() frees it. */
	seat_take_devices(seat, 0);
	seat_release(&seat->base);
	free(seat);
}
