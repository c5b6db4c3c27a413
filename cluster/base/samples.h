// SPDX-License-Identifier: MIT
/** The last values of something that is measured again and again, and how they are spread. */
#ifndef CLUSTER_SAMPLES_H
#define CLUSTER_SAMPLES_H

#include <stdint.h>

#define SAMPLES 1024

struct samples {
	uint64_t values[SAMPLES]; /* a ring */
	uint64_t count;		  /* of all that ever were */
};

void samples_add(struct samples *samples, uint64_t value);

/* The largest of the last so many, as far as they are known. */
uint64_t samples_largest(const struct samples *samples, uint64_t last);

/* The value that `percent` of the last ones did not exceed; 0: there was none. */
uint64_t samples_percentile(const struct samples *samples, unsigned percent);

#endif
