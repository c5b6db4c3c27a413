// SPDX-License-Identifier: MIT
/**
 * A tablet of Weston whose pens are somebody else's: those of an input stream. Programs that know
 * tablets get what a pen does as such. Others do not, and are for the pointer.
 */
#ifndef GID_WESTON_OUTPUT_PEN_H
#define GID_WESTON_OUTPUT_PEN_H

#include <input_format.h>
#include <libweston/libweston.h>

struct output_pen;

/* The seat outlives it. NULL for want of memory. */
struct output_pen *output_pen_create(struct weston_seat *seat);

/* Accepts NULL. */
void output_pen_destroy(struct output_pen *pen);

/*
 * An event of INPUT_PEN_*, of which `place` is that of a motion. Returns whether that is all;
 * false: the program below the pen knows none. It is the same for as long as a button is held.
 * `pen` may be NULL.
 */
bool output_pen_handle(struct output_pen *pen, const struct timespec *time,
		const struct input_record *event, struct weston_coord_global place);

/* What came before belongs together. `pen` may be NULL. */
void output_pen_end_group(struct output_pen *pen);

#endif
