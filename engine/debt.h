// SPDX-License-Identifier: MIT
/**
 * What the work on a canvas costs of the pixels per second that it may have: work is done at once,
 * and paid for later. Pure: the caller says what time it is.
 */
#ifndef ENGINE_DEBT_H
#define ENGINE_DEBT_H

#include <stdint.h>

/* ns: the most that one list can cost. However slow the rate is, no time computed here overflows.
 */
#define DEBT_MOST (365ull * 24 * 3600 * 1000000000)

struct debt {
	uint64_t rate;	     /* pixels per second; 0: work costs nothing */
	uint64_t paid_until; /* CLOCK_MONOTONIC ns: when the work so far is within its rate; 0:
				nothing was ever owed */
};

/* Work of so many pixels was done. */
void debt_add(struct debt *debt, uint64_t pixels, uint64_t now);

/* For how many ns from `now` on nothing new may begin: 0 within the first 100 ms of work. */
uint64_t debt_owed(const struct debt *debt, uint64_t now);

/* Such a time as poll() takes it, and never one that ends early: but a day at most, or -1 for 0. */
int debt_timeout_ms(uint64_t owed);

#endif
