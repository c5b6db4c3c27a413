// SPDX-License-Identifier: MIT
#include "log_budget.h"

#define LINES 20u
#define LINE_NS UINT64_C(2000000000)

bool log_budget_take(struct log_budget *budget, uint64_t now) {
	uint64_t begin = budget->spent_until > now ? budget->spent_until : now;
	if (begin - now > (LINES - 1) * LINE_NS) {
		budget->left_out++;
		return false;
	}
	budget->spent_until = begin + LINE_NS;
	return true;
}
