// SPDX-License-Identifier: MIT
#include "history.h"

#include <stdlib.h>
#include <string.h>

void history_transition(struct history *history, const struct transition *transition) {
	history->transitions[history->transition_count++ % HISTORY_TRANSITIONS] = *transition;
}

struct transition *history_get(struct history *history, uint64_t index) {
	if (index >= history->transition_count ||
		history->transition_count - index > HISTORY_TRANSITIONS) {
		return NULL;
	}
	return &history->transitions[index % HISTORY_TRANSITIONS];
}

void history_shown(struct history *history, uint64_t when) {
	for (uint64_t i = history->transition_count; i > 0; i--) {
		struct transition *transition = history_get(history, i - 1);
		if (transition == NULL || transition->shown != 0) {
			return;
		}
		transition->shown = when;
	}
}

void history_latency(struct history *history, uint64_t ns) {
	history->latencies[history->latency_count++ % HISTORY_LATENCIES] = ns;
}

static int latency_compare(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

uint64_t history_percentile(const struct history *history, unsigned percent) {
	uint64_t sorted[HISTORY_LATENCIES];
	size_t count = history->latency_count < HISTORY_LATENCIES ? history->latency_count
								  : HISTORY_LATENCIES;
	if (count == 0) {
		return 0;
	}
	memcpy(sorted, history->latencies, count * sizeof(sorted[0]));
	qsort(sorted, count, sizeof(sorted[0]), latency_compare);
	return sorted[(count - 1) * percent / 100];
}
