// SPDX-License-Identifier: MIT
/**
 * How far another machine's CLOCK_MONOTONIC is from ours, by questions and answers: the other clock
 * was read at some time between ours of the question and of the answer, so half of what lies
 * between is the error (Cristian, "Probabilistic clock synchronization", 1989). The best of the
 * last answers counts; as clocks drift, an older one counts as less exact. Pure.
 */
#ifndef GIDD_PEER_CLOCK_H
#define GIDD_PEER_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_CLOCK_SAMPLES 16u
/* Two crystals of 100 parts in a million each, in opposite directions. */
#define PEER_CLOCK_DRIFT_PPM 200u

struct peer_clock_sample {
	int64_t offset; /* to be added to the other clock's time */
	uint64_t error; /* at most that far off, when it was made */
	uint64_t made;	/* by our clock */
};

struct peer_clock {
	struct peer_clock_sample samples[PEER_CLOCK_SAMPLES];
	uint32_t count; /* ever */
};

/*
 * Asked at `asked`, answered at `now`, both by our clock, with the other one at `theirs`; all in ns
 * and below 2^63. An answer from before its question is none, and ignored.
 */
void peer_clock_add(struct peer_clock *clock, uint64_t asked, uint64_t now, uint64_t theirs);

/* The offset and its error now. False: nothing is known. */
bool peer_clock_get(const struct peer_clock *clock, uint64_t now, int64_t *offset, uint64_t *error);

#endif
