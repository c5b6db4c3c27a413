// SPDX-License-Identifier: MIT
/*
 * All seats of the compositor: the users of each may use the window, also at once. A reader hears
 * of one: fingers have numbers of their own, what several users hold the last one releases, and one
 * pen is near.
 */
#ifndef GID_VIEW_SEATS_H
#define GID_VIEW_SEATS_H

#include "seat.h"

struct seats {
	const struct seat_place *place;
	struct wl_registry *registry; // NULL: it is not used
	struct wl_list list;	      // struct seat.link, the oldest first
};

/* `place` must outlive it. */
void seats_init(struct seats *seats, const struct seat_place *place);

/* The members of the cursor have changed. */
void seats_cursor_changed(struct seats *seats);

/* That any of them has: enum input_devices. */
uint32_t seats_devices(const struct seats *seats);

/* The oldest one; NULL: there is none. */
struct wl_seat *seats_first(const struct seats *seats);

/* When seats_dispatch() has something to do; UINT64_MAX: never. */
uint64_t seats_deadline(const struct seats *seats);
void seats_dispatch(struct seats *seats, uint64_t now);

/* To be called before the window and the connection end. Accepts zeroes. */
void seats_finish(struct seats *seats);

#endif
