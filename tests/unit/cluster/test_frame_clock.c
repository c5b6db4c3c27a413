// SPDX-License-Identifier: MIT
/* Whose time frames are composed at: the device's, or where that has none, our own. */
#include "cluster/screen/pace.h"

#include "clients/gid-meter/schedule.h"
#include "cluster/screen/refreshes.h"
#include "tap.h"

#define MS 1000000ull
#define REFRESH (16 * MS)

/* Composed late, shown at a refresh: in each refresh, or with some left out. */
static void test_a_device_with_refreshes(void) {
	struct frame_clock clock = {0};
	uint64_t now = 1000 * REFRESH;
	frame_clock_shown(&clock, now + 3 * MS, REFRESH); /* its modeset */
	unsigned held = 0, found = 0;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t asked = now + i % 13 * MS;
		held += frame_clock_delay(&clock, asked, REFRESH) != 0;
		frame_clock_committed(&clock, asked, REFRESH);
		now += (1 + i % 3) * REFRESH;
		found += frame_clock_shown(&clock, now, REFRESH);
	}
	tap_ok(held == 0 && found == 0, "a device with refreshes is never held up");
}

/* Shows at once what it is given, and asks for more. Timers are up to a millisecond late. */
static void test_a_device_without(void) {
	struct frame_clock clock = {0};
	uint64_t start = 1000 * REFRESH, now = start, before = 0;
	unsigned frames = 0, hasty = 0, found = 0;
	while (now < start + 1000 * REFRESH) {
		uint64_t wait = frame_clock_delay(&clock, now, REFRESH);
		if (wait != 0) {
			now += wait + frames % 8 * (MS / 8);
			continue;
		}
		frame_clock_committed(&clock, now, REFRESH);
		hasty += frames > 3 && now - before < REFRESH - MS;
		before = now;
		frames++;
		now += MS / 2; /* composing */
		found += frame_clock_shown(&clock, now, REFRESH);
	}
	tap_ok(found == 1, "a device without refreshes is found out once");
	tap_ok(hasty == 0, "then no frame is composed before its turn");
	tap_ok(frames >= 1000 && frames <= 1004, "and none is lost to late timers: %u", frames);
	now += 100 * REFRESH;
	tap_ok(frame_clock_delay(&clock, now, REFRESH) == 0,
			"after a pause the first frame does not wait");
}

#define STEP (MS / 10)

/* How long what is done for a picture takes. */
struct work {
	uint64_t drawing, reading, composing;
};

/* One that draws a picture for each refresh, as gid-meter; times of 0 are never. */
struct producer {
	struct schedule schedule;
	uint64_t next, done, comes, sequence;
};

static void producer_step(struct producer *producer, uint64_t now, const struct work *work) {
	if (producer->done == 0 && now >= producer->next) {
		producer->done = now + work->drawing;
		schedule_drawn(&producer->schedule, ++producer->sequence, now, producer->done);
	} else if (producer->done != 0 && now >= producer->done) {
		producer->done = 0;
		producer->comes = now + work->reading;
		producer->next = schedule_next(&producer->schedule, now);
	}
}

/* It looks a few times in a refresh what was shown. */
static void producer_hear(struct producer *producer, uint64_t now, const struct gid_shown *shown) {
	schedule_shown(&producer->schedule, shown);
	if (producer->done == 0) {
		producer->next = schedule_next(&producer->schedule, now);
	}
}

struct outcome {
	unsigned frames;      /* pictures that were shown */
	uint64_t longest_gap; /* between two of them */
};

/* What becomes of its pictures, in virtual time. */
struct flow {
	const struct work *work;
	struct producer producer;
	uint64_t came; /* the picture that came last */
	bool news;     /* it is to be shown yet */
	uint64_t last; /* when one was shown last, 0: never */
	struct outcome outcome;
};

static void flow_init(struct flow *flow, const struct work *work, uint64_t start) {
	*flow = (struct flow){.work = work};
	schedule_init(&flow->producer.schedule, start, 60);
}

/* Whether a picture comes. */
static bool flow_step(struct flow *flow, uint64_t now) {
	struct producer *producer = &flow->producer;
	producer_step(producer, now, flow->work);
	if (producer->comes == 0 || now < producer->comes) {
		return false;
	}
	flow->came = producer->sequence - (producer->done != 0);
	flow->news = true;
	producer->comes = 0;
	return true;
}

static void flow_shown(struct flow *flow, uint64_t now, uint64_t sequence, uint64_t when) {
	struct outcome *outcome = &flow->outcome;
	const struct gid_shown shown = {.sequence = sequence, .time = when, .refresh_ns = REFRESH};
	producer_hear(&flow->producer, now, &shown);
	uint64_t gap = flow->last != 0 ? when - flow->last : 0;
	outcome->longest_gap = gap > outcome->longest_gap ? gap : outcome->longest_gap;
	outcome->frames++;
	flow->last = when;
}

