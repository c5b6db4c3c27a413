// SPDX-License-Identifier: MIT
/** Reads Weston's timeline in the same process while it is written. */
#ifndef GID_WESTON_TIMELINE_TAP_H
#define GID_WESTON_TIMELINE_TAP_H

#include "timeline_reader.h"

struct timeline_tap;
struct weston_compositor;

/*
 * Called within Weston's code for that point: it must not write to the timeline, nor destroy the
 * tap or anything that Weston works on.
 */
typedef void (*timeline_tap_func)(void *data, const struct timeline_line *line);

/* Returns NULL without memory. */
struct timeline_tap *timeline_tap_create(
		struct weston_compositor *compositor, timeline_tap_func func, void *data);

/* Accepts NULL. */
void timeline_tap_destroy(struct timeline_tap *tap);

#endif
