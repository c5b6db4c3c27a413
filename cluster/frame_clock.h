// SPDX-License-Identifier: MIT
/**
 * When the next frame may be composed.
 *
 * A screen asks for a frame at each of its refreshes. A device without any, as a virtual one, shows
 * a frame at once and asks for the next: one would be composed after the other, for as long as
 * something moves. For such a device we keep the time ourselves. A device that refuses a frame asks
 * for no other: then it is tried again, ever later, up to a second.
 *
 * Pure: times are CLOCK_MONOTONIC in ns, and come from the caller.
 */
#ifndef CLUSTER_FRAME_CLOCK_H
#define CLUSTER_FRAME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct frame_clock {
	uint64_t shown;	  /* when the last frame was shown, 0: never */
	unsigned close;	  /* frames in a row that were shown sooner than a refresh after another */
	uint64_t next;	  /* without refreshes: not before */
	uint64_t refused; /* frames in a row */
	bool own_time;	  /* the device has no refreshes */
};

/* A frame was shown, on a device with this long between refreshes. Returns whether that has shown
 * for the first time that it has none. */
bool frame_clock_shown(struct frame_clock *clock, uint64_t when, uint64_t refresh_ns);

/* How long the frame that was asked for has to wait. 0: it is to be composed now. */
uint64_t frame_clock_wait(const struct frame_clock *clock, uint64_t now);

/* A frame was given to the device. */
void frame_clock_take(struct frame_clock *clock, uint64_t now, uint64_t refresh_ns);

/* The device refused a frame. Returns when to try again, counted from now. */
uint64_t frame_clock_refused(struct frame_clock *clock, uint64_t refresh_ns);

#endif
