// SPDX-License-Identifier: MIT
#include "owed_frame.h"

void owed_frame_given(struct owed_frame *owed) {
	owed->owes = true;
}

void owed_frame_shown(struct owed_frame *owed) {
	owed->has_shown = true;
	owed->owes = false;
}

bool owed_frame_is_overdue(struct owed_frame *owed, bool is_expected, uint64_t passed) {
	if (!is_expected || !owed->has_shown || !owed->owes) {
		owed->for_ns = 0;
		return false;
	}
	owed->for_ns += passed;
	return owed->for_ns > OWED_FRAME_NS;
}
