// SPDX-License-Identifier: MIT
/* What the seat has for its parts: how they send, and where they are on the picture. */
#ifndef GID_VIEW_SEAT_PARTS_H
#define GID_VIEW_SEAT_PARTS_H

#include "seat.h"

/* When the event in work was, of which the compositor tells milliseconds. */
void seat_note_time(struct seat *seat, uint32_t ms);

/* Sends the event, which was then; and that those of before belong together. */
void seat_send(struct seat *seat, struct input_record event);
void seat_end_group(struct seat *seat);

/* Whether the place of the window is on a picture that can be used. */
bool seat_is_on_picture(const struct seat *seat, wl_fixed_t x, wl_fixed_t y);

/* An event at this place of the window. */
struct input_record seat_event_at(
		const struct seat *seat, enum input_type type, wl_fixed_t x, wl_fixed_t y);

/* After devices came or went. */
void seat_tell_devices(struct seat *seat);

#endif
