// SPDX-License-Identifier: MIT
/*
 * A histogram of times, in bounded memory: each power of two is divided into 32 equal buckets, so
 * that a percentile is right to 3 % (the bucketing of HdrHistogram). The greatest is exact.
 */
#ifndef CLIENTS_HISTOGRAM_H
#define CLIENTS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS 1024 // up to 2^36 µs

struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS];
	uint64_t count, sum, max; // sum and max in µs
};

void histogram_add(struct histogram *histogram, uint64_t us);

/* The least value above this bucket. */
uint64_t histogram_bucket_end(uint32_t bucket);

/* The value, in µs, that `percent` (0..100) of all do not exceed; 0 where there are none. */
double histogram_percentile(const struct histogram *histogram, double percent);

#endif
