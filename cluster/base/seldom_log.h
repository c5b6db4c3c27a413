// SPDX-License-Identifier: MIT
/** Log lines about events that others can cause as often as they like. */
#ifndef CLUSTER_SELDOM_LOG_H
#define CLUSTER_SELDOM_LOG_H

#include <stdbool.h>
#include <wlr/util/log.h>

#include "log_budget.h"

/*
 * Whether a line about this `kind` ("role", "layer") of this name may be logged at `now`, in ns of
 * CLOCK_MONOTONIC. Logs first how many before it were not.
 */
bool seldom_log_may(struct log_budget *budget, enum wlr_log_importance importance, const char *kind,
		const char *name, uint64_t now);

#endif
