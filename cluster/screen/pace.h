// SPDX-License-Identifier: MIT
/**
 * When to compose: for a refresh, a window before it; and where there are none, at times of our
 * own.
 *
 * What comes until the window begins is shown by its refresh. Unless the configuration says
 * otherwise, the window is so long that a frame is done in it, however long that takes:
 * compose_window.h. With pacing=on it is the shortest that the policy of common/pacing/ finds.
 * While too little is known of that, it is the longest.
 *
 * While pictures follow each other, each frame begins with its window. If one were composed as soon
 * as something came, what comes next would have to wait: then a producer with a picture for each
 * refresh would have one of them shown sooner, and miss a refresh with the next. Only where nothing
 * was there when the window began, what comes in it is composed at once, if that is done in time
 * however long it takes. Else it waits for the next window. So each frame is shown by the refresh
 * that it is meant for, and what comes right after its begin by the one after that.
 *
 * Pure: times are CLOCK_MONOTONIC in ns, and come from the caller.
 */
#ifndef CLUSTER_PACE_H
#define CLUSTER_PACE_H

#include <pacing.h>
#include <stdbool.h>
#include <stdint.h>

#include "compose_window.h"

struct pace {
	enum pacing pacing;
	uint64_t frame_ns;	  /* a frame of each output, at the worst; 0: not known */
	struct gid_pacing policy; /* of PACING_ON */
	uint64_t shown;		  /* when the device showed a frame last, 0: never */
	bool follows;		  /* it has just shown one, and the next is not planned yet */
	uint64_t begin; /* when composing begins for the frame that is next; 0: not known yet */
	uint64_t given; /* when the device was given the one that is on its way; 0: there is none */
	unsigned waited; /* frames in a row with which the device has waited for a refresh */
	bool planned;	 /* what follows is of the frame on its way, else of the next one */
	struct gid_pacing_frame frame; /* of PACING_ON */
};

void pace_init(struct pace *pace, enum pacing pacing);

/* What it does, in a few words, for the status. Never NULL. */
const char *pace_name(const struct pace *pace);

/* How long before a refresh composing begins. */
uint64_t pace_window_ns(const struct pace *pace, uint64_t refresh_ns);

/*
 * The first refresh of a device after `now`, by the last one that has shown a frame. 0: not known,
 * as where that was long ago, for a clock and a display do not agree for long. Nor is it before the
 * device was seen to wait for one: where there is none, it would seem to be the one that we wait
 * for.
 */
uint64_t pace_next_refresh(const struct pace *pace, uint64_t now, uint64_t refresh_ns);

/*
 * How long a frame that could be composed now has to wait. 0: it is to be composed now. `due`: the
 * first refresh after `now`; 0: not known.
 */
uint64_t pace_delay(struct pace *pace, uint64_t now, uint64_t due, uint64_t refresh_ns);

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
