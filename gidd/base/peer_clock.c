// SPDX-License-Identifier: MIT
#include "peer_clock.h"

#define SLACK 1000u /* ns, for rounding of the drift */

static uint64_t error_now(const struct peer_clock_sample *sample, uint64_t now) {
	uint64_t age = now > sample->made ? now - sample->made : 0;
	return sample->error + age / 1000000 * PEER_CLOCK_DRIFT_PPM;
}

static uint32_t count_samples(const struct peer_clock *clock) {
	return clock->count < PEER_CLOCK_SAMPLES ? clock->count : PEER_CLOCK_SAMPLES;
}

/*
 * Whether the offset changed by more than drift explains: a clock was set, or stopped with its
 * machine.
 */
static bool has_jumped(const struct peer_clock *clock, const struct peer_clock_sample *fresh) {
	for (uint32_t i = 0; i < count_samples(clock); i++) {
		const struct peer_clock_sample *old = &clock->samples[i];
		uint64_t apart = old->offset > fresh->offset
				? (uint64_t)old->offset - (uint64_t)fresh->offset
				: (uint64_t)fresh->offset - (uint64_t)old->offset;
		if (apart > error_now(old, fresh->made) + fresh->error + SLACK) {
			return true;
		}
	}
	return false;
}

void peer_clock_add(struct peer_clock *clock, uint64_t asked, uint64_t now, uint64_t theirs) {
	if (asked > now || now > INT64_MAX || theirs > INT64_MAX) {
		return;
	}
	struct peer_clock_sample sample = {
			.offset = (int64_t)(asked + (now - asked) / 2) - (int64_t)theirs,
			.error = (now - asked + 1) / 2,
			.made = now,
	};
	if (has_jumped(clock, &sample)) {
		clock->count = 0; /* older samples describe another clock */
	}
	clock->samples[clock->count++ % PEER_CLOCK_SAMPLES] = sample;
	if (clock->count == 2 * PEER_CLOCK_SAMPLES) {
		clock->count = PEER_CLOCK_SAMPLES; /* keeps the same slot, and never overflows */
	}
}

bool peer_clock_get(
		const struct peer_clock *clock, uint64_t now, int64_t *offset, uint64_t *error) {
	const struct peer_clock_sample *best = NULL;
	for (uint32_t i = 0; i < count_samples(clock); i++) {
		const struct peer_clock_sample *sample = &clock->samples[i];
		if (best == NULL || error_now(sample, now) < error_now(best, now)) {
			best = sample;
		}
	}
	if (best == NULL) {
		return false;
	}
	*offset = best->offset;
	*error = error_now(best, now);
	return true;
}
