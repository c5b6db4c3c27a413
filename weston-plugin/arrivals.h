// SPDX-License-Identifier: MIT
/**
 * Detects which surfaces have a producer with a clock of its own, such as a camera or a film.
 *
 * A client that draws on frame callbacks commits some time after each repaint: when the repaint
 * moves, its commits move, too. A producer with its own clock commits at its own interval, or
 * relative to the refresh that it is locked to. The time that varies least tells the two apart.
 * Until one of them varies clearly less, a surface counts as drawn on frame callbacks.
 *
 * Pure functions, without libweston. Times are ns of CLOCK_MONOTONIC.
 */
#ifndef GID_WESTON_ARRIVALS_H
#define GID_WESTON_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#define ARRIVALS_SURFACES 64 /* tracked at once: those that committed last */

/* Exponentially weighted means of a time, and of how far it is off. */
struct arrivals_spread {
	double mean, deviation;
};

struct arrivals_surface {
	uint32_t id;	   /* as in the timeline; 0: unused */
	int64_t commit_ns; /* of the last commit */
	int64_t drawn_ns;  /* of the last repaint with it; 0: none yet */
	int64_t shown_ns;  /* the output's last refresh before `drawn_ns` */
	uint64_t commits;
	struct arrivals_spread interval, after_drawn, after_shown;
	bool own_clock;
};

/* All zero: no surface yet. */
struct arrivals {
	struct arrivals_surface surfaces[ARRIVALS_SURFACES];
};

/* `surface` got a commit with damage. */
void arrivals_commit(struct arrivals *arrivals, uint32_t surface, int64_t commit_ns);

/*
 * `surface` is drawn, on an output whose last refresh was at `shown_ns`. Returns the time of its
 * last commit if its producer has a clock of its own, else GID_PACING_NONE.
 */
int64_t arrivals_drawn(
		struct arrivals *arrivals, uint32_t surface, int64_t drawn_ns, int64_t shown_ns);

#endif
