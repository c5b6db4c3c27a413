// SPDX-License-Identifier: MIT
/* What the users of several seats hold of one stream. Pure. */
#ifndef GID_VIEW_SEAT_HELD_H
#define GID_VIEW_SEAT_HELD_H

#include <input_format.h>

/* Adds what `more` has. */
void seat_held_join(struct input_held *held, const struct input_held *more);

/* Leaves what `others` do not have. */
void seat_held_leave(struct input_held *held, const struct input_held *others);

/*
 * Notes an event of a seat's user. Returns whether readers are to hear of it: a user releases only
 * what nobody else holds, and one pen is near, which alone moves and presses.
 */
bool seat_held_note(struct input_held *held, const struct input_held *others,
		const struct input_record *event);

#endif
