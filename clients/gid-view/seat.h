// SPDX-License-Identifier: MIT
/*
 * A seat of the compositor, as far as it concerns our window: keys while the window has the
 * keyboard focus, pointer, touch and pens on the picture, as events of input_format.h.
 */
#ifndef GID_VIEW_SEAT_H
#define GID_VIEW_SEAT_H

#include <input_format.h>

#include "common/wayland.h"
#include "common/window.h"
#include "cursor.h"
#include "grab.h"
#include "own_cursor.h"
#include "pens.h"

#define SEAT_VERSION_MIN 5u /* has wl_pointer.frame */

struct seat;

struct seat_events {
	void (*event)(void *data, const struct seat *seat, const struct input_record *event);
	void (*group)(void *data);				 // the group of events is complete
	void (*bound)(void *data);				 // the seat can be used
	void (*gone)(void *data, struct wl_seat *base);		 // that of `base` will be released
	void (*focus)(void *data, const struct seat *seat);	 // `focused` changed
	void (*lost)(void *data, const struct input_held *held); // release these
	void (*devices)(void *data);				 // a seat has other ones
	void (*keymap)(void *data, const char *text); // NULL: none; valid during the call
};

/* What all seats have in common. */
struct seat_place {
	const struct wayland *wayland;
	const struct window *window;
	const struct cursor *cursor; // of the picture
	const struct wl_list *seats; // struct seat.link: all of them
	uint32_t release_key;	     // toggles the grab; KEY_RESERVED: none
	const struct seat_events *events;
	void *data;
};

struct seat {
	struct wl_list link; // seats.list
	const struct seat_place *place;
	struct own_cursor own_cursor;
	struct wl_registry *registry;
	uint32_t name;	      // of `base` in the registry
	struct wl_seat *base; // NULL: it is not bound yet
	struct wl_pointer *pointer;
	struct wl_keyboard *keyboard;
	struct wl_touch *touch;
	struct pens pens;
	struct grab grab;
	bool focused;	    // the window has the keyboard focus
	uint64_t lose_time; // when a lost focus is final; UINT64_MAX: there is none
	bool over;	    // the pointer is on the window
	bool inside;	    // and on the picture, or was so when the first held button was pressed
	uint32_t buttons;   // how many are held
	wl_fixed_t x, y;    // of the pointer, in the window
	uint64_t time;	    // of the current event
	uint32_t serial;    // of the last press
	uint32_t entered;   // of the last wl_pointer.enter
	struct axis {
		bool moved;
		struct input_record event;
	} axes[INPUT_AXES]; // of the current group
	int32_t axis_source;
	struct input_held held;		// by its user
	int32_t fingers[INPUT_TOUCHES]; // touch ids of those that are down: held.touches
};

/* The seat of this name in the registry. `place` must outlive it; the link stays as it is. */
void seat_init(struct seat *seat, const struct seat_place *place, uint32_t name);

/* That it has: enum input_devices. */
uint32_t seat_devices(const struct seat *seat);

/* The members of the cursor have changed. */
void seat_cursor_changed(struct seat *seat);

/* The window has lost the keyboard focus for good: ends the grab, and releases all that is held. */
void seat_lose_focus(struct seat *seat);

/* To be called before the window and the connection end. Accepts zeroes. */
void seat_finish(struct seat *seat);

#endif
