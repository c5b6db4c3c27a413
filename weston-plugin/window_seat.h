// SPDX-License-Identifier: MIT
/**
 * A seat whose input goes to one window alone, even if the window is covered, or no output shows
 * it. Weston's own shortcuts do not apply, and no other window gets input, whatever the shell
 * focuses.
 */
#ifndef GID_WESTON_WINDOW_SEAT_H
#define GID_WESTON_WINDOW_SEAT_H

#include "forward.h"
#include "input_seat.h"

struct window_seat;

/*
 * `has_cursor`: clients can set a cursor, which the user's compositor shows. `forward` says which
 * part of the window is visible, and must outlive it. Returns NULL without memory.
 */
struct window_seat *window_seat_create(struct weston_compositor *compositor, const char *name,
		bool has_cursor, const struct forward *forward);

/* Also releases all that is pressed. Accepts NULL. */
void window_seat_destroy(struct window_seat *seat);

/* The seat with the devices, which handles events. */
struct input_seat *window_seat_get_base(struct window_seat *seat);

/* Sets the window; NULL: none, and input is dropped. Releases all that is pressed. */
void window_seat_set_window(struct window_seat *seat, struct weston_surface *window);

#endif
