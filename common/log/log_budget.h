// SPDX-License-Identifier: MIT
/**
 * Limits how many lines are logged about events that others can cause as often as they like. Pure:
 * time comes from the caller.
 */
#ifndef GID_LOG_BUDGET_H
#define GID_LOG_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* A token bucket: so many lines at once, and one more each time that this time has passed. */
struct log_rate {
	unsigned lines;
	uint64_t line_ns;
};

/* For what one stream or one canvas does. */
#define LOG_SELDOM ((struct log_rate){.lines = 20, .line_ns = UINT64_C(2000000000)})

/* All zero: nothing was written so far. */
struct log_budget {
	uint64_t spent_until; /* CLOCK_MONOTONIC ns: when the bucket is full again */
	uint64_t left_out;    /* lines, since the last one that was written */
};

/* Whether a line may be written now. The caller reports `left_out`, and sets it to 0. */
bool log_budget_take(struct log_budget *budget, struct log_rate rate, uint64_t now);

#endif
