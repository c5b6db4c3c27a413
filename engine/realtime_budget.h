// SPDX-License-Identifier: MIT
/**
 * The processor time for which the thread of a canvas has a real-time priority. The configuration
 * gives it to some: half of each 10 ms, so that a program that makes its canvas work without end
 * takes no other canvas's share of the processor.
 */
#ifndef ENGINE_REALTIME_BUDGET_H
#define ENGINE_REALTIME_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct realtime_budget {
	bool enabled;
	bool is_realtime;      /* now */
	uint64_t window_start; /* CLOCK_MONOTONIC ns: of these 10 ms */
	uint64_t used_ns;      /* of a processor, by the thread, at the last update with priority */
	uint64_t charged_ns; /* of a processor with the priority, in this window or too much before
			      */
	uint64_t yield_time; /* CLOCK_MONOTONIC ns: when it last yielded */
};

/*
 * For the calling thread, which need not have the scheduling class of who started it. Returns 0, or
 * -errno if the priority cannot be had: then the budget is not enabled.
 */
int realtime_budget_init(struct realtime_budget *budget, bool enabled);

/* Charges work of helpers for this thread, ns. */
void realtime_budget_charge(struct realtime_budget *budget, uint64_t ns);

/*
 * By the same thread, between two parts of its work of about a millisecond each: yields to others
 * of the same priority, and gives up the priority, or takes it again, when that is due.
 */
void realtime_budget_update(struct realtime_budget *budget);

#endif
