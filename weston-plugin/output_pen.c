// SPDX-License-Identifier: MIT
#include "output_pen.h"

#include <stdlib.h>
#include <string.h>

#include "libweston_input.h"

#define TOOLS (INPUT_TOOL_LAST - INPUT_TOOL_FIRST + 1)
/* Bits of zwp_tablet_tool_v2.capability: tilt and pressure. */
#define CAPABILITIES (1u << 1 | 1u << 2)

struct output_pen {
	struct weston_seat *seat;
	struct weston_tablet *tablet;
	struct weston_tablet_tool *tools[TOOLS]; /* NULL: not used yet */
	struct weston_tablet_tool *near;	 /* in proximity; NULL: none */
	uint32_t held;				 /* bit i: the button INPUT_PEN_BUTTON_FIRST + i */
	uint32_t of_pointer;  /* those of them that were pressed as the pointer's */
	bool is_pointer;      /* the client below does not support tablets */
	bool used;	      /* in the current group of events */
	struct timespec time; /* of the last event */
};

static struct weston_tablet_tool *pen_get_tool(struct output_pen *pen, uint32_t code) {
	struct weston_tablet_tool **tool = &pen->tools[code - INPUT_TOOL_FIRST];
	if (*tool == NULL) {
		*tool = weston_seat_add_tablet_tool(pen->seat);
	} else {
		return *tool;
	}
	if (*tool != NULL) {
		(*tool)->type = code; /* the values are the protocol's */
		(*tool)->capabilities = CAPABILITIES;
		wl_list_insert(&pen->tablet->tool_list, &(*tool)->link);
		notify_tablet_tool_added(*tool);
	}
	return *tool;
}

/* Whether the client of the surface has the tool. */
static bool knows_tool(const struct weston_view *view, struct weston_tablet_tool *tool) {
	struct wl_resource *surface = view->surface->resource;
	struct wl_client *client = surface != NULL ? wl_resource_get_client(surface) : NULL;
	return client != NULL &&
			(wl_resource_find_for_client(&tool->resource_list, client) != NULL ||
					wl_resource_find_for_client(&tool->focus_resource_list,
							client) != NULL);
}

static void pen_come(struct output_pen *pen, uint32_t code) {
	pen->near = pen_get_tool(pen, code);
	pen->is_pointer = true; /* until its position is known */
	pen->held = pen->of_pointer = 0;
	if (pen->near != NULL) {
		notify_tablet_tool_proximity_in(pen->near, &pen->time, pen->tablet);
	}
}

static void pen_go(struct output_pen *pen) {
	if (pen->near != NULL) {
		notify_tablet_tool_proximity_out(pen->near, &pen->time);
	}
	pen->near = NULL;
	pen->is_pointer = true;
}

/* Weston expects a surface below each position that it is sent. */
static bool pen_move(struct output_pen *pen, const struct input_record *event,
		struct weston_coord_global place) {
	struct weston_tablet_tool *tool = pen->near;
	if (tool == NULL) {
		return false;
	}
	const struct weston_view *below = weston_compositor_pick_view(pen->seat->compositor, place);
	if (pen->held == 0) {
		pen->is_pointer = below == NULL || !knows_tool(below, tool);
	}
	if (pen->is_pointer && tool->focus != NULL) {
		weston_tablet_tool_set_focus(tool, NULL, &pen->time);
	}
	if (!pen->is_pointer && below != NULL) {
		notify_tablet_tool_motion(tool, &pen->time, place);
		notify_tablet_tool_pressure(tool, &pen->time, (uint32_t)event->value);
		notify_tablet_tool_tilt(tool, &pen->time, event->raw_x, event->raw_y);
	}
	return !pen->is_pointer;
}

/*
 * notify_tablet_tool_button() would count buttons, and after the first one Weston would never be
 * idle again.
 */
static void tool_press(struct weston_tablet_tool *tool, const struct timespec *time,
		const struct input_record *event) {
	tool->grab_serial = wl_display_next_serial(tool->seat->compositor->wl_display);
	tool->grab->interface->button(tool->grab, time, event->code, (uint32_t)event->value);
}

/* A button is released as what it was pressed as, whatever is below by then. */
static bool pen_press(struct output_pen *pen, const struct input_record *event) {
	uint32_t bit = 1u << (event->code - INPUT_PEN_BUTTON_FIRST);
	if (event->value != 0) {
		bool is_there = pen->near != NULL && pen->near->focus != NULL;
		pen->is_pointer |= pen->held == 0 && !is_there; /* the window is gone */
		pen->held |= bit;
		pen->of_pointer |= pen->is_pointer || !is_there ? bit : 0;
	} else {
		pen->held &= ~bit;
	}
	if (pen->near == NULL || (pen->of_pointer & bit)) {
		pen->of_pointer &= event->value != 0 ? UINT32_MAX : ~bit;
		return false;
	}
	if (event->code != INPUT_PEN_TIP) {
		tool_press(pen->near, &pen->time, event);
	} else if (event->value != 0) {
		notify_tablet_tool_down(pen->near, &pen->time);
	} else {
		notify_tablet_tool_up(pen->near, &pen->time);
	}
	return true;
}

bool output_pen_handle(struct output_pen *pen, const struct timespec *time,
		const struct input_record *event, struct weston_coord_global place) {
	if (pen == NULL) {
		return false;
	}
	bool taken = true;
	pen->time = *time;
	if (event->type == INPUT_PEN_MOTION) {
		taken = pen_move(pen, event, place);
	} else if (event->type == INPUT_PEN_BUTTON) {
		taken = pen_press(pen, event);
	} else if (event->value != 0) {
		pen_come(pen, event->code);
	} else {
		pen_go(pen);
	}
	pen->used |= taken;
	return taken;
}

void output_pen_end_group(struct output_pen *pen) {
	if (pen != NULL && pen->used && pen->near != NULL) {
		notify_tablet_tool_frame(pen->near, &pen->time);
	}
	if (pen != NULL) {
		pen->used = false;
	}
}

struct output_pen *output_pen_create(struct weston_seat *seat) {
	struct output_pen *pen = calloc(1, sizeof(*pen));
	struct weston_tablet *tablet = weston_seat_add_tablet(seat);
	char *name = strdup(seat->seat_name);
	if (pen == NULL || tablet == NULL || name == NULL) {
		free(pen);
		free(tablet); /* no client was told of it */
		free(name);
		return NULL;
	}
	tablet->name = name;
	tablet->path = ""; /* a client that gets NULL here is disconnected */
	wl_list_insert(&seat->tablet_list, &tablet->link);
	notify_tablet_added(tablet);
	pen->seat = seat;
	pen->tablet = tablet;
	pen->is_pointer = true;
	return pen;
}

/* Weston tells the end of a tool only to clients on whose surface it is not. */
void output_pen_destroy(struct output_pen *pen) {
	if (pen == NULL) {
		return;
	}
	for (size_t i = 0; i < TOOLS; i++) {
		if (pen->tools[i] != NULL) {
			weston_tablet_tool_set_focus(pen->tools[i], NULL, &pen->time);
		}
	}
	weston_seat_release_tablet(pen->tablet);
	free(pen);
}
