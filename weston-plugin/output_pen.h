// SPDX-License-Identifier: MIT
/**
 * A tablet of Weston whose pens are those of an input stream. Clients that support tablets get the
 * pen's events. For others the pen is the pointer.
 */
#ifndef GID_WESTON_OUTPUT_PEN_H
#define GID_WESTON_OUTPUT_PEN_H

#include <input_format.h>
#include <libweston/libweston.h>

struct output_pen;

/* The seat must outlive it. Returns NULL without memory. */
struct output_pen *output_pen_create(struct weston_seat *seat);

/* Accepts NULL. */
void output_pen_destroy(struct output_pen *pen);

/*
 * Handles an event of INPUT_PEN_*; `place` is only for a motion. Returns false if the client below
 * the pen does not support tablets: then the event is the pointer's. That does not change while a
 * button is held. `pen` may be NULL.
 */
bool output_pen_handle(struct output_pen *pen, const struct timespec *time,
		const struct input_record *event, struct weston_coord_global place);

/* Ends a group of events that belong together. `pen` may be NULL. */
void output_pen_end_group(struct output_pen *pen);

#endif