/* Over so many refreshes. */
static struct outcome follow(uint64_t refreshes, const struct work *work) {
	struct frame_clock clock = {.own_time = true};
	const uint64_t start = 1000 * REFRESH;
	uint64_t timer = 0;
	struct flow flow;
	flow_init(&flow, work, start);
	for (uint64_t now = start; now < start + refreshes * REFRESH; now += STEP) {
		bool came = flow_step(&flow, now);
		if (!came && (timer == 0 || now < timer)) {
			continue;
		}
		uint64_t wait = frame_clock_delay(&clock, now, REFRESH);
		timer = wait > 0 ? now + wait : 0;
		if (wait == 0 && flow.news) {
			frame_clock_committed(&clock, now, REFRESH);
			timer = now + frame_clock_delay(&clock, now, REFRESH);
			flow_shown(&flow, now, flow.came, now + work->composing);
			flow.news = false;
		} else if (wait == 0) {
			frame_clock_skip(&clock);
		}
	}
	return flow.outcome;
}

/*
 * Its picture is drawn after that of the refresh before was shown, and is read then: 1 + 7 + 2 ms
 * and the 5 that composing takes are one refresh, and one that is read in more is shown by the
 * refresh after that. There must not be fewer because of it.
 */
static void test_pictures_that_come_late(void) {
	for (uint64_t reading = 0; reading <= 8 * MS; reading += MS) {
		const struct work work = {7 * MS, reading, 5 * MS};
		unsigned frames = follow(1000, &work).frames;
		tap_ok(frames >= 990, "read in %u ms: %u of 1000", (unsigned)(reading / MS),
				frames);
	}
}

/* The same with a screen that has refreshes, and is composed before each. */
static struct outcome follow_refreshes(unsigned refreshes, const struct work *work) {
	const uint64_t start = 1000 * REFRESH;
	uint64_t timer = 0, given = 0;
	struct refreshes screen;
	struct flow flow;
	struct pace pace;
	refreshes_init(&screen, start, 62500);
	pace_init(&pace, PACING_BOUND);
	pace.frame_ns = 2 * work->composing;
	flow_init(&flow, work, start);
	for (uint64_t now = start; now < start + refreshes * REFRESH; now += STEP) {
		bool came = flow_step(&flow, now);
		uint64_t when = refreshes_take(&screen, now);
		if (when != 0) {
			pace_shown(&pace, when, REFRESH);
			flow_shown(&flow, now, given, when);
		}
		bool asked = came || when != 0 || (timer != 0 && now >= timer);
		if (screen.due != 0 || !asked) {
			continue;
		}
		uint64_t wait = pace_delay(&pace, now, refreshes_next(&screen, now), REFRESH);
		timer = wait > 0 ? now + wait : 0;
		if (wait == 0 && flow.news) {
			pace_committed(&pace, now + work->composing);
			refreshes_give(&screen, now + work->composing);
			given = flow.came;
			flow.news = false;
		} else if (wait == 0) {
			pace_cancel(&pace);
		}
	}
	return flow.outcome;
}

static void test_pictures_for_refreshes(void) {
	for (uint64_t reading = 0; reading <= 12 * MS; reading += MS / 2) {
		const struct work work = {2 * MS, reading, 2 * MS};
		struct outcome outcome = follow_refreshes(1000, &work);
		tap_ok(outcome.frames >= 990 && outcome.longest_gap <= 2 * REFRESH,
				"drawn and read in %.1f ms: %u of 1000, a gap of %.1f at most",
				2 + (double)reading / (double)MS, outcome.frames,
				(double)outcome.longest_gap / (double)REFRESH);
	}
}

/* The first picture is shown at once, soon after it was drawn: the next refresh has one, too. */
static void test_the_first_pictures(void) {
	const struct work work = {4 * MS, MS, MS};
	uint64_t gap = follow(100, &work).longest_gap;
	tap_ok(gap < REFRESH * 3 / 2, "no refresh is left out: %.1f at most",
			(double)gap / (double)REFRESH);
}

static void test_a_device_that_refuses(void) {
	struct frame_clock clock = {0};
	tap_ok(frame_clock_refused(&clock, REFRESH) == REFRESH, "again after one refresh");
	tap_ok(frame_clock_refused(&clock, REFRESH) == 2 * REFRESH, "then after two");
	uint64_t wait = 0;
	for (int i = 0; i < 1000; i++) {
		wait = frame_clock_refused(&clock, REFRESH);
	}
	tap_ok(wait == 1000 * MS, "then each second");
	frame_clock_committed(&clock, 1, REFRESH);
	tap_ok(frame_clock_refused(&clock, REFRESH) == REFRESH, "once one was taken, as at first");
}

int main(void) {
	test_a_device_with_refreshes();
	test_a_device_without();
	test_pictures_that_come_late();
	test_pictures_for_refreshes();
	test_the_first_pictures();
	test_a_device_that_refuses();
	return tap_finish();
}
