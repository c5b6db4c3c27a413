// SPDX-License-Identifier: MIT
/**
 * Parses the lines of Weston's timeline that tell when an output was repainted and a surface
 * changed.
 *
 * Weston writes each point in one piece, from `{ "T":[` to its newline, and declares objects in up
 * to three pieces. Nothing is escaped: a client can put whole lines into the title of its window,
 * but it cannot begin a piece. So each piece is parsed by itself, and pieces are never joined to
 * lines.
 *
 * Pure functions, without libweston. Any input is valid: what is not known is TIMELINE_OTHER, and
 * nothing beyond the input is read.
 */
#ifndef GID_WESTON_TIMELINE_READER_H
#define GID_WESTON_TIMELINE_READER_H

#include <stddef.h>
#include <stdint.h>

#define TIMELINE_NONE INT64_MIN /* the line has no such time */

enum timeline_kind {
	TIMELINE_OTHER,
	TIMELINE_OUTPUT, /* an output is declared: `output`, `name` */
	TIMELINE_COMMIT, /* `surface` was committed with damage */
	TIMELINE_FLUSH,	 /* the damage of `surface` is drawn on `output` */
	TIMELINE_ENTER_LOOP,
	TIMELINE_BEGIN,	   /* of a repaint */
	TIMELINE_POSTED,   /* the end of a repaint */
	TIMELINE_GPU_END,  /* `stamp_ns`: when the GPU finished it */
	TIMELINE_FINISHED, /* `stamp_ns`: when it was shown */
};

struct timeline_line {
	enum timeline_kind kind;
	int64_t time_ns;	  /* CLOCK_MONOTONIC */
	int64_t stamp_ns;	  /* the same clock, or TIMELINE_NONE */
	uint32_t output, surface; /* ids of the subscription; 0: none */
	char name[64];		  /* of an output, cut off if longer */
};

/* The declared id whose name is still to come; 0: none. */
struct timeline_reader {
	uint32_t output;
};

/* Parses the next piece. */
void timeline_read(struct timeline_reader *reader, const char *bytes, size_t length,
		struct timeline_line *line);

#endif
