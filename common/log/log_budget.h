// SPDX-License-Identifier: MIT
/**
 * How many lines may be written into the log of what others bring about as often as they like.
 * Pure: time comes from the caller.
 */
#ifndef GID_LOG_BUDGET_H
#define GID_LOG_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* So many lines at once, and one more whenever this time has passed. */
struct log_rate {
	unsigned lines;
	uint64_t line_ns;
};

/* Of what one stream or one canvas does. */
#define LOG_SELDOM ((struct log_rate){.lines = 20, .line_ns = UINT64_C(2000000000)})

/* All zero: nothing was written so far. */
struct log_budget {
	uint64_t spent_until; /* CLOCK_MONOTONIC ns: when all lines written are paid for */
	uint64_t left_out;    /* lines, since the last one that was written */
};

/* Whether a line may be written now. `left_out` is the caller's to tell and to set to 0. */
bool log_budget_take(struct log_budget *budget, struct log_rate rate, uint64_t now);

#endif
