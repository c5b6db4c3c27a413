// SPDX-License-Identifier: MIT
#include "turns.h"

#define LONGEST_NS UINT64_C(1000000000)
#define ENOUGH 3 /* a modeset may be shown between two refreshes of any device */

bool turns_shown(struct turns *turns, uint64_t when, uint64_t refresh_ns) {
	bool close = turns->shown != 0 && when - turns->shown < refresh_ns / 4 * 3;
	turns->shown = when;
	turns->close = close ? turns->close + 1 : 0;
	if (turns->own_time || turns->close < ENOUGH) {
		return false;
	}
	turns->own_time = true;
	return true;
}

uint64_t turns_wait(const struct turns *turns, uint64_t now) {
	return turns->own_time && turns->next > now ? turns->next - now : 0;
}

void turns_take(struct turns *turns, uint64_t now, uint64_t refresh_ns) {
	/* In step with the turn before, so that late timers do not add up. */
	bool in_step = now >= turns->next && now - turns->next < refresh_ns;
	turns->next = (in_step ? turns->next : now) + refresh_ns;
	turns->refused = 0;
}

uint64_t turns_refused(struct turns *turns, uint64_t refresh_ns) {
	turns->refused++;
	uint64_t most = LONGEST_NS / refresh_ns + 1;
	uint64_t wait = (turns->refused < most ? turns->refused : most) * refresh_ns;
	return wait < LONGEST_NS ? wait : LONGEST_NS;
}
