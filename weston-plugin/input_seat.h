// SPDX-License-Identifier: MIT
/** A seat of Weston whose keys, pointer and fingers are somebody else's: those of one output. */
#ifndef GID_WESTON_INPUT_SEAT_H
#define GID_WESTON_INPUT_SEAT_H

#include <input_format.h>
#include <libweston/libweston.h>

struct input_seat;

/* It has no devices yet. NULL for want of memory. The output outlives it. */
struct input_seat *input_seat_create(struct weston_output *output, const char *name);

/* Nothing is held any more. Accepts NULL. */
void input_seat_destroy(struct input_seat *seat);

/*
 * Adds devices, bits of enum input_devices; none is taken away, so that windows keep the keyboard
 * until their user is back.
 */
void input_seat_add_devices(struct input_seat *seat, uint32_t devices);

/* Of a device that it does not have, nothing happens. */
void input_seat_handle(struct input_seat *seat, const struct input_record *event);

#endif
