// SPDX-License-Identifier: MIT
#include "rate_limit.h"

#define MS 1000000ull
#define BURST_NS (100 * MS) /* of work that is done before it is paid for */
#define DAY_MS (24ull * 3600 * 1000)

void rate_limit_charge(struct rate_limit *limit, uint64_t pixels, uint64_t now) {
	if (limit->rate == 0) {
		return;
	}
	const double ns = (double)pixels * 1e9 / (double)limit->rate;
	limit->paid_until = limit->paid_until > now ? limit->paid_until : now;
	limit->paid_until += ns < (double)RATE_LIMIT_COST_MAX ? (uint64_t)ns : RATE_LIMIT_COST_MAX;
}

uint64_t rate_limit_delay_ns(const struct rate_limit *limit, uint64_t now) {
	return limit->paid_until > now + BURST_NS ? limit->paid_until - now - BURST_NS : 0;
}

int rate_limit_timeout_ms(uint64_t delay_ns) {
	const uint64_t ms = delay_ns / MS + 1;
	if (delay_ns == 0) {
		return -1;
	}
	return (int)(ms < DAY_MS ? ms : DAY_MS);
}
