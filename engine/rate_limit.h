// SPDX-License-Identifier: MIT
/**
 * Limits a canvas to so many pixels per second: work is done at once, and delays what comes after
 * it. Pure: the caller says what time it is.
 */
#ifndef ENGINE_RATE_LIMIT_H
#define ENGINE_RATE_LIMIT_H

#include <stdint.h>

/* ns: the most that one list can cost, so that no time overflows, however slow the rate is. */
#define RATE_LIMIT_COST_MAX (365ull * 24 * 3600 * 1000000000)

struct rate_limit {
	uint64_t rate;	     /* pixels per second; 0: work costs nothing */
	uint64_t paid_until; /* CLOCK_MONOTONIC ns: when the work so far is within its rate; 0:
				there was none */
};

/* Work of so many pixels was done. */
void rate_limit_charge(struct rate_limit *limit, uint64_t pixels, uint64_t now);

/* For how many ns from `now` on no work may begin: 0 within the first 100 ms of work. */
uint64_t rate_limit_delay_ns(const struct rate_limit *limit, uint64_t now);

/* Converts a delay to a timeout for poll(), rounded up, at most a day; -1 for 0: none. */
int rate_limit_timeout_ms(uint64_t delay_ns);

#endif
