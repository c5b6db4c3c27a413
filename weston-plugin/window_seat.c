// SPDX-License-Identifier: MIT
#include "window_seat.h"

#include <libweston/desktop.h>
#include <math.h>
#include <stdlib.h>

#include "libweston_input.h"
#include "pointer_lock.h"
#include "window_parts.h"

/* The depth of subsurfaces: deeper ones get no input of their own. */
#define DEPTH_MAX 8

struct window_seat {
	struct input_seat *base;
	const struct forward *forward;
	bool has_cursor;	       /* cursors of its client are sent */
	struct weston_surface *window; /* NULL: none */
	struct weston_surface
			*typed; /* has the keyboard focus: the window, or one of its dialogs */
	unsigned seen_count;	/* the window and its parts when a key was last pressed */
	const struct weston_surface *seen[WINDOW_PARTS_MAX];
	struct weston_coord place; /* of the pointer, in surface coordinates of the window */
	struct weston_coord told;  /* the last absolute position that the user sent */
	bool moved_locked;	   /* see pointer_is_lost() */
	uint32_t buttons;	   /* how many are held */
	uint32_t fingers;	   /* how many are down */
	struct weston_seat *seat;  /* of `base`; NULL: it has no devices */
	struct weston_pointer_grab_interface
			pointer_grab; /* NULL functions: there was no pointer yet */
	struct weston_keyboard_grab keyboard_grab;
};

/* --- positions -------------------------------------------------------------------------------- */

static struct weston_view *find_child(
		const struct weston_view *parent, const struct weston_surface *surface) {
	struct weston_view *view;
	wl_list_for_each(view, &surface->views, surface_link) {
		if (view->geometry.parent == parent) {
			return view;
		}
	}
	return NULL;
}

static bool takes_input(struct weston_surface *surface, double x, double y) {
	return x >= 0 && y >= 0 && x < surface->width && y < surface->height &&
			pixman_region32_contains_point(&surface->input, (int)x, (int)y, NULL);
}

/* Returns the topmost view of a surface and its subsurfaces that accepts input at this position. */
static struct weston_view *find_in_tree(
		struct weston_view *view, double x, double y, unsigned depth) {
	struct weston_surface *surface = view->surface;
	const struct weston_subsurface *sub;
	if (depth < DEPTH_MAX) {
		wl_list_for_each(sub, &surface->subsurface_list, parent_link) {
			if (sub->surface == surface) {
				break; /* the others are below it */
			}
			struct weston_view *child = find_child(view, sub->surface), *found = NULL;
			if (child != NULL) {
				found = find_in_tree(child, x - sub->position.offset.c.x,
						y - sub->position.offset.c.y, depth + 1);
			}
			if (found != NULL) {
				return found;
			}
		}
	}
	return takes_input(surface, x, y) ? view : NULL;
}

/* Of the window; empty without one. */
static struct gid_box find_seen(const struct window_seat *seat) {
	return seat->window != NULL ? forward_get_seen(seat->forward, seat->window)
				    : (struct gid_box){0};
}

/* From parts of the visible picture to surface coordinates of the window. */
static struct weston_coord to_surface(const struct window_seat *seat, struct weston_coord part) {
	struct gid_box seen = find_seen(seat);
	return weston_coord(seen.x + part.x * seen.width, seen.y + part.y * seen.height);
}

/* A position in the window, its menus and its dialogs. */
struct spot {
	struct weston_view *target;	/* accepts input there; NULL: none does */
	struct weston_surface *window;	/* the window or dialog of the target; NULL: none */
	struct weston_coord_global pos; /* where Weston computes the target's own position from */
};

static struct weston_coord_global to_global(
		const struct window_part *part, struct weston_coord place) {
	struct weston_view *view = part->view;
	view_update(view);
	return weston_coord_surface_to_global(view,
			weston_coord_surface(place.x - part->x, place.y - part->y, view->surface));
}

/* Whether the view is the part's, or that of a subsurface of it. */
static bool is_of_part(const struct weston_view *view, const struct window_part *part) {
	while (view != NULL && view != part->view &&
			!weston_surface_is_desktop_surface(view->surface)) {
		view = view->geometry.parent;
	}
	return view == part->view;
}

