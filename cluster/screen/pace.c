// SPDX-License-Identifier: MIT
#include "pace.h"

#define MS UINT64_C(1000000)
#define MISS_RATE 0.001
#define LONGEST_MS 1000 /* the policy's upper limit of a window */

#define KNOWN_NS UINT64_C(1000000000) /* how long a past page flip predicts the next ones */
#define WAITED_ENOUGH 3

void pace_init(struct pace *pace, enum pacing pacing) {
	*pace = (struct pace){.pacing = pacing};
	gid_pacing_init(&pace->policy,
			&(struct gid_pacing_config){
					.miss_rate = MISS_RATE,
					.fallback_ms = LONGEST_MS,
			});
}

const char *pace_name(const struct pace *pace) {
	if (pace->pacing == PACING_ON) {
		return gid_pacing_mode_name(pace->policy.mode);
	}
	return pace->pacing == PACING_BOUND && pace->frame_ns > 0 ? "bound" : "off";
}

uint64_t pace_window_ns(const struct pace *pace, uint64_t refresh_ns) {
	return pace->pacing == PACING_ON
			? (uint64_t)pace->policy.window_ms * MS
			: compose_window_of(pace->pacing, pace->frame_ns, refresh_ns);
}

static uint64_t pace_passed(const struct pace *pace, uint64_t now) {
	return now > pace->shown ? now - pace->shown : 0;
}

uint64_t pace_next_refresh(const struct pace *pace, uint64_t now, uint64_t refresh_ns) {
	uint64_t passed = pace_passed(pace, now);
	bool known = pace->waited >= WAITED_ENOUGH && passed < KNOWN_NS;
	return known ? pace->shown + (passed / refresh_ns + 1) * refresh_ns : 0;
}

/* Learned from past frames: the refresh that the next frame aims at, and when it begins. */
static void pace_plan_learned(struct pace *pace, uint64_t now, uint64_t due, uint64_t refresh_ns) {
	if (pace_passed(pace, now) / refresh_ns > 1) {
		gid_pacing_next(&pace->policy, NULL); /* after a pause */
	}
	uint64_t window_ns = pace_window_ns(pace, refresh_ns);
	if (now + window_ns <= due) {
		pace->begin = due - window_ns;
	} else {
		/*
		 * Begins at once; if that is much too late for this refresh, it aims at the next.
		 */
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

/* Planned by the worst frame: when the next one begins. */
static void pace_plan(struct pace *pace, uint64_t now, uint64_t due, uint64_t refresh_ns) {
	uint64_t window_ns = pace_window_ns(pace, refresh_ns);
	bool follows = pace->follows && pace_passed(pace, now) < refresh_ns;
	pace->follows = false;
	if (follows) {
		/* Even if the flip was reported late: composing at once may still be in time. */
		pace->begin = pace->shown + refresh_ns - window_ns;
	} else if (now + window_ns <= due) {
		pace->begin = due - window_ns;
	} else if (now + pace->frame_ns <= due) {
		pace->begin = now;
	} else {
		pace->begin = due + refresh_ns - window_ns;
	}
}

uint64_t pace_delay(struct pace *pace, uint64_t now, uint64_t due, uint64_t refresh_ns) {
	if (due == 0) {
		return 0;
	}
	if (pace->begin == 0 && pace->pacing == PACING_ON) {
		pace_plan_learned(pace, now, due, refresh_ns);
	} else if (pace->begin == 0) {
		pace_plan(pace, now, due, refresh_ns);
	}
	return pace->begin > now ? pace->begin - now : 0;
}

void pace_committed(struct pace *pace, uint64_t now) {
	pace->given = now;
	pace->planned = pace->begin != 0;
	pace->begin = 0;
	pace->frame.done_ns = (int64_t)now;
}

void pace_cancel(struct pace *pace) {
	pace->begin = 0;
}

void pace_shown(struct pace *pace, uint64_t when, uint64_t refresh_ns) {
	if (pace->given != 0 && pace->waited < WAITED_ENOUGH) {
		pace->waited = when > pace->given + refresh_ns / 4 ? pace->waited + 1 : 0;
	}
	if (pace->given != 0 && pace->planned && pace->pacing == PACING_ON) {
		pace->frame.refresh_ns = (int64_t)refresh_ns;
		pace->frame.shown_ns = (int64_t)when;
		gid_pacing_next(&pace->policy, &pace->frame);
	}
	pace->shown = when;
	pace->given = 0;
	pace->follows = true;
}

/* --- devices without refreshes ---------------------------------------------------------------- */

#define REFUSED_LONGEST_NS UINT64_C(1000000000)
#define CLOSE_ENOUGH 3 /* a modeset can be presented between two refreshes of any device */

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
	/* So that delays of timers do not add up. */
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
