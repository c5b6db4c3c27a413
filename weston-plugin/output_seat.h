// SPDX-License-Identifier: MIT
/** A seat whose input goes to what is on one output, as that of Weston's own seats does. */
#ifndef GID_WESTON_OUTPUT_SEAT_H
#define GID_WESTON_OUTPUT_SEAT_H

#include "input_seat.h"

struct output_seat;

/* The output must outlive it. Returns NULL without memory. */
struct output_seat *output_seat_create(struct weston_output *output, const char *name);

/* Also releases all that is pressed. Accepts NULL. */
void output_seat_destroy(struct output_seat *seat);

/* The seat with the devices, which handles events. */
struct input_seat *output_seat_get_base(struct output_seat *seat);

#endif
