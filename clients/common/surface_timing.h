// SPDX-License-Identifier: MIT
/*
 * When the pictures of a surface are shown, told to the compositor with each commit: by fifo-v1
 * that none takes the place of one that was not shown, and by commit-timing-v1 not before when. It
 * then keeps commits in order until their time has come, and need not be waited for.
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
 * `each`: every picture is to be shown. `timed`: at a time of its own. What the compositor has no
 * protocol for is left to the caller: if it has none by which each is shown, it gets no times, for
 * it could replace one by another whose time has come as well. Both pointers are borrowed.
 */
void surface_timing_init(struct surface_timing *timing, const struct wayland *wayland,
		struct wl_surface *surface, bool each, bool timed);
void surface_timing_finish(struct surface_timing *timing);

/* Whether commits need not wait for the compositor's frame callback. */
bool surface_timing_queues(const struct surface_timing *timing);

/* To be called before each commit of a picture: not before `time` (CLOCK_MONOTONIC; 0: at once). */
void surface_timing_set(struct surface_timing *timing, uint64_t time);

#endif
