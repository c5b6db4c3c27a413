// SPDX-License-Identifier: MIT
/** What gid-recorder is asked for. */
#ifndef RECORDER_OPTIONS_H
#define RECORDER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDER_STREAMS_MAX 16u
#define RECORDER_TIMELINES_MAX 8u

struct recorder_stream {
	const char *owner; /* the domain whose stream it is; NULL: our own */
	const char *name;
};

struct recorder_options {
	const char *domain; /* that we run in; NULL: the only one */
	const char *status; /* the socket of gid-cluster; NULL: the usual one */
	const char *folder;
	const char *perfetto; /* a trace whose events come into the file, too; NULL: none */
	uint32_t seconds;     /* that are kept */
	uint32_t after;	      /* of these, after an incident */
	uint32_t rate;	      /* pictures a second, of each stream */
	uint32_t width;	      /* of the largest picture */
	uint32_t interval;    /* seconds from one file to the next */
	uint32_t keep;	      /* files */
	uint32_t limit;	      /* seconds that making a file may take */
	const char *on;	      /* states of roles, with commas between them */
	bool check;	      /* only say what memory it takes */
	struct recorder_stream streams[RECORDER_STREAMS_MAX];
	size_t stream_count;
	const char *timelines[RECORDER_TIMELINES_MAX];
	size_t timeline_count;
};

/* Ends the program where the words are wrong, or ask for help. Strings are those of `argv`. */
void recorder_options_parse(struct recorder_options *options, int argc, char **argv);

/* Whether a role's change to this state is an incident. */
bool recorder_options_has_state(const struct recorder_options *options, const char *state);

#endif
