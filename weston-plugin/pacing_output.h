// SPDX-License-Identifier: MIT
/**
 * Collects the frames of one output for gid_pacing_next() from points of Weston's timeline, and
 * decides what is logged.
 *
 * Pure functions, without libweston. Times are ns of CLOCK_MONOTONIC.
 */
#ifndef GID_WESTON_PACING_OUTPUT_H
#define GID_WESTON_PACING_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pacing.h"

struct pacing_output {
	struct gid_pacing policy;
	int32_t in_force_ms; /* the window that the next repaint is scheduled with */

	/* The repaint that has begun and is not shown yet. */
	bool begun;
	struct gid_pacing_frame frame; /* what is known so far */
	uint32_t drawn;		       /* surfaces in it */
	int64_t shown_ns;	       /* the last refresh that is known */

	/* What was logged. */
	bool judged; /* a frame was given to the policy */
	bool said;
	enum gid_pacing_mode said_mode;
	int64_t said_ns, quiet_ns;
	uint64_t said_frames, said_missed;
	int32_t shortest_ms, longest_ms; /* since the last report */
};

/* `in_force_ms` is Weston's own window. */
void pacing_output_init(struct pacing_output *output, double miss_rate, int32_t in_force_ms);

/* The repaint loop starts after a pause: a repaint that has begun does not count. */
void pacing_output_start(struct pacing_output *output);

/* A repaint begins, for the refresh at `due_ns`. */
void pacing_output_begin(struct pacing_output *output, int64_t due_ns);

/* The repaint draws one more surface; `arrival_ns` is from arrivals_drawn(). */
void pacing_output_draw(struct pacing_output *output, int64_t arrival_ns);

/* The repaint, or its work on the GPU, is done. */
void pacing_output_done(struct pacing_output *output, int64_t done_ns);

/*
 * A frame was shown; or, if no repaint has begun, the loop starts. Returns the window in ms that
 * the policy chooses for the next repaint. The caller sets `in_force_ms` if it applies it.
 */
int32_t pacing_output_finish(struct pacing_output *output, int64_t shown_ns, int64_t refresh_ns);

/*
 * Whether there is something to log: another mode, or ten minutes of the same. A mode that changes
 * again and again is logged ever more rarely, from ten seconds apart to ten minutes. If so, writes
 * it to `text`; `applied`: the windows are applied.
 */
bool pacing_output_report(struct pacing_output *output, bool applied, char *text, size_t size);

#endif
