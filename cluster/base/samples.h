// SPDX-License-Identifier: MIT
/** The last values of a measurement, and their percentiles. */
#ifndef CLUSTER_SAMPLES_H
#define CLUSTER_SAMPLES_H

#include <stdint.h>

#define SAMPLES 1024

struct samples {
	uint64_t values[SAMPLES]; /* a ring */
	uint64_t count;		  /* of all that ever were */
};

void samples_add(struct samples *samples, uint64_t value);

/* The largest of the last `last` values, as far as there are so many. */
uint64_t samples_largest(const struct samples *samples, uint64_t last);

/* The values that 50 and 99 percent of the last ones did not exceed, and the largest; 0: none. */
struct spread {
	uint64_t p50, p99, most;
};
struct spread samples_spread(const struct samples *samples);

#endif
