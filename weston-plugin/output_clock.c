// SPDX-License-Identifier: MIT
#include "output_clock.h"

#include <libweston/version.h>
#include <time.h>

#include "libweston_exports.h"

#define SECOND_NS INT64_C(1000000000)
/* Converts ns of a refresh to mHz, and back. */
#define MHZ_NS UINT64_C(1000000000000)
#define STEP_PART 16
/*
 * How long before a refresh pictures are drawn if the display does not tell when it begins to
 * repaint, as a part of the refresh. They have to reach a compositor that begins as long before its
 * refresh as Weston does.
 */
#define LEAD_PART 2
/*
 * A millisecond, the unit of Weston's timers, as the refresh of a mode: a read-back takes five
 * refreshes.
 */
#define MS_NS INT64_C(1000000)
#define MS_MHZ UINT64_C(1000000)

/*
 * How far Weston's presentation clock is ahead of CLOCK_MONOTONIC. If it is that clock, nothing is
 * measured: this thread may be preempted between two readings.
 */
static int64_t presentation_ahead(const struct weston_output *output) {
	clockid_t clock = output->compositor->presentation_clock;
	struct timespec now;
	if (clock == CLOCK_MONOTONIC) {
		return 0;
	}
	clock_gettime(clock, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec - (int64_t)gid_clock_now();
}

/* On the presentation clock. */
static int64_t last_refresh(const struct weston_output *output) {
	return output->frame_time.tv_sec * SECOND_NS + output->frame_time.tv_nsec;
}

static uint64_t refresh_ns(uint32_t mhz) {
	return mhz > 0 ? MHZ_NS / mhz : 0;
}

int64_t output_clock_step(uint64_t own, uint64_t theirs, uint64_t refresh) {
	uint64_t ahead = (own % refresh + refresh - theirs % refresh) % refresh;
	int64_t most = (int64_t)refresh / STEP_PART;
	int64_t later = ahead <= refresh / 2 ? -(int64_t)ahead : (int64_t)(refresh - ahead);
	return later > most ? most : later < -most ? -most : later;
}

/* Whether a consumer's display reports its refreshes: when, and how often. */
static bool find_display(struct gid_producer *producer, struct gid_shown *shown) {
	return producer != NULL && gid_producer_get_shown(producer, 0, shown) == 0 &&
			shown->refresh_ns > 0;
}

void output_clock_follow(struct weston_output *output, struct gid_producer *producer) {
	struct gid_shown shown;
	if (!find_display(producer, &shown)) {
		return;
	}
	output->current_mode->refresh = (uint32_t)(MHZ_NS / shown.refresh_ns);
	int64_t ahead = presentation_ahead(output);
	int64_t last = last_refresh(output);
	uint64_t own = (uint64_t)(last - ahead);
	uint64_t lead = shown.window_ns > 0 ? shown.window_ns : shown.refresh_ns / LEAD_PART;
	uint64_t theirs = shown.time - lead;
	int64_t moved = last + output_clock_step(own, theirs, shown.refresh_ns);
	/* Weston's refreshes never go backward */
	if (moved > 0 && moved < (int64_t)gid_clock_now() + ahead) {
		output->frame_time.tv_sec = moved / SECOND_NS;
		output->frame_time.tv_nsec = moved % SECOND_NS;
	}
}

int64_t output_clock_last(int64_t now, int64_t one, int64_t refresh) {
	int64_t ago = (now - one) % refresh;
	return now - (ago < 0 ? ago + refresh : ago);
}

uint64_t output_clock_next(const struct weston_output *output, struct gid_producer *producer,
		uint32_t refresh_mhz, uint64_t now) {
	struct gid_shown shown;
	bool theirs = find_display(producer, &shown);
	uint64_t refresh = theirs ? shown.refresh_ns : refresh_ns(refresh_mhz);
	int64_t one = theirs ? (int64_t)shown.time
			     : last_refresh(output) - presentation_ahead(output);
	return refresh > 0 ? (uint64_t)output_clock_last((int64_t)now - 1, one, (int64_t)refresh) +
					refresh
			   : now;
}

/* Starts the repaint loop: the last refresh was at `last`, on the presentation clock. */
static void begin_repaints(struct weston_output *output, int64_t last) {
	if (last < last_refresh(output)) { /* Weston's refreshes never go backward */
		last = last_refresh(output);
	}
	struct timespec stamp = {last / SECOND_NS, last % SECOND_NS};
	/*
	 * The stamp is given as valid: otherwise Weston waits for another refresh, if it is late
	 * for this one.
	 */
	weston_output_finish_frame(output, &stamp, 0);
}

bool output_clock_go_on(struct weston_output *output) {
	int64_t refresh = (int64_t)refresh_ns((uint32_t)output->current_mode->refresh);
	int64_t last = last_refresh(output);
	if (last == 0 || refresh == 0) {
		return false;
	}
	int64_t now = (int64_t)gid_clock_now() + presentation_ahead(output);
	begin_repaints(output, output_clock_last(now, last, refresh));
	return true;
}

void output_clock_begin_now(struct weston_output *output, struct gid_producer *producer) {
	struct gid_shown shown;
	if (find_display(producer, &shown)) {
		output->current_mode->refresh = (uint32_t)(MHZ_NS / shown.refresh_ns);
	}
	int64_t now = (int64_t)gid_clock_now() + presentation_ahead(output);
	int64_t refresh = (int64_t)refresh_ns((uint32_t)output->current_mode->refresh);
	int64_t window = output->compositor->repaint_msec * MS_NS;
	begin_repaints(output, window < refresh ? now - refresh + window : now);
}

void output_clock_set_read_back(struct weston_output *output) {
	output->current_mode->refresh = (uint32_t)MS_MHZ;
}

void output_clock_set_timer(struct weston_output *output, uint32_t refresh_mhz) {
	output->current_mode->refresh = refresh_mhz;
#if WESTON_VERSION_MAJOR < 15
	int64_t length = (int64_t)refresh_ns(refresh_mhz);
	int64_t now = (int64_t)gid_clock_now() + presentation_ahead(output);
	int64_t left = last_refresh(output) + length - now;
	if (left > 0 && left < length) {
		output->current_mode->refresh =
				(uint32_t)(MS_MHZ * MS_NS / (uint64_t)(left + MS_NS));
	}
#endif
}
