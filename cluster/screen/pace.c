// SPDX-License-Identifier: MIT
#include "pace.h"

#define MS UINT64_C(1000000)
#define MISS_RATE 0.001
#define LONGEST_MS 1000 /* the policy takes it for the longest that there is */

void pace_init(struct pace *pace, bool on) {
	*pace = (struct pace){.on = on};
	gid_pacing_init(&pace->policy,
			&(struct gid_pacing_config){
					.miss_rate = MISS_RATE,
					.fallback_ms = LONGEST_MS,
			});
}

/* Chooses the refresh that the next frame is meant for, and when composing for it begins. */
static void pace_plan(struct pace *pace, uint64_t now, uint64_t refresh_ns) {
	uint64_t passed = now > pace->shown ? (now - pace->shown) / refresh_ns : 0;
	uint64_t due = pace->shown + (passed + 1) * refresh_ns;
	if (passed > 1) {
		gid_pacing_next(&pace->policy, NULL); /* after a pause */
	}
	uint64_t window_ns = (uint64_t)pace->policy.window_ms * MS;
	if (now + window_ns <= due) {
		pace->begin = due - window_ns;
	} else {
		/* At once, and where that is much too late for a refresh, for the one after it. */
		pace->begin = now;
		due += window_ns < refresh_ns && now + window_ns > due + MS ? refresh_ns : 0;
	}
	pace->frame = (struct gid_pacing_frame){
			.due_ns = (int64_t)due,
			.window_ms = (int32_t)((due - pace->begin) / MS),
			.arrival_ns = GID_PACING_NONE,
			.content_class = 1,
	};
}

uint64_t pace_delay(struct pace *pace, uint64_t now, uint64_t refresh_ns) {
	if (!pace->on || pace->shown == 0) {
		return 0;
	}
	if (pace->begin == 0) {
		pace_plan(pace, now, refresh_ns);
	}
	return pace->begin > now ? pace->begin - now : 0;
}

void pace_committed(struct pace *pace, uint64_t now) {
	pace->given = pace->begin != 0;
	pace->begin = 0;
	pace->frame.done_ns = (int64_t)now;
}

void pace_cancel(struct pace *pace) {
	pace->begin = 0;
}

void pace_shown(struct pace *pace, uint64_t when, uint64_t refresh_ns) {
	pace->shown = when;
	if (pace->given) {
		pace->given = false;
		pace->frame.refresh_ns = (int64_t)refresh_ns;
		pace->frame.shown_ns = (int64_t)when;
		gid_pacing_next(&pace->policy, &pace->frame);
	}
}

/* --- devices without refreshes ---------------------------------------------------------------- */

#define REFUSED_LONGEST_NS UINT64_C(1000000000)
#define CLOSE_ENOUGH 3 /* a modeset may be shown between two refreshes of any device */

bool frame_clock_shown(struct frame_clock *clock, uint64_t when, uint64_t refresh_ns) {
	bool close = clock->shown != 0 && when - clock->shown < refresh_ns / 4 * 3;
	clock->shown = when;
	clock->close = close ? clock->close + 1 : 0;
	if (clock->own_time || clock->close < CLOSE_ENOUGH) {
		return false;
	}
	clock->own_time = true;
	return true;
}

static bool frame_clock_in_step(
		const struct frame_clock *clock, uint64_t now, uint64_t refresh_ns) {
	return now >= clock->next && now - clock->next < refresh_ns;
}

uint64_t frame_clock_delay(struct frame_clock *clock, uint64_t now, uint64_t refresh_ns) {
	if (clock->unused && frame_clock_in_step(clock, now, refresh_ns)) {
		clock->next += refresh_ns;
	}
	clock->unused = false;
	return clock->own_time && clock->next > now ? clock->next - now : 0;
}

void frame_clock_skip(struct frame_clock *clock) {
	clock->unused = true;
}

void frame_clock_committed(struct frame_clock *clock, uint64_t now, uint64_t refresh_ns) {
	/* So that late timers do not add up. */
	bool in_step = frame_clock_in_step(clock, now, refresh_ns);
	clock->next = (in_step ? clock->next : now) + refresh_ns;
	clock->refused = 0;
}

uint64_t frame_clock_refused(struct frame_clock *clock, uint64_t refresh_ns) {
	clock->refused++;
	uint64_t most = REFUSED_LONGEST_NS / refresh_ns + 1;
	uint64_t wait = (clock->refused < most ? clock->refused : most) * refresh_ns;
	return wait < REFUSED_LONGEST_NS ? wait : REFUSED_LONGEST_NS;
}
