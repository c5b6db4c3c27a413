// SPDX-License-Identifier: MIT
/** Weston's timeline, read while it is written, in the same process. */
#ifndef GID_WESTON_TIMELINE_TAP_H
#define GID_WESTON_TIMELINE_TAP_H

#include "timeline_reader.h"

struct timeline_tap;
struct weston_compositor;

/*
 * Called in the middle of what Weston is doing at that point: it must not write to the timeline,
 * and destroy neither the tap nor what Weston works on.
 */
typedef void (*timeline_tap_func)(void *data, const struct timeline_line *line);

/* NULL: not enough memory. */
struct timeline_tap *timeline_tap_create(
		struct weston_compositor *compositor, timeline_tap_func func, void *data);

/* NULL is allowed. */
void timeline_tap_destroy(struct timeline_tap *tap);

#endif
