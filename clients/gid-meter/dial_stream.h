// SPDX-License-Identifier: MIT
/** The dials as a stream, and what becomes of its pictures. */
#ifndef METER_DIAL_STREAM_H
#define METER_DIAL_STREAM_H

#include "schedule.h"
#include "tally.h"

struct dial_stream_options {
	const char *domain; /* NULL: $GID_DOMAIN */
	const char *stream;
	uint32_t width, height, rate;
	uint64_t seconds; /* 0: until it is told to end */
};

struct dial_stream {
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_slab *slab;
	struct gid_layout layout;
	struct schedule schedule;
	uint64_t started, next; /* the next picture is due */
	uint64_t wake, late;	/* when it is to look next, and by how much it was late at most */
	uint64_t sequence;	/* of the newest picture */
	uint64_t unread;	/* the newest picture, while a reader has not taken it; 0: none */
	uint64_t newest_shown;	/* the newest picture of which we know that it was shown */
	struct tally shown, taken;
	uint64_t drawn, starved;
	bool told; /* that there is no memory */
};

/* Returns 0, or -1 after saying on stderr what is wrong. */
int dial_stream_init(struct dial_stream *dials, const struct dial_stream_options *options);
void dial_stream_finish(struct dial_stream *dials);

/*
 * Looks what was shown, and draws if a picture is due. `wake` gets when to do that again. Returns
 * 0, or -1 after saying on stderr what is wrong.
 */
int dial_stream_tick(struct dial_stream *dials, uint64_t *wake);

/* Says on stderr what is wrong, by libgid's words if it has some. Returns -1. */
int dial_stream_fail(const struct dial_stream *dials, const char *what, int error);

/* How evenly the pictures were shown, as a line of JSON on stdout. */
void dial_stream_report(const struct dial_stream *dials);

#endif
