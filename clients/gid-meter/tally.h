// SPDX-License-Identifier: MIT
/** Counts events, and how evenly they came. */
#ifndef METER_TALLY_H
#define METER_TALLY_H

#include "../common/histogram.h"

struct tally {
	uint64_t count, first, last; /* times in ns */
	struct histogram intervals;
};

/* Adds an event, at a time (ns) that is not before the last one's. */
void tally_add(struct tally *tally, uint64_t time);

/* The time from the first to the last, in s. */
double tally_seconds(const struct tally *tally);
/* Events a second. */
double tally_rate(const struct tally *tally);

#endif
