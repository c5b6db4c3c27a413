// SPDX-License-Identifier: MIT
#include "refreshes.h"

#define THOUSAND_SECONDS_NS UINT64_C(1000000000000)

void refreshes_init(struct refreshes *refreshes, uint64_t now, uint32_t mhz) {
	*refreshes = (struct refreshes){.start = now, .mhz = mhz};
}

/* Computed from the start, so that rounding errors do not add up. */
static uint64_t refreshes_time(const struct refreshes *refreshes, uint64_t number) {
	return refreshes->start + number / refreshes->mhz * THOUSAND_SECONDS_NS +
			number % refreshes->mhz * THOUSAND_SECONDS_NS / refreshes->mhz;
}

uint64_t refreshes_next(const struct refreshes *refreshes, uint64_t now) {
	if (now < refreshes->start) {
		return refreshes->start;
	}
	uint64_t passed = now - refreshes->start;
	uint64_t number = passed / THOUSAND_SECONDS_NS * refreshes->mhz +
			passed % THOUSAND_SECONDS_NS * refreshes->mhz / THOUSAND_SECONDS_NS;
	uint64_t next = refreshes_time(refreshes, number + 1);
	/* Rounding may have taken the refresh at `now` for the one before it. */
	return next > now ? next : refreshes_time(refreshes, number + 2);
}

uint64_t refreshes_give(struct refreshes *refreshes, uint64_t now) {
	refreshes->due = refreshes_next(refreshes, now);
	return refreshes->due;
}

uint64_t refreshes_take(struct refreshes *refreshes, uint64_t now) {
	if (refreshes->due == 0 || now < refreshes->due) {
		return 0;
	}
	uint64_t shown = refreshes->due;
	refreshes->due = 0;
	return shown;
}
