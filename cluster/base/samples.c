// SPDX-License-Identifier: MIT
#include "samples.h"

#include <stdlib.h>
#include <string.h>

void samples_add(struct samples *samples, uint64_t value) {
	samples->values[samples->count++ % SAMPLES] = value;
}

uint64_t samples_largest(const struct samples *samples, uint64_t last) {
	uint64_t largest = 0;
	for (uint64_t i = 1; i <= last && i <= samples->count && i <= SAMPLES; i++) {
		uint64_t value = samples->values[(samples->count - i) % SAMPLES];
		largest = value > largest ? value : largest;
	}
	return largest;
}

static int compare(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

struct spread samples_spread(const struct samples *samples) {
	uint64_t sorted[SAMPLES];
	size_t count = samples->count < SAMPLES ? samples->count : SAMPLES;
	if (count == 0) {
		return (struct spread){0};
	}
	memcpy(sorted, samples->values, count * sizeof(sorted[0]));
	qsort(sorted, count, sizeof(sorted[0]), compare);
	return (struct spread){sorted[(count - 1) * 50 / 100], sorted[(count - 1) * 99 / 100],
			sorted[count - 1]};
}