static unsigned find_parts(
		const struct window_seat *seat, struct window_part parts[WINDOW_PARTS_MAX]) {
	return seat->window != NULL ? window_find_parts(seat->window, find_seen(seat), parts) : 0;
}

/*
 * Finds the view that accepts input at a position of the window's surface. That is `kept` if it has
 * an implicit grab. Returns false if there is no window.
 */
static bool find_spot(const struct window_seat *seat, struct weston_coord place,
		struct weston_view *kept, struct spot *spot) {
	struct window_part parts[WINDOW_PARTS_MAX];
	unsigned count = find_parts(seat, parts);
	*spot = (struct spot){0};
	if (count == 0) {
		return false;
	}
	spot->pos = to_global(&parts[0], place);
	for (unsigned i = count; i-- > 0 && spot->target == NULL;) {
		struct weston_view *found = kept;
		if (kept == NULL) {
			found = find_in_tree(parts[i].view, place.x - parts[i].x,
					place.y - parts[i].y, 0);
		} else if (!is_of_part(kept, &parts[i])) {
			found = NULL;
		}
		if (found != NULL) {
			*spot = (struct spot){found, parts[i].window, to_global(&parts[i], place)};
		}
	}
	return true;
}

/* --- pointer ---------------------------------------------------------------------------------- */

/*
 * The views that Weston finds at the pointer's global position are ignored: only the window counts.
 */
static void handle_grab_focus(struct weston_pointer_grab *grab) {
}

/*
 * With the older serial the client cannot set a cursor: if none is wanted, the user's compositor
 * has one.
 */
static void set_focus(const struct window_seat *seat, struct weston_pointer *pointer,
		struct weston_view *view) {
	if (view != NULL) {
		view_update(view);
	}
	weston_pointer_set_focus(pointer, view);
	if (!seat->has_cursor) {
		pointer->focus_serial--;
	}
}

/*
 * Moves the pointer to its position, and focuses what is there. Returns that window or dialog, or
 * NULL.
 */
static struct weston_surface *aim(struct window_seat *seat, struct weston_pointer *pointer) {
	struct spot spot;
	struct weston_view *kept = seat->buttons > 0 ? pointer->focus : NULL;
	if (find_spot(seat, seat->place, kept, &spot)) {
		pointer->pos = spot.pos;
	}
	if (spot.target != pointer->focus) {
		set_focus(seat, pointer, spot.target);
	}
	return spot.window;
}

static void handle_motion(void *data, struct weston_seat *base, struct timespec *time,
		struct weston_coord place) {
	struct window_seat *seat = data;
	struct weston_pointer *pointer = weston_seat_get_pointer(base);
	struct weston_coord told = to_surface(seat, place);
	struct weston_coord motion = weston_coord_sub(told, seat->told);
	seat->told = told;
	if (pointer_is_locked(pointer)) {
		seat->moved_locked = true;
		seat_send_relative(base, time, motion, motion);
		return;
	}
	seat->place = told;
	pointer_is_lost(pointer, &seat->moved_locked);
	if (aim(seat, pointer) != NULL) {
		focus_send_motion(pointer, time, NULL, NULL);
	}
}

/* To be called before something is done at the pointer's position. */
static void find_pointer(
		struct window_seat *seat, struct weston_pointer *pointer, struct timespec *time) {
	if (pointer_is_lost(pointer, &seat->moved_locked) && aim(seat, pointer) != NULL) {
		focus_send_motion(pointer, time, NULL, NULL);
	}
}

static double bounded(double value, double begin, double length) {
	return fmin(fmax(value, begin), begin + fmax(length - 1, 0));
}

static void handle_relative(void *data, struct weston_seat *base, struct timespec *time,
		struct weston_coord motion, struct weston_coord raw) {
	struct window_seat *seat = data;
	struct weston_pointer *pointer = weston_seat_get_pointer(base);
	struct gid_box seen = find_seen(seat);
	if (pointer_is_locked(pointer)) {
		seat->moved_locked = true;
		seat_send_relative(base, time, motion, raw);
		return;
	}
	pointer_is_lost(pointer, &seat->moved_locked);
	seat->place = weston_coord(bounded(seat->place.x + motion.x, seen.x, seen.width),
			bounded(seat->place.y + motion.y, seen.y, seen.height));
	if (aim(seat, pointer) != NULL) {
		focus_send_motion(pointer, time, &motion, &raw);
	}
}

