// SPDX-License-Identifier: MIT
/** What is recorded, and when it is written. */
#ifndef RECORDER_RECORDER_H
#define RECORDER_RECORDER_H

#include "incident_file.h"

struct recorder {
	const struct recorder_options *options;
	struct gid_domain *domain;
	sd_event *event;
	sd_event_source *domain_source, *tick;
	struct stream_watch streams[RECORDER_STREAMS_MAX];
	size_t stream_count; /* of those that are there */
	struct timeline_tail tails[RECORDER_TIMELINES_MAX];
	size_t tail_count;
	struct role_watch roles;
	struct incident_file file;
	uint32_t ticks;
	struct incident incident; /* the one that is to be written */
	bool is_pending, is_ending;
	uint64_t due; /* when it is */
	/* When the last file about the display was begun, and the last that was asked for; as
	 * `filed` of each role is. 0: none was, or it could not be written. */
	uint64_t display_filed, asked_filed;
	uint64_t *begun;   /* that of the file that is made now */
	uint64_t left_out; /* incidents that came too soon after that */
};

/* The memory that it takes, in bytes, and what it may take beside while a file is written. */
size_t recorder_size(const struct recorder_options *options);

/* Begins to record. Returns 0, or -errno after a message; then there is nothing to be finished. */
int recorder_init(
		struct recorder *recorder, const struct recorder_options *options, sd_event *event);
void recorder_finish(struct recorder *recorder);

/* Somebody asks for a file. */
void recorder_ask(struct recorder *recorder);

/* Ends the event loop, when what is to be written is written. */
void recorder_end(struct recorder *recorder);

#endif
