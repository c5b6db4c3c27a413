// SPDX-License-Identifier: MIT
/* Work on a canvas is paid for at its rate, also at rates that nobody would choose. */
#include "debt.h"

#include <limits.h>

#include "tap.h"

#define MS 1000000ull
#define S 1000000000ull
#define NOW (1000 * S)
#define FULL (65535ull * 65535) /* the pixels of the largest canvas */

static void test_usual(void) {
	struct debt debt = {.rate = 0};
	debt_add(&debt, FULL, NOW);
	tap_ok(debt_owed(&debt, NOW) == 0, "without a rate nothing is owed");
	tap_ok(debt_timeout_ms(0) == -1, "and poll() waits for something to do");

	debt.rate = 1000000;
	debt_add(&debt, 100000, NOW);
	tap_ok(debt_owed(&debt, NOW) == 0, "the first 100 ms of work are free");
	debt_add(&debt, 50000, NOW);
	tap_ok(debt_owed(&debt, NOW) == 50 * MS, "what is more is owed");
	tap_ok(debt_owed(&debt, NOW + 20 * MS) == 30 * MS, "and less of it as time goes on");
	tap_ok(debt_timeout_ms(30 * MS) == 31 && debt_timeout_ms(1) == 1,
			"poll() does not end early");
	tap_ok(debt_owed(&debt, NOW + S) == 0, "until it is paid");
	debt_add(&debt, 200000, NOW + 10 * S);
	tap_ok(debt_owed(&debt, NOW + 10 * S) == 100 * MS, "a pause is not credit for later");
}

/* One pixel per second: each list costs more time than an int has milliseconds, or a uint64_t ns.
 */
static void test_slowest(void) {
	struct debt debt = {.rate = 1};
	debt_add(&debt, 4000000, NOW);
	uint64_t owed = debt_owed(&debt, NOW);
	tap_ok(owed == 4000000 * S - 100 * MS, "46 days are owed as such");
	tap_ok(owed / MS > INT_MAX && debt_timeout_ms(owed) > 0,
			"and poll() waits for a time that ends");
	debt.paid_until = 0;
	uint64_t last = 0;
	bool grows = true;
	for (int i = 0; i < 50; i++) {
		debt_add(&debt, UINT64_MAX, NOW);
		owed = debt_owed(&debt, NOW);
		grows &= owed > last && debt_timeout_ms(owed) > 0;
		last = owed;
	}
	tap_ok(grows, "what is owed never becomes less by more work");
	tap_ok(debt_timeout_ms(UINT64_MAX) > 0, "whatever it is");
}

int main(void) {
	test_usual();
	test_slowest();
	return tap_finish();
}