/* --- keyboard --------------------------------------------------------------------------------- */

static bool was_seen(const struct window_seat *seat, const struct weston_surface *window) {
	for (unsigned i = 0; i < seat->seen_count; i++) {
		if (seat->seen[i] == window) {
			return true;
		}
	}
	return false;
}

/* A dialog that opens gets the focus, until the user chooses another dialog, or the window. */
static void find_typed(struct window_seat *seat) {
	struct window_part parts[WINDOW_PARTS_MAX];
	unsigned count = find_parts(seat, parts);
	struct weston_surface *opened = NULL;
	bool is_there = false;
	for (unsigned i = 0; i < count; i++) {
		is_there = is_there || parts[i].window == seat->typed;
		opened = was_seen(seat, parts[i].window) ? opened : parts[i].window;
	}
	if (opened != NULL) {
		seat->typed = opened;
	} else if (!is_there) {
		seat->typed = count > 0 ? parts[count - 1].window : seat->window;
	}
	for (unsigned i = 0; i < count; i++) {
		seat->seen[i] = parts[i].window;
	}
	seat->seen_count = count;
}

/*
 * Takes the focus from whatever the shell gave it to, which gets no release, either. Uses a grab of
 * its own: the default grab also runs Weston's shortcuts. `chosen`: the window or dialog that the
 * user chose; NULL: none.
 */
static void take_keyboard(struct window_seat *seat, struct weston_seat *base, bool pressed,
		struct weston_surface *chosen) {
	struct weston_keyboard *keyboard = weston_seat_get_keyboard(base);
	if (keyboard == NULL) {
		return;
	}
	find_typed(seat);
	if (chosen != NULL) {
		seat->typed = chosen;
	}
	if (keyboard->focus != seat->typed) {
		weston_seat_set_keyboard_focus(base, pressed ? seat->typed : NULL);
	}
	if (keyboard->grab == &keyboard->default_grab) {
		weston_keyboard_start_grab(keyboard, &seat->keyboard_grab);
	}
}

static void handle_key(void *data, struct weston_seat *base, struct timespec *time, uint32_t key,
		bool pressed) {
	take_keyboard(data, base, pressed, NULL);
	seat_send_key(base, time, key, pressed);
}

/*
 * The same as a click with Weston's own seats: it permits a client to open a menu, or to lock the
 * pointer.
 */
static void handle_click(struct window_seat *seat, struct weston_seat *base) {
	struct weston_pointer *pointer = weston_seat_get_pointer(base);
	struct weston_surface *chosen = pointer_is_locked(pointer) ? NULL : aim(seat, pointer);
	take_keyboard(seat, base, true, chosen);
	if (weston_seat_get_keyboard(base) == NULL || seat->window == NULL) {
		return;
	}
	struct weston_view *view = window_find_view(seat->typed);
	if (view != NULL) {
		weston_view_activate_input(view, base, WESTON_ACTIVATE_FLAG_CLICKED);
	}
}

static void handle_button(void *data, struct weston_seat *base, struct timespec *time,
		uint32_t button, bool pressed) {
	struct window_seat *seat = data;
	struct weston_pointer *pointer = weston_seat_get_pointer(base);
	bool clicked = pressed && seat->buttons == 0;
	find_pointer(seat, pointer, time);
	if (clicked) {
		handle_click(seat, base);
	} else if (pointer->focus == NULL) {
		/*
		 * While a menu has a grab, each repaint takes the focus from a view that no output
		 * shows. The release must still arrive.
		 */
		aim(seat, pointer);
	}
	seat->buttons += pressed ? 1 : -1u;
	focus_send_button(pointer, time, button, pressed);
	if (clicked) {
		pointer->grab_serial = wl_display_get_serial(base->compositor->wl_display);
	}
}

static void handle_axis(void *data, struct weston_seat *base, struct timespec *time,
		const struct input_axis *axis) {
	struct weston_pointer *pointer = weston_seat_get_pointer(base);
	find_pointer(data, pointer, time);
	if (!pointer_is_locked(pointer) && aim(data, pointer) == NULL) {
		return;
	}
	if (axis->source != 0) {
		weston_pointer_send_axis_source(pointer, (uint32_t)axis->source - 1);
	}
	focus_send_axis(pointer, time, axis->axis, axis->value, axis->steps);
}

