// SPDX-License-Identifier: MIT
/**
 * The frames of one output as gid_pacing_next() wants them, out of the points of Weston's timeline;
 * and what is worth a line in the log.
 *
 * Pure, without libweston. Times are ns of CLOCK_MONOTONIC.
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
	struct gid_pacing_frame frame; /* without what is known at its end */
	uint32_t drawn;		       /* surfaces */
	int64_t shown_ns;	       /* the last refresh that is known */

	/* The log. */
	bool judged; /* a frame was */
	bool said;
	enum gid_pacing_mode said_mode;
	int64_t said_ns, quiet_ns;
	uint64_t said_frames, said_missed;
	int32_t shortest_ms, longest_ms; /* since then */
};

/* `in_force_ms` is Weston's own window. */
void pacing_output_init(struct pacing_output *output, double miss_rate, int32_t in_force_ms);

/* Its repaint loop starts from rest: what was begun before came to nothing. */
void pacing_output_start(struct pacing_output *output);

/* A repaint begins that is meant for the refresh at `due_ns`. */
void pacing_output_begin(struct pacing_output *output, int64_t due_ns);

/* The repaint draws one more surface; `arrival_ns` as arrivals_drawn() tells. */
void pacing_output_draw(struct pacing_output *output, int64_t arrival_ns);

/* The repaint, or its GPU work, is done. */
void pacing_output_done(struct pacing_output *output, int64_t done_ns);

/*
 * A frame was shown, or, with no repaint begun, the loop starts. Returns the window in ms that the
 * policy wants for the next repaint. Whoever puts it in force sets `in_force_ms`.
 */
int32_t pacing_output_finish(struct pacing_output *output, int64_t shown_ns, int64_t refresh_ns);

/*
 * Whether there is news for the log: another mode, or ten minutes of the same. A mode that changes
 * again and again is news ever more rarely, from ten seconds apart to ten minutes. If so, puts it
 * into `text`; `applied` tells whether the windows are put in force.
 */
bool pacing_output_report(struct pacing_output *output, bool applied, char *text, size_t size);

#endif
