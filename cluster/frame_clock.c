// SPDX-License-Identifier: MIT
#include "frame_clock.h"

#define LONGEST_NS UINT64_C(1000000000)
#define ENOUGH 3 /* a modeset may be shown between two refreshes of any device */

bool frame_clock_shown(struct frame_clock *clock, uint64_t when, uint64_t refresh_ns) {
	bool close = clock->shown != 0 && when - clock->shown < refresh_ns / 4 * 3;
	clock->shown = when;
	clock->close = close ? clock->close + 1 : 0;
	if (clock->own_time || clock->close < ENOUGH) {
		return false;
	}
	clock->own_time = true;
	return true;
}

uint64_t frame_clock_wait(const struct frame_clock *clock, uint64_t now) {
	return clock->own_time && clock->next > now ? clock->next - now : 0;
}

void frame_clock_take(struct frame_clock *clock, uint64_t now, uint64_t refresh_ns) {
	/* In step with the frame before, so that late timers do not add up. */
	bool in_step = now >= clock->next && now - clock->next < refresh_ns;
	clock->next = (in_step ? clock->next : now) + refresh_ns;
	clock->refused = 0;
}

uint64_t frame_clock_refused(struct frame_clock *clock, uint64_t refresh_ns) {
	clock->refused++;
	uint64_t most = LONGEST_NS / refresh_ns + 1;
	uint64_t wait = (clock->refused < most ? clock->refused : most) * refresh_ns;
	return wait < LONGEST_NS ? wait : LONGEST_NS;
}