static void handle_pointer_frame(void *data, struct weston_seat *base) {
	weston_pointer_send_frame(weston_seat_get_pointer(base));
}

/* --- touch ------------------------------------------------------------------------------------ */

/* All fingers have the focus of the first one. */
static void handle_touch(void *data, struct weston_touch_device *device, struct timespec *time,
		int id, struct weston_coord part, int type) {
	struct window_seat *seat = data;
	struct weston_touch *touch = device->aggregate;
	struct weston_coord place = to_surface(seat, part);
	struct spot spot;
	if (type == WL_TOUCH_UP) {
		seat->fingers--;
		focus_send_touch(device, time, id, NULL, type);
		return;
	}
	bool first = type == WL_TOUCH_DOWN && seat->fingers++ == 0;
	if (!find_spot(seat, place, first ? NULL : touch->focus, &spot)) {
		return;
	}
	if (first) {
		weston_touch_set_focus(touch, spot.target);
		take_keyboard(seat, touch->seat, true, spot.window);
	}
	if (touch->focus != NULL) {
		view_update(touch->focus);
		focus_send_touch(device, time, id, &spot.pos, type);
	}
	if (first) {
		touch->grab_serial = wl_display_get_serial(touch->seat->compositor->wl_display);
	}
}

static void handle_touch_frame(void *data, struct weston_touch_device *device) {
	const struct window_seat *seat = data;
	weston_touch_send_frame(device->aggregate);
	if (seat->fingers == 0) {
		weston_touch_set_focus(device->aggregate, NULL);
	}
}

/* --- create and destroy ----------------------------------------------------------------------- */

static void handle_devices(void *data, struct weston_seat *base) {
	struct window_seat *seat = data;
	struct weston_pointer *pointer = weston_seat_get_pointer(base);
	const struct weston_keyboard *keyboard = weston_seat_get_keyboard(base);
	seat->seat = base;
	if (pointer != NULL && pointer->default_grab.interface != &seat->pointer_grab) {
		seat->pointer_grab = *pointer->default_grab.interface;
		seat->pointer_grab.focus = handle_grab_focus;
		pointer->default_grab.interface = &seat->pointer_grab;
	}
	if (keyboard != NULL) {
		seat->keyboard_grab.interface = keyboard->default_grab.interface;
	}
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
		.devices = handle_devices,
};

struct input_seat *window_seat_get_base(struct window_seat *seat) {
	return seat->base;
}

/* No other surface gets the next events, nor keeps the focus. */
static void drop_focus(struct window_seat *seat) {
	struct weston_pointer *pointer = weston_seat_get_pointer(seat->seat);
	struct weston_keyboard *keyboard = weston_seat_get_keyboard(seat->seat);
	struct weston_touch *touch = weston_seat_get_touch(seat->seat);
	weston_seat_break_desktop_grabs(seat->seat);
	if (pointer != NULL) {
		set_focus(seat, pointer, NULL);
	}
	if (keyboard != NULL) {
		weston_keyboard_set_focus(keyboard, NULL);
	}
	if (touch != NULL) {
		weston_touch_set_focus(touch, NULL);
	}
}

void window_seat_set_window(struct window_seat *seat, struct weston_surface *window) {
	if (seat->window != NULL && seat->seat != NULL) {
		drop_focus(seat);
	}
	seat->window = seat->typed = window;
	seat->seen_count = 0;
}

struct window_seat *window_seat_create(struct weston_compositor *compositor, const char *name,
		bool has_cursor, const struct forward *forward) {
	struct window_seat *seat = calloc(1, sizeof(*seat));
	if (seat == NULL) {
		return NULL;
	}
	seat->forward = forward;
	seat->has_cursor = has_cursor;
	seat->base = input_seat_create(compositor, NULL, name, &target, seat);
	if (seat->base == NULL) {
		free(seat);
		return NULL;
	}
	return seat;
}

void window_seat_destroy(struct window_seat *seat) {
	if (seat != NULL) {
		input_seat_destroy(seat->base);
		free(seat);
	}
}
