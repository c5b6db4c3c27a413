// SPDX-License-Identifier: MIT
#include "history.h"

void history_resume(struct history *history, uint64_t transition_count) {
	history->transition_count = history->forgotten = transition_count;
}

void history_transition(struct history *history, const struct transition *transition) {
	history->transitions[history->transition_count++ % HISTORY_TRANSITIONS] = *transition;
}

struct transition *history_get(struct history *history, uint64_t index) {
	if (index < history->forgotten || index >= history->transition_count ||
			history->transition_count - index > HISTORY_TRANSITIONS) {
		return NULL;
	}
	return &history->transitions[index % HISTORY_TRANSITIONS];
}

void history_shown(struct history *history, uint64_t when) {
	bool is_fallback = true;
	for (uint64_t i = history->transition_count; i > 0; i--) {
		struct transition *transition = history_get(history, i - 1);
		if (transition == NULL || transition->shown != 0) {
			return;
		}
		transition->shown = when;
		is_fallback = is_fallback && transition->to != ROLE_LIVE;
		uint64_t passed = when > transition->due ? when - transition->due : 0;
		if (is_fallback && transition->from == ROLE_LIVE &&
				passed > history->fallback_max_ns) {
			history->fallback_max_ns = passed;
		}
	}
}
