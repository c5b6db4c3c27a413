// SPDX-License-Identifier: MIT
/* The histogram's buckets are seamless, narrow and bounded; its percentiles right to a bucket. */
#include "common/histogram.h"

#include <string.h>

#include "tap.h"

/* Whether a bucket holds exactly the times from the end of the one before to before its own. */
static bool holds(uint32_t bucket, uint64_t begin, uint64_t end) {
	static struct histogram histogram;
	memset(&histogram, 0, sizeof(histogram));
	histogram_add(&histogram, begin);
	histogram_add(&histogram, end - 1);
	return histogram.counts[bucket] == 2;
}

static void test_buckets(void) {
	uint64_t begin = 0;
	bool seamless = true, narrow = true;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t end = histogram_bucket_end(i);
		seamless = seamless && end > begin && holds(i, begin, end);
		narrow = narrow && (i < 64 || (end - begin) * 32 <= begin);
		begin = end;
	}
	tap_ok(seamless, "each time has one bucket, and buckets follow one another");
	tap_ok(narrow, "no bucket is wider than 1/32 of its times");
	tap_ok(begin == 1ull << 36, "the last bucket ends at 2^36 us");
	tap_ok(holds(HISTOGRAM_BUCKETS - 1, begin, UINT64_MAX),
			"times past the end go into the last");
}

static void test_percentiles(void) {
	static struct histogram histogram;
	tap_ok(histogram_percentile(&histogram, 50) == 0, "without times, every percentile is 0");
	for (uint64_t us = 1; us <= 10000; us++) {
		histogram_add(&histogram, us);
	}
	double p50 = histogram_percentile(&histogram, 50),
	       p99 = histogram_percentile(&histogram, 99);
	tap_ok(p50 >= 5000 && p50 <= 5000 * 33. / 32, "the median of 1 to 10000 is 5000, not %f",
			p50);
	tap_ok(p99 >= 9900 && p99 <= 10000, "p99 of 1 to 10000 is 9900, not %f", p99);
	tap_ok(histogram_percentile(&histogram, 100) == 10000, "p100 is the greatest, exactly");
	tap_ok(histogram.max == 10000 && histogram.count == 10000 && histogram.sum == 50005000,
			"greatest, count and sum are exact");
}

int main(void) {
	test_buckets();
	test_percentiles();
	return tap_finish();
}
