// SPDX-License-Identifier: MIT
/** How many of something there were, and how evenly they came. */
#ifndef METER_TALLY_H
#define METER_TALLY_H

#include "../common/histogram.h"

struct tally {
	uint64_t count, first, last; /* times in ns */
	struct histogram intervals;
};

/* Another one, at a time that is not before the last one's. */
void tally_add(struct tally *tally, uint64_t time);

/* From the first to the last. */
double tally_seconds(const struct tally *tally);
/* How many a second. */
double tally_rate(const struct tally *tally);

#endif
