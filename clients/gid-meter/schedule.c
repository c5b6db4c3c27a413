// SPDX-License-Identifier: MIT
#include "schedule.h"

#define SECOND_NS UINT64_C(1000000000)
#define REFRESH_LEAST_NS UINT64_C(4000000)
#define REFRESH_MOST_NS UINT64_C(50000000)
#define AFTER 16 /* a picture is begun this part of a refresh after the time that is best */

void schedule_init(struct schedule *schedule, uint64_t now, uint32_t rate) {
	*schedule = (struct schedule){.start = now, .period = SECOND_NS / rate, .ended = now};
}

void schedule_shown(struct schedule *schedule, const struct gid_shown *shown) {
	if (shown->refresh_ns >= REFRESH_LEAST_NS && shown->refresh_ns <= REFRESH_MOST_NS) {
		schedule->shown = *shown;
	}
}

void schedule_drawn(struct schedule *schedule, uint64_t sequence, uint64_t begun, uint64_t ended) {
	schedule->sequence = sequence;
	schedule->begun = begun;
	schedule->ended = ended;
}

static bool schedule_follows(const struct schedule *schedule, uint64_t now) {
	return schedule->shown.time != 0 && now < schedule->shown.time + SECOND_NS;
}

uint64_t schedule_interval(const struct schedule *schedule, uint64_t now) {
	return schedule_follows(schedule, now) ? schedule->shown.refresh_ns : schedule->period;
}

/*
 * Before a refresh, when to begin the picture that is taken in it. What comes soon after the
 * display began to compose may be shown a refresh sooner where there was nothing to compose yet,
 * and then the next refresh lacks a picture; what comes soon before may be too late. So it is half
 * a refresh from both. A display that begins with its refresh has nothing to compose sooner.
 */
static uint64_t schedule_lead(const struct schedule *schedule) {
	const struct gid_shown *shown = &schedule->shown;
	uint64_t half = shown->refresh_ns / 2;
	bool waits = shown->window_ns > half && shown->window_ns < shown->refresh_ns;
	return waits ? shown->window_ns - half : 0;
}

uint64_t schedule_next(const struct schedule *schedule, uint64_t now) {
	uint64_t interval = schedule_interval(schedule, now);
	bool follows = schedule_follows(schedule, now);
	uint64_t base = schedule->start;
	if (follows) {
		base = schedule->shown.time - schedule_lead(schedule) + interval / AFTER;
	}
	/* What is shown was in time for its refresh: the next refresh lacks a picture. */
	bool is_shown = follows && schedule->shown.sequence >= schedule->sequence;
	uint64_t earliest = schedule->begun + interval / (is_shown ? 8 : follows ? 4 : 2);
	if (earliest < schedule->ended) {
		earliest = schedule->ended;
	}
	return base >= earliest ? base - (base - earliest) / interval * interval
				: base + (earliest - base + interval - 1) / interval * interval;
}
