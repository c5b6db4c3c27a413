// SPDX-License-Identifier: MIT
/**
 * The lines of Weston's timeline that say when an output was repainted and a surface changed.
 *
 * Weston writes each point in one piece, `{ "T":[...` to its newline, and declares objects in up to
 * three. Nothing in them is escaped, so a client can put whole lines into the title of its window;
 * but it cannot make a piece begin. Hence a piece is read as it comes, and never put together with
 * others to lines.
 *
 * Pure, without libweston. Whatever it is given, it reads no further than that and never fails:
 * what it does not know is TIMELINE_OTHER.
 */
#ifndef GID_WESTON_TIMELINE_READER_H
#define GID_WESTON_TIMELINE_READER_H

#include <stddef.h>
#include <stdint.h>

#define TIMELINE_NONE INT64_MIN /* a time that the line does not have */

enum timeline_kind {
	TIMELINE_OTHER,
	TIMELINE_OUTPUT, /* an output is declared: `output`, `name` */
	TIMELINE_COMMIT, /* `surface` was committed with damage */
	TIMELINE_FLUSH,	 /* the damage of `surface` is drawn on `output` */
	TIMELINE_ENTER_LOOP,
	TIMELINE_BEGIN,	   /* of a repaint */
	TIMELINE_POSTED,   /* its end */
	TIMELINE_GPU_END,  /* `stamp_ns`: when the GPU was done with it */
	TIMELINE_FINISHED, /* `stamp_ns`: when it was shown */
};

struct timeline_line {
	enum timeline_kind kind;
	int64_t time_ns;	  /* CLOCK_MONOTONIC */
	int64_t stamp_ns;	  /* likewise, or TIMELINE_NONE */
	uint32_t output, surface; /* the subscription's ids; 0: none */
	char name[64];		  /* of an output, cut off if longer */
};

/* What of a declaration is still to come. Zero at first. */
struct timeline_reader {
	uint32_t output;
};

/* Reads the next piece. */
void timeline_read(struct timeline_reader *reader, const char *bytes, size_t length,
		struct timeline_line *line);

#endif
