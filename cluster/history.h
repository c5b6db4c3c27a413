// SPDX-License-Identifier: MIT
/** What happened to a role, for people and tests: its last transitions and how fast frames came. */
#ifndef CLUSTER_HISTORY_H
#define CLUSTER_HISTORY_H

#include "role.h"
#include "samples.h"

#define HISTORY_TRANSITIONS 64

struct transition {
	enum role_state from, to;
	enum role_reason reason;
	uint64_t due;	     /* CLOCK_MONOTONIC ns: when there was that reason for it */
	uint64_t decided;    /* not before, and later where we got no processor */
	uint64_t last_frame; /* when the last good frame before it came; 0: never */
	uint64_t shown;	     /* when the output showed what the state demands; 0: not yet */
};

struct history {
	struct transition transitions[HISTORY_TRANSITIONS]; /* a ring */
	uint64_t transition_count;
	uint64_t forgotten;	  /* the first so many were another process's */
	uint64_t fallback_max_ns; /* the longest from `due` to the fallback in place of frames */
	struct samples latency;	  /* from a frame's submission to its being on the output, in ns */
	struct samples capture_latency; /* the same from when its picture came to be, if told */
	uint64_t frames, shown_frames, refused_frames;
	uint64_t read_back, differed; /* how often what the device showed was compared; and was not
				       * what it was to be */
	uint64_t converted_frames;    /* of those shown: from another format */
};

/* There were so many transitions before this process. Nothing is known of them but that. */
void history_resume(struct history *history, uint64_t transition_count);

void history_transition(struct history *history, const struct transition *transition);

/* The `index`th transition from the first; NULL for one that is forgotten or did not happen. */
struct transition *history_get(struct history *history, uint64_t index);

/* The output shows what the states so far demand. */
void history_shown(struct history *history, uint64_t when);

#endif
