// SPDX-License-Identifier: MIT
#include "log_budget.h"

bool log_budget_take(struct log_budget *budget, struct log_rate rate, uint64_t now) {
	uint64_t begin = budget->spent_until > now ? budget->spent_until : now;
	if (begin - now > (rate.lines - 1) * rate.line_ns) {
		budget->left_out++;
		return false;
	}
	budget->spent_until = begin + rate.line_ns;
	return true;
}
