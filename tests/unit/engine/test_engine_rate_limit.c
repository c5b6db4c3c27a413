// SPDX-License-Identifier: MIT
/* Work on a canvas is paid for at its rate, also at rates that nobody would choose. */
#include "rate_limit.h"

#include <limits.h>

#include "tap.h"

#define MS 1000000ull
#define S 1000000000ull
#define NOW (1000 * S)
#define FULL (65535ull * 65535) /* the pixels of the largest canvas */

static void test_usual(void) {
	struct rate_limit limit = {.rate = 0};
	rate_limit_charge(&limit, FULL, NOW);
	tap_ok(rate_limit_delay_ns(&limit, NOW) == 0, "without a rate nothing is delayed");
	tap_ok(rate_limit_timeout_ms(0) == -1, "and poll() waits for something to do");

	limit.rate = 1000000;
	rate_limit_charge(&limit, 100000, NOW);
	tap_ok(rate_limit_delay_ns(&limit, NOW) == 0, "the first 100 ms of work are free");
	rate_limit_charge(&limit, 50000, NOW);
	tap_ok(rate_limit_delay_ns(&limit, NOW) == 50 * MS, "work beyond that causes a delay");
	tap_ok(rate_limit_delay_ns(&limit, NOW + 20 * MS) == 30 * MS,
			"and less of it as time goes on");
	tap_ok(rate_limit_timeout_ms(30 * MS) == 31 && rate_limit_timeout_ms(1) == 1,
			"poll() does not end early");
	tap_ok(rate_limit_delay_ns(&limit, NOW + S) == 0, "until it is paid");
	rate_limit_charge(&limit, 200000, NOW + 10 * S);
	tap_ok(rate_limit_delay_ns(&limit, NOW + 10 * S) == 100 * MS,
			"a pause is not credit for later");
}

/* One pixel per second: each list costs more time than an int has milliseconds, or a uint64_t ns.
 */
static void test_slowest(void) {
	struct rate_limit limit = {.rate = 1};
	rate_limit_charge(&limit, 4000000, NOW);
	uint64_t delay_ns = rate_limit_delay_ns(&limit, NOW);
	tap_ok(delay_ns == 4000000 * S - 100 * MS, "a delay of 46 days is not cut");
	tap_ok(delay_ns / MS > INT_MAX && rate_limit_timeout_ms(delay_ns) > 0,
			"and poll() waits for a time that ends");
	limit.paid_until = 0;
	uint64_t last = 0;
	bool grows = true;
	for (int i = 0; i < 50; i++) {
		rate_limit_charge(&limit, UINT64_MAX, NOW);
		delay_ns = rate_limit_delay_ns(&limit, NOW);
		grows &= delay_ns > last && rate_limit_timeout_ms(delay_ns) > 0;
		last = delay_ns;
	}
	tap_ok(grows, "more work never makes a delay shorter");
	tap_ok(rate_limit_timeout_ms(UINT64_MAX) > 0, "whatever it is");
}

int main(void) {
	test_usual();
	test_slowest();
	return tap_finish();
}
