// SPDX-License-Identifier: MIT
#include "histogram.h"

/* Values below 64 have a bucket each; above, the bucket is the exponent and 5 bits of the value. */
static uint32_t bucket_of(uint64_t us) {
	if (us < 64) {
		return (uint32_t)us;
	}
	uint32_t exponent = 63 - (uint32_t)__builtin_clzll(us);
	uint32_t bucket = (exponent - 5) * 32 + (uint32_t)(us >> (exponent - 5));
	return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

uint64_t histogram_bucket_end(uint32_t bucket) {
	if (bucket < 64) {
		return bucket + 1;
	}
	uint32_t shift = bucket / 32 - 1;
	return (uint64_t)(bucket % 32 + 32 + 1) << shift;
}

void histogram_add(struct histogram *histogram, uint64_t us) {
	histogram->counts[bucket_of(us)]++;
	histogram->count++;
	histogram->sum += us;
	histogram->max = us > histogram->max ? us : histogram->max;
}

double histogram_percentile(const struct histogram *histogram, double percent) {
	uint64_t seen = 0;
	double wanted = (double)histogram->count * percent / 100;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && histogram->count > 0; i++) {
		seen += histogram->counts[i];
		if (histogram->counts[i] > 0 && (double)seen >= wanted) {
			double end = (double)histogram_bucket_end(i);
			return end < (double)histogram->max ? end : (double)histogram->max;
		}
	}
	return 0;
}
