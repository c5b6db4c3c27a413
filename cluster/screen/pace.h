// SPDX-License-Identifier: MIT
/**
 * When to compose: for a refresh as late as the policy of pacing/ finds that it may be, and where
 * there are none, at times of our own.
 *
 * Composing begins a window before each refresh of the device. What comes until then is shown by
 * that refresh; without pacing composing begins right after a refresh, and what comes during a
 * refresh is shown a whole refresh later. While too little is known the window is the longest, so
 * that it is as without.
 *
 * Pure: times are CLOCK_MONOTONIC in ns, and come from the caller.
 */
#ifndef CLUSTER_PACE_H
#define CLUSTER_PACE_H

#include <pacing.h>
#include <stdbool.h>
#include <stdint.h>

struct pace {
	bool on;
	struct gid_pacing policy;
	uint64_t shown; /* when the device showed a frame last, 0: never */
	uint64_t begin; /* when composing begins for the frame that is next; 0: not known yet */
	bool given;	/* a frame is on its way to the screen */
	struct gid_pacing_frame frame; /* that one, or the one that is next */
};

void pace_init(struct pace *pace, bool on);

/* How long a frame that could be composed now has to wait. 0: it is to be composed now. */
uint64_t pace_delay(struct pace *pace, uint64_t now, uint64_t refresh_ns);

/* A frame was given to the device: what there was to do for it is done. */
void pace_committed(struct pace *pace, uint64_t now);

/* The frame that was next is not given to the device: there was nothing to show, or it failed. */
void pace_cancel(struct pace *pace);

/* The device showed the frame that was given to it. */
void pace_shown(struct pace *pace, uint64_t when, uint64_t refresh_ns);

/* --- devices without refreshes ---------------------------------------------------------------- */

/*
 * When the next frame may be composed.
 *
 * A screen asks for a frame at each of its refreshes. A device without any shows a frame at once
 * and asks for the next: one would be composed after the other, for as long as something moves. For
 * such a device we keep the time ourselves, as if it had refreshes: a picture that comes right
 * after one waits for the next. Else a producer that draws for each refresh, and
 * whose pictures take longer than one to come here, would move each of them: so many fewer there
 * would be. After a pause, of a refresh in which nothing came, a picture is shown at once.
 *
 * A device that refuses a frame asks for no other: then it is tried again, ever later, up to a
 * second.
 */
struct frame_clock {
	uint64_t shown;	  /* when the last frame was shown, 0: never */
	unsigned close;	  /* frames in a row that were shown sooner than a refresh after another */
	uint64_t next;	  /* without refreshes: not before */
	uint64_t refused; /* frames in a row */
	bool own_time;	  /* the device has no refreshes */
	bool unused;	  /* there was nothing to show at `next` */
};

/* A frame was shown, on a device with this long between refreshes. Returns whether that has shown
 * for the first time that it has none. */
bool frame_clock_shown(struct frame_clock *clock, uint64_t when, uint64_t refresh_ns);

/* How long the frame that was asked for has to wait. 0: it is to be composed now. */
uint64_t frame_clock_delay(struct frame_clock *clock, uint64_t now, uint64_t refresh_ns);

/* There is nothing to show, though it need not wait. */
void frame_clock_skip(struct frame_clock *clock);

/* A frame was given to the device. */
void frame_clock_committed(struct frame_clock *clock, uint64_t now, uint64_t refresh_ns);

/* The device refused a frame. Returns when to try again, counted from now. */
uint64_t frame_clock_refused(struct frame_clock *clock, uint64_t refresh_ns);

#endif
