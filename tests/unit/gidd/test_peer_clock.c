// SPDX-License-Identifier: MIT
/* The estimate of another machine's clock, against clocks that are known exactly. */
#include "peer_clock.h"

#include <stdlib.h>

#include "tap.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

static uint64_t distance(int64_t one, int64_t other) {
	return one > other ? (uint64_t)one - (uint64_t)other : (uint64_t)other - (uint64_t)one;
}

/* Ways there and back of any length, other clocks of any offset and drift: never outside the bound.
 */
static void test_bound(int64_t ahead, int64_t drift_ppm) {
	struct peer_clock clock = {0};
	bool inside = true;
	uint64_t worst = 0, now = 100 * SECOND;
	srand(7);
	for (int i = 0; i < 5000; i++) {
		uint64_t asked = now, there = (uint64_t)rand() % (3 * MS),
			 back = (uint64_t)rand() % (3 * MS);
		int64_t drifted = (int64_t)((asked + there) / 1000000) * drift_ppm;
		uint64_t theirs = (uint64_t)((int64_t)(asked + there) + ahead + drifted);
		now = asked + there + back;
		peer_clock_add(&clock, asked, now, theirs);
		now += (uint64_t)rand() % SECOND;
		int64_t offset, truth = -(ahead + (int64_t)(now / 1000000) * drift_ppm);
		uint64_t error;
		inside &= peer_clock_get(&clock, now, &offset, &error);
		/* The clocks themselves are made with whole microseconds of drift. */
		inside &= distance(offset, truth) <= error + 1000;
		worst = error > worst && i > 16 ? error : worst;
	}
	tap_ok(inside, "a clock %lld s ahead, %lld ppm fast, is within the bound (at most %.3f ms)",
			(long long)(ahead / (int64_t)SECOND), (long long)drift_ppm,
			(double)worst / 1e6);
	tap_ok(worst < 6 * MS, "which is better than the slowest answer makes it");
}

static void test_edges(void) {
	struct peer_clock clock = {0};
	int64_t offset;
	uint64_t error;
	tap_ok(!peer_clock_get(&clock, 1, &offset, &error),
			"nothing is known before the first answer");
	peer_clock_add(&clock, 10, 9, 5);
	peer_clock_add(&clock, 10, UINT64_MAX, 5);
	peer_clock_add(&clock, 10, 11, UINT64_MAX);
	tap_ok(!peer_clock_get(&clock, 1, &offset, &error), "nor from answers that cannot be");
	peer_clock_add(&clock, 100, 200, 1000);
	tap_ok(peer_clock_get(&clock, 200, &offset, &error) && offset == 150 - 1000 && error == 50,
			"half of what lies between is the error");
	peer_clock_add(&clock, 300, 310, 1155);
	tap_ok(peer_clock_get(&clock, 310, &offset, &error) && offset == 305 - 1155 && error == 5,
			"the fastest answer counts");
	peer_clock_add(&clock, 1000 * SECOND, 1000 * SECOND + 200, INT64_MAX);
	tap_ok(peer_clock_get(&clock, 1000 * SECOND + 200, &offset, &error) && error == 100,
			"but not for ever");
	tap_ok(peer_clock_get(&clock, 0, &offset, &error), "a clock that goes back breaks nothing");
	for (uint32_t i = 0; i < 100000; i++) {
		peer_clock_add(&clock, i, i + 1, i);
	}
	tap_ok(clock.count < 2 * PEER_CLOCK_SAMPLES, "the count does not run over");
}

/* As of a machine that is stopped for a while, just as it was asked. */
static void test_jump(int64_t jump) {
	struct peer_clock clock = {0};
	uint64_t error, now = 100 * SECOND, there = 50 * SECOND;
	int64_t offset;
	for (int i = 0; i < 20; i++, now += SECOND, there += SECOND) {
		peer_clock_add(&clock, now, now + MS / 10, there);
	}
	peer_clock_add(&clock, now, now + 6 * SECOND, there);
	now += 6 * SECOND;
	there = (uint64_t)((int64_t)there + (int64_t)(6 * SECOND) + jump);
	peer_clock_add(&clock, now, now + MS, there);
	int64_t truth = (int64_t)now - (int64_t)there;
	tap_ok(peer_clock_get(&clock, now, &offset, &error) && distance(offset, truth) <= error &&
					error < 2 * MS,
			"a jump of %lld s is known with the next answer",
			(long long)(jump / (int64_t)SECOND));
}

int main(void) {
	test_edges();
	test_jump(5 * (int64_t)SECOND);
	test_jump(-5 * (int64_t)SECOND);
	test_bound(0, 0);
	test_bound(5 * 3600 * (int64_t)SECOND, 100);
	test_bound(-50 * (int64_t)SECOND, -100);
	return tap_finish();
}
