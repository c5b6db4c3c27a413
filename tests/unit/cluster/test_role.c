// SPDX-License-Identifier: MIT
/* The state machine of a safety role, driven by tables of what happens when. */
#include "cluster/base/role.h"

#include <errno.h>

#include "tap.h"

#define MS 1000000ull
#define START (1000 * MS)

enum step_kind {
	FRAME,
	OLD_FRAME,
	STALE_FRAME,
	EARLY_FRAME, /* dated ahead by `value` ms */
	SAME_COLOUR, /* as FRAME, of other bytes than are seen: the colour stays 10 */
	RESTART,     /* of the process: what it knew goes on */
	BAD_PIXELS,
	NO_HASH,
	NOT_ALLOWED,
	TICK,
	LOST,
	DISPLAY,
	END
};

struct step {
	enum step_kind kind;
	unsigned int at_ms; /* after the start */
	uint64_t value;	    /* FRAME: the content's hash; LOST, DISPLAY: the reason */
	enum role_state state;
	enum role_reason reason;
};

static const struct table {
	const char *name;
	struct role_limits limits;
	struct step steps[12];
} tables[] = {
		{
				"a stream that comes, goes quiet and returns",
				{.deadline_ns = 100 * MS, .good_frames = 1},
				{
						{TICK, 500, 0, ROLE_WAITING, ROLE_REASON_STARTING},
						{FRAME, 501, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{TICK, 601, 0, ROLE_LIVE, ROLE_REASON_NONE},
						{TICK, 602, 0, ROLE_LATE, ROLE_REASON_DEADLINE},
						{FRAME, 700, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"several good frames before live again",
				{.deadline_ns = 100 * MS, .good_frames = 3},
				{
						{FRAME, 1, 10, ROLE_WAITING, ROLE_REASON_STARTING},
						{FRAME, 2, 10, ROLE_WAITING, ROLE_REASON_STARTING},
						{FRAME, 3, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{BAD_PIXELS, 4, 10, ROLE_WRONG,
								ROLE_REASON_HASH_MISMATCH},
						{FRAME, 5, 10, ROLE_WRONG,
								ROLE_REASON_HASH_MISMATCH},
						{NO_HASH, 6, 10, ROLE_WRONG, ROLE_REASON_NO_HASH},
						{FRAME, 7, 10, ROLE_WRONG, ROLE_REASON_NO_HASH},
						{FRAME, 8, 10, ROLE_WRONG, ROLE_REASON_NO_HASH},
						{FRAME, 9, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"pictures that are not allowed",
				{.deadline_ns = 100 * MS, .good_frames = 1},
				{
						{FRAME, 1, 20, ROLE_LIVE, ROLE_REASON_NONE},
						{NOT_ALLOWED, 2, 21, ROLE_WRONG,
								ROLE_REASON_NOT_ALLOWED},
						{FRAME, 3, 30, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"old frames again",
				{.deadline_ns = 100 * MS, .good_frames = 1},
				{
						{FRAME, 1, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{FRAME, 2, 20, ROLE_LIVE, ROLE_REASON_NONE},
						{OLD_FRAME, 3, 10, ROLE_WRONG,
								ROLE_REASON_SEQUENCE},
						{FRAME, 4, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{STALE_FRAME, 500, 10, ROLE_WRONG, ROLE_REASON_AGE},
						{.kind = END},
				},
		},
		{
				"a picture that must change but stands still",
				{.deadline_ns = 100 * MS, .frozen_ns = 50 * MS, .good_frames = 1},
				{
						{FRAME, 1, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{FRAME, 40, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{TICK, 52, 0, ROLE_FROZEN, ROLE_REASON_FROZEN},
						{FRAME, 60, 10, ROLE_FROZEN, ROLE_REASON_FROZEN},
						{FRAME, 70, 20, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"a picture whose unseen bytes change",
				{.deadline_ns = 100 * MS, .frozen_ns = 50 * MS, .good_frames = 1},
				{
						{FRAME, 1, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{SAME_COLOUR, 20, 11, ROLE_LIVE, ROLE_REASON_NONE},
						{SAME_COLOUR, 40, 12, ROLE_LIVE, ROLE_REASON_NONE},
						{TICK, 52, 0, ROLE_FROZEN, ROLE_REASON_FROZEN},
						{SAME_COLOUR, 60, 13, ROLE_FROZEN,
								ROLE_REASON_FROZEN},
						{FRAME, 70, 20, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"a picture that stands still over a restart",
				{.deadline_ns = 100 * MS, .frozen_ns = 50 * MS, .good_frames = 1},
				{
						{FRAME, 1, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{FRAME, 45, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{RESTART, 46, 0, ROLE_LOST, ROLE_REASON_RESTARTED},
						{FRAME, 47, 30, ROLE_LIVE, ROLE_REASON_NONE},
						{TICK, 52, 0, ROLE_FROZEN, ROLE_REASON_FROZEN},
						{RESTART, 53, 0, ROLE_FROZEN, ROLE_REASON_FROZEN},
						{FRAME, 54, 40, ROLE_FROZEN, ROLE_REASON_FROZEN},
						{FRAME, 55, 40, ROLE_FROZEN, ROLE_REASON_FROZEN},
						{FRAME, 56, 50, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"frames that are dated ahead",
				{.deadline_ns = 100 * MS, .good_frames = 1},
				{
						{FRAME, 1, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{EARLY_FRAME, 2, 1007, ROLE_LIVE, ROLE_REASON_NONE},
						{EARLY_FRAME, 3, 1008, ROLE_WRONG,
								ROLE_REASON_AHEAD},
						{EARLY_FRAME, 4, 1ull << 40, ROLE_WRONG,
								ROLE_REASON_AHEAD},
						{FRAME, 5, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"too few frames a second",
				{.deadline_ns = 900 * MS, .min_rate = 3, .good_frames = 1},
				{
						{FRAME, 0, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{FRAME, 300, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{FRAME, 600, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{TICK, 1001, 0, ROLE_LATE, ROLE_REASON_RATE},
						{FRAME, 1100, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"fewer frames than a second has to have, from the first on",
				{.deadline_ns = 900 * MS, .min_rate = 3, .good_frames = 1},
				{
						{FRAME, 0, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{FRAME, 800, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{TICK, 1001, 0, ROLE_LATE, ROLE_REASON_RATE},
						{FRAME, 1100, 10, ROLE_LATE, ROLE_REASON_RATE},
						{FRAME, 1200, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"the producer dies and counts anew",
				{.deadline_ns = 100 * MS, .good_frames = 1},
				{
						{LOST, 1, ROLE_REASON_DIED, ROLE_WAITING,
								ROLE_REASON_STARTING},
						{FRAME, 2, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{LOST, 3, ROLE_REASON_DIED, ROLE_LOST,
								ROLE_REASON_DIED},
						{TICK, 900, 0, ROLE_LOST, ROLE_REASON_DIED},
						{FRAME, 901, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{LOST, 902, ROLE_REASON_HIDDEN, ROLE_LOST,
								ROLE_REASON_HIDDEN},
						{FRAME, 903, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"good frames count in a row only",
				{.deadline_ns = 100 * MS, .good_frames = 2},
				{
						{FRAME, 1, 10, ROLE_WAITING, ROLE_REASON_STARTING},
						{LOST, 2, ROLE_REASON_DIED, ROLE_WAITING,
								ROLE_REASON_STARTING},
						{FRAME, 3, 10, ROLE_WAITING, ROLE_REASON_STARTING},
						{FRAME, 4, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{DISPLAY, 5, ROLE_REASON_DISPLAY, ROLE_WRONG,
								ROLE_REASON_DISPLAY},
						{FRAME, 6, 10, ROLE_WRONG, ROLE_REASON_DISPLAY},
						{DISPLAY, 7, ROLE_REASON_DISPLAY, ROLE_WRONG,
								ROLE_REASON_DISPLAY},
						{FRAME, 8, 10, ROLE_WRONG, ROLE_REASON_DISPLAY},
						{FRAME, 9, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{.kind = END},
				},
		},
		{
				"the display does not show what it should",
				{.deadline_ns = 100 * MS, .good_frames = 2},
				{
						{FRAME, 1, 10, ROLE_WAITING, ROLE_REASON_STARTING},
						{FRAME, 2, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{DISPLAY, 3, ROLE_REASON_DISPLAY, ROLE_WRONG,
								ROLE_REASON_DISPLAY},
						{FRAME, 4, 10, ROLE_WRONG, ROLE_REASON_DISPLAY},
						{FRAME, 5, 10, ROLE_LIVE, ROLE_REASON_NONE},
						{DISPLAY, 6, ROLE_REASON_OFF_OUTPUT, ROLE_WRONG,
								ROLE_REASON_OFF_OUTPUT},
						{.kind = END},
				},
		},
};

static void role_restart(struct role *role, uint64_t now) {
	struct role_past past = role_past(role, now);
	struct role_limits limits = role->limits;
	role_finish(role);
	role_init(role, &limits, now);
	role_resume(role, &past, now);
}

static void role_do(struct role *role, const struct step *step, uint64_t *sequence) {
	uint64_t now = START + step->at_ms * MS;
	struct role_frame frame = {
			.submit_time = now - (step->kind == STALE_FRAME ? 101 * MS : MS),
			.clock_error = 7 * MS,
			.stated_hash = step->value,
			.pixel_hash = step->kind == BAD_PIXELS ? ~step->value : step->value,
			.colour = step->kind == SAME_COLOUR ? 10 : step->value,
			.has_hash = step->kind != NO_HASH,
			.allowed = step->kind != NOT_ALLOWED,
	};
	switch (step->kind) {
	case TICK:
		role_tick(role, now);
		break;
	case LOST:
		role_lost(role, (enum role_reason)step->value, now);
		if (step->value == ROLE_REASON_DIED) {
			*sequence = 0;
		}
		break;
	case DISPLAY:
		role_refuse(role, (enum role_reason)step->value, now);
		break;
	case RESTART:
		role_restart(role, now);
		*sequence = 0;
		break;
	case EARLY_FRAME:
		frame.submit_time = now + step->value * MS;
		frame.sequence = ++*sequence;
		role_frame(role, &frame, now);
		break;
	case OLD_FRAME:
		frame.sequence = *sequence - 1;
		role_frame(role, &frame, now);
		break;
	default:
		frame.sequence = ++*sequence;
		role_frame(role, &frame, now);
		break;
	}
}

static struct role_frame good_frame(uint64_t sequence, uint64_t now) {
	return (struct role_frame){.sequence = sequence,
			.submit_time = now,
			.stated_hash = sequence,
			.pixel_hash = sequence,
			.colour = sequence,
			.has_hash = true,
			.allowed = true};
}

static void test_limits(void) {
	static const struct role_limits bad[] = {
			{.good_frames = 1},
			{.deadline_ns = MS},
			{.deadline_ns = MS, .good_frames = 1, .min_rate = 1001},
	};
	struct role role;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tap_ok(role_init(&role, &bad[i], 0) == -EINVAL, "limits that are refused: %zu", i);
	}
	const struct role_limits most = {.deadline_ns = MS, .good_frames = 1, .min_rate = 1000};
	tap_ok(role_init(&role, &most, 0) == 0, "the highest rate is taken");
	role_finish(&role);
}

/* When a caller that sleeps has to come back. */
static void test_next_tick(void) {
	const struct role_limits limits = {
			.deadline_ns = 100 * MS, .frozen_ns = 150 * MS, .good_frames = 1};
	struct role role;
	if (!tap_ok(role_init(&role, &limits, START) == 0, "a role that may freeze")) {
		return;
	}
	tap_ok(role_next_tick(&role) == UINT64_MAX, "nothing changes by itself before it is live");
	struct role_frame frame = good_frame(1, START);
	role_frame(&role, &frame, START);
	tap_ok(role_next_tick(&role) == START + 100 * MS + 1, "its deadline comes first");
	frame = good_frame(2, START + 90 * MS);
	frame.colour = 1;
	role_frame(&role, &frame, START + 90 * MS);
	tap_ok(role_next_tick(&role) == START + 150 * MS + 1, "or that it stands still");
	role_tick(&role, START + 150 * MS);
	tap_ok(role_is_live(&role), "not a moment sooner");
	role_tick(&role, role_next_tick(&role));
	tap_ok(role.reason == ROLE_REASON_FROZEN, "but then");
	role_finish(&role);
}

/* From whom nothing was heard nothing is lost, unless it breaks the protocol. */
static void test_lost_while_waiting(void) {
	const struct role_limits limits = {.deadline_ns = 100 * MS, .good_frames = 1};
	struct role role;
	role_init(&role, &limits, START);
	role_lost(&role, ROLE_REASON_DIED, START + 1);
	tap_ok(role.state == ROLE_WAITING && role.reason == ROLE_REASON_STARTING,
			"a producer that dies before its first frame");
	role_lost(&role, ROLE_REASON_PROTOCOL, START + 2);
	tap_ok(role.reason == ROLE_REASON_PROTOCOL, "one that breaks the protocol");
	role_finish(&role);
}

/* A date ahead is wrong only by more than the clocks may differ. */
static void test_dates_ahead(void) {
	const struct role_limits limits = {.deadline_ns = 100 * MS, .good_frames = 1};
	const uint64_t now = START + 1000 * MS;
	struct role role;
	role_init(&role, &limits, START);
	struct role_frame frame = good_frame(1, now + 1000 * MS);
	tap_ok(role_frame(&role, &frame, now), "a second ahead");
	frame = good_frame(2, now + 1000 * MS + 1);
	tap_ok(!role_frame(&role, &frame, now) && role.reason == ROLE_REASON_AHEAD, "and more");
	frame = good_frame(3, now + 1007 * MS);
	frame.clock_error = 7 * MS;
	tap_ok(role_frame(&role, &frame, now), "as much more as the clocks may differ");
	frame = good_frame(4, now + 1007 * MS + 1);
	frame.clock_error = 7 * MS;
	tap_ok(!role_frame(&role, &frame, now), "but no more than that");
	role_finish(&role);
}

/* What stood still has stood still, for as long as that can be. */
static void test_past(void) {
	const struct role_limits limits = {
			.deadline_ns = 100 * MS, .frozen_ns = 150 * MS, .good_frames = 1};
	struct role role;
	role_init(&role, &limits, START);
	tap_ok(role_past(&role, START).still_ns == 0, "of what was never seen nothing stood still");
	struct role_frame frame = good_frame(1, START);
	role_frame(&role, &frame, START);
	tap_ok(role_past(&role, START).still_ns == 0 && role_past(&role, START + 5).still_ns == 5,
			"since its last change");
	struct role_past past = {ROLE_WRONG, ROLE_REASON_AGE, 7, START + 1};
	role_resume(&role, &past, START + 1);
	tap_ok(role.last_change == START, "not since before this machine was there");
	past.still_ns = 20;
	role_resume(&role, &past, START + 30);
	tap_ok(role.state == ROLE_WRONG && role.since == 7 && role.last_change == START + 10,
			"what failed has failed still, and what stood still did");
	past = (struct role_past){ROLE_LIVE, ROLE_REASON_NONE, 7, 0};
	role_resume(&role, &past, START + 30);
	tap_ok(role.reason == ROLE_REASON_RESTARTED && role.last_change == START + 10,
			"what was live is lost");
	role_finish(&role);
}

int main(void) {
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct role role;
		uint64_t sequence = 0;
		if (role_init(&role, &tables[i].limits, START) != 0) {
			tap_ok(false, "%s: limits accepted", tables[i].name);
			continue;
		}
		for (const struct step *step = tables[i].steps; step->kind != END; step++) {
			role_do(&role, step, &sequence);
			tap_ok(role.state == step->state && role.reason == step->reason,
					"%s, %u ms: %s (%s), is %s (%s)", tables[i].name,
					step->at_ms, role_state_name(step->state),
					role_reason_text(step->reason), role_state_name(role.state),
					role_reason_text(role.reason));
		}
		role_finish(&role);
	}
	test_limits();
	test_next_tick();
	test_lost_while_waiting();
	test_dates_ahead();
	test_past();
	return tap_finish();
}
