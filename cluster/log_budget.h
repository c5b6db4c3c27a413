// SPDX-License-Identifier: MIT
/**
 * How many lines may be written into the log of what others bring about as often as they like: 20
 * at once, and one more every two seconds. Pure: time comes from the caller.
 */
#ifndef CLUSTER_LOG_BUDGET_H
#define CLUSTER_LOG_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing was written so far. */
struct log_budget {
	uint64_t spent_until; /* CLOCK_MONOTONIC ns: when all lines written are paid for */
	uint64_t left_out;    /* lines, since the last one that was written */
};

/* Whether a line may be written now. `left_out` is the caller's to tell and to set to 0. */
bool log_budget_take(struct log_budget *budget, uint64_t now);

#endif
