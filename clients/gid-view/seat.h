// SPDX-License-Identifier: MIT
/*
 * The compositor's first seat, as far as it concerns our window: keys while the window has the
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

struct seat_events {
	void (*event)(void *data, const struct input_record *event);
	void (*group)(void *data);			 // the group of events is complete
	void (*bound)(void *data, struct wl_seat *base); // NULL: the seat is gone
	void (*focus)(void *data, bool focused); // the window gained or lost the keyboard focus
	void (*lost)(void *data);		 // release all that is held
	void (*devices)(void *data, uint32_t devices); // enum input_devices
	void (*keymap)(void *data, const char *text);  // NULL: none; valid during the call
};

struct seat {
	const struct seat_events *events;
	void *data;
	const struct wayland *wayland;
	const struct window *window;
	const struct cursor *cursor; // of the picture
	struct own_cursor own_cursor;
	uint32_t release_key; // toggles the grab; KEY_RESERVED: none
	struct wl_registry *registry;
	struct wl_seat *base; // NULL: the compositor has none
	uint32_t base_name;   // registry name of `base`
	struct wl_pointer *pointer;
	struct wl_keyboard *keyboard;
	struct wl_touch *touch;
	struct pens pens;
	struct grab grab;
	bool focused;	  // the window has the keyboard focus
	bool over;	  // the pointer is on the window
	bool inside;	  // and on the picture, or was so when the first held button was pressed
	uint32_t buttons; // how many are held
	wl_fixed_t x, y;  // of the pointer, in the window
	uint64_t time;	  // of the current event
	uint32_t serial;  // of the last press
	uint32_t entered; // of the last wl_pointer.enter
	struct axis {
		bool moved;
		struct input_record event;
	} axes[INPUT_AXES]; // of the current group
	int32_t axis_source;
	int32_t fingers[INPUT_TOUCHES]; // touch ids of those that are down
	uint32_t fingers_down;		// bit i: fingers[i]
};

/* `wayland`, `window` and `cursor` must outlive it. */
void seat_init(struct seat *seat, struct wayland *wayland, const struct window *window,
		const struct cursor *cursor, uint32_t release_key, const struct seat_events *events,
		void *data);

/* The members of the cursor have changed. */
void seat_cursor_changed(struct seat *seat);

/* The window has lost the keyboard focus for good: ends the grab, and releases all that is held. */
void seat_lose_focus(struct seat *seat);

/* To be called before the window and the connection end. Accepts zeroes. */
void seat_finish(struct seat *seat);

#endif
