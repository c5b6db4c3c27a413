// SPDX-License-Identifier: MIT
#include "debt.h"

#define MS 1000000ull
#define BURST_NS (100 * MS) /* of work that is done before it is paid for */
#define DAY_MS (24ull * 3600 * 1000)

void debt_add(struct debt *debt, uint64_t pixels, uint64_t now) {
	if (debt->rate == 0) {
		return;
	}
	const double ns = (double)pixels * 1e9 / (double)debt->rate;
	debt->paid_until = debt->paid_until > now ? debt->paid_until : now;
	debt->paid_until += ns < (double)DEBT_MOST ? (uint64_t)ns : DEBT_MOST;
}

uint64_t debt_owed(const struct debt *debt, uint64_t now) {
	return debt->paid_until > now + BURST_NS ? debt->paid_until - now - BURST_NS : 0;
}

int debt_timeout_ms(uint64_t owed) {
	const uint64_t ms = owed / MS + 1;
	if (owed == 0) {
		return -1;
	}
	return (int)(ms < DAY_MS ? ms : DAY_MS);
}
