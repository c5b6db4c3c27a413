// SPDX-License-Identifier: MIT
/*
 * The compositor's first seat, as far as it is about our window: keys while the window has the
 * keyboard, the pointer, fingers and pens where the picture is, as events of input_format.h.
 */
#ifndef GID_VIEW_SEAT_H
#define GID_VIEW_SEAT_H

#include <input_format.h>

#include "common/wayland.h"
#include "common/window.h"
#include "cursor.h"
#include "grab.h"
#include "pens.h"

struct seat_events {
	void (*event)(void *data, const struct input_record *event);
	void (*group)(void *data);			 // what came before is to be sent
	void (*bound)(void *data, struct wl_seat *base); // NULL: the seat is gone
	void (*focus)(void *data, bool focused);	 // the window has the keyboard, or not
	void (*lost)(void *data);			 // what is held is to be released
	void (*devices)(void *data, uint32_t devices);	 // enum input_devices
	void (*keymap)(void *data, const char *text);	 // NULL: none; valid during the call
};

struct seat {
	const struct seat_events *events;
	void *data;
	const struct window *window;
	const struct cursor *cursor; // of what the window shows
	uint32_t release_key;	     // takes the grab and lets it go; KEY_RESERVED: there is none
	struct wl_registry *registry;
	struct wl_seat *base; // NULL: the compositor has none
	uint32_t base_name;   // of the global
	struct wl_pointer *pointer;
	struct wl_keyboard *keyboard;
	struct wl_touch *touch;
	struct pens pens;
	struct grab grab;
	bool focused; // the window has the keyboard
	bool over;    // the pointer is on the window
	bool inside;  // and on the picture, or was when the first button that is held was pressed
	uint32_t buttons; // that are held
	wl_fixed_t x, y;  // of the pointer, in the window
	uint64_t time;	  // of the event in work
	uint32_t serial;  // of what was pressed last
	uint32_t entered; // with which the pointer came to the window
	struct axis {
		bool moved;
		struct input_record event;
	} axes[INPUT_AXES]; // of the group in work
	int32_t axis_source;
	int32_t fingers[INPUT_TOUCHES]; // the compositor's numbers of those that are down
	uint32_t fingers_down;		// bit i: fingers[i]
};

/* `window` and `cursor` outlive it. */
void seat_init(struct seat *seat, struct wayland *wayland, const struct window *window,
		const struct cursor *cursor, uint32_t release_key, const struct seat_events *events,
		void *data);

/* The cursor is another one. */
void seat_cursor_changed(struct seat *seat);

/* The window is without the keyboard for good: the grab ends, and what is held is released. */
void seat_lose_focus(struct seat *seat);

/* Before the window and the connection end. Also after no seat_init() of a seat of zeroes. */
void seat_finish(struct seat *seat);

#endif
