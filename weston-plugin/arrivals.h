// SPDX-License-Identifier: MIT
/**
 * Which surfaces have a producer with a clock of its own: a camera, a film.
 *
 * A client that draws upon the frame callback commits some time after each repaint, and when the
 * repaint moves, so do its commits. The commits of a producer keep to their own interval, or to the
 * refresh that the producer is locked to. Which of these times varies less tells the two apart; as
 * long as none does clearly, the surface counts as the former.
 *
 * Pure, without libweston. Times are ns of CLOCK_MONOTONIC.
 */
#ifndef GID_WESTON_ARRIVALS_H
#define GID_WESTON_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#define ARRIVALS_SURFACES 64 /* watched at once: the last to commit */

/* How much a time varies, by exponentially weighted means. */
struct arrivals_spread {
	double mean, deviation;
};

struct arrivals_surface {
	uint32_t id;	   /* the timeline's; 0: unused */
	int64_t commit_ns; /* the last */
	int64_t drawn_ns;  /* when it was drawn last; 0: not yet */
	int64_t shown_ns;  /* the output's last refresh before that */
	uint64_t commits;
	struct arrivals_spread interval, after_drawn, after_shown;
	bool own_clock;
};

/* All zero at first. */
struct arrivals {
	struct arrivals_surface surfaces[ARRIVALS_SURFACES];
};

/* `surface` was committed, with damage. */
void arrivals_commit(struct arrivals *arrivals, uint32_t surface, int64_t commit_ns);

/*
 * It is drawn, on an output whose last refresh was at `shown_ns`. Returns the time of its last
 * commit if its producer has a clock of its own, else GID_PACING_NONE.
 */
int64_t arrivals_drawn(
		struct arrivals *arrivals, uint32_t surface, int64_t drawn_ns, int64_t shown_ns);

#endif
