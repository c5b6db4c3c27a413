// SPDX-License-Identifier: MIT
#include "peer_clock.h"

void peer_clock_add(struct peer_clock *clock, uint64_t asked, uint64_t now, uint64_t theirs) {
	if (asked > now || now > INT64_MAX || theirs > INT64_MAX) {
		return;
	}
	uint64_t error = (now - asked + 1) / 2;
	clock->samples[clock->count++ % PEER_CLOCK_SAMPLES] = (struct peer_clock_sample){
			.offset = (int64_t)(asked + (now - asked) / 2) - (int64_t)theirs,
			.error = error,
			.made = now,
	};
	if (clock->count == 2 * PEER_CLOCK_SAMPLES) {
		clock->count = PEER_CLOCK_SAMPLES; /* stays at the same place, and never wraps */
	}
}

static uint64_t error_now(const struct peer_clock_sample *sample, uint64_t now) {
	uint64_t age = now > sample->made ? now - sample->made : 0;
	return sample->error + age / 1000000 * PEER_CLOCK_DRIFT_PPM;
}

bool peer_clock_get(
		const struct peer_clock *clock, uint64_t now, int64_t *offset, uint64_t *error) {
	uint32_t count = clock->count < PEER_CLOCK_SAMPLES ? clock->count : PEER_CLOCK_SAMPLES;
	const struct peer_clock_sample *best = NULL;
	for (uint32_t i = 0; i < count; i++) {
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
