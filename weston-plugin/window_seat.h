// SPDX-License-Identifier: MIT
/**
 * A seat whose input goes to one window alone, wherever that is, whatever covers it, and also where
 * no output shows it. Weston's own shortcuts are not for it, nor is any other window, whatever the
 * shell gives it.
 */
#ifndef GID_WESTON_WINDOW_SEAT_H
#define GID_WESTON_WINDOW_SEAT_H

#include "forward.h"
#include "input_seat.h"

struct window_seat;

/*
 * `has_cursor`: programs can set one, which somebody else shows. `forward` says which part of the
 * window is seen, and outlives it. NULL for want of memory.
 */
struct window_seat *window_seat_create(struct weston_compositor *compositor, const char *name,
		bool has_cursor, const struct forward *forward);

/* Nothing is held any more. Accepts NULL. */
void window_seat_destroy(struct window_seat *seat);

/* Which has its devices, and handles events. */
struct input_seat *window_seat_get_base(struct window_seat *seat);

/* The window; NULL: there is none, and input goes nowhere. Nothing is held now. */
void window_seat_set_window(struct window_seat *seat, struct weston_surface *window);

#endif
