// SPDX-License-Identifier: MIT
/*
 * Tells the compositor with each commit when the picture is to be shown: by fifo-v1, not to replace
 * a picture that was not shown yet; by commit-timing-v1, not before a given time. The compositor
 * then queues commits, and the client need not wait for it.
 */
#ifndef CLIENTS_SURFACE_TIMING_H
#define CLIENTS_SURFACE_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "wayland.h"

struct surface_timing {
	const struct wayland *wayland;
	struct wp_fifo_v1 *fifo;	  // NULL: not wanted, or not there
	struct wp_commit_timer_v1 *timer; // likewise
};

/*
 * `each`: every picture is to be shown. `timed`: each has a time. What the compositor has no
 * protocol for is left to the caller. Without fifo-v1 `each` also turns `timed` off: the compositor
 * could replace a picture by another one whose time has come as well. Borrows both pointers.
 */
void surface_timing_init(struct surface_timing *timing, const struct wayland *wayland,
		struct wl_surface *surface, bool each, bool timed);
void surface_timing_finish(struct surface_timing *timing);

/* Whether commits need not wait for the compositor's frame callback. */
bool surface_timing_queues(const struct surface_timing *timing);

/*
 * To be called before each commit of a picture: it is shown at `time` or later (CLOCK_MONOTONIC ns;
 * 0: at once).
 */
void surface_timing_set(struct surface_timing *timing, uint64_t time);

#endif
