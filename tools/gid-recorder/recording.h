// SPDX-License-Identifier: MIT
/**
 * What is in memory, as gid-timeline makes a page of it: a line of JSON that says what follows,
 * then the lines of each timeline, then for each picture a line of JSON and its bytes, and a line
 * that says that it was all.
 */
#ifndef RECORDER_RECORDING_H
#define RECORDER_RECORDING_H

#include "role_watch.h"
#include "stream_watch.h"
#include "timeline_tail.h"

/* What happened. */
struct incident {
	uint64_t time;		   /* CLOCK_MONOTONIC */
	uint64_t noted;		   /* when the recorder heard of it */
	struct role_change change; /* of a role; its `role` is "" where somebody asked */
	uint32_t others;	   /* that came before it was written */
};

struct recording {
	const struct recorder_options *options;
	struct gid_domain *domain;
	const struct stream_watch *streams;
	const struct timeline_tail *tails;
	const struct role_watch *roles;
	uint32_t looks; /* at timelines, in the time that is kept */
};

/* The first line, which the caller frees. Returns 0 or -errno. */
int recording_describe(
		const struct recording *recording, const struct incident *incident, char **line);

/* Writes the line and all that it says. Returns 0 or -errno. Calls no function of libgid but pure
 * ones, and allocates nothing: a child may call it. */
int recording_write(const struct recording *recording, const char *line, int fd);

#endif
