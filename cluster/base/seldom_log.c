// SPDX-License-Identifier: MIT
#include "seldom_log.h"

#include <inttypes.h>

bool seldom_log_may(struct log_budget *budget, enum wlr_log_importance importance, const char *kind,
		const char *name, uint64_t now) {
	if (!log_budget_take(budget, LOG_SELDOM, now)) {
		return false;
	}
	if (budget->left_out > 0) {
		wlr_log(importance, "%s %s: %" PRIu64 " changes were too many to be logged", kind,
				name, budget->left_out);
		budget->left_out = 0;
	}
	return true;
}
