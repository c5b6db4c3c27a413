// SPDX-License-Identifier: MIT
/* A safety role through any story: it is live only while everything that was promised holds. */
#include "../../cluster/base/role.h"

#include <string.h>

#include "fuzz.h"

#define STEPS_MAX 1000
#define MS 1000000ull
#define AHEAD_NS (1000 * MS) /* that a frame may be dated ahead */

/* What the role's user can know, kept apart from the role. */
struct story {
	struct input input;
	struct role role;
	uint64_t now, sequence, last_good;
	uint64_t colour, coloured; /* of the last good frame; since when */
	uint32_t good;		   /* frames in a row that passed since the role was live */
	unsigned changes;
};

static void count_change(struct role *role, enum role_state from, void *data) {
	struct story *story = data;
	demand(role->since == story->now);
	demand(role_state_name(role->state)[0] != '\0' &&
			role_reason_text(role->reason)[0] != '\0');
	demand((role->state == ROLE_LIVE) == (role->reason == ROLE_REASON_NONE));
	story->changes++;
}

static bool is_good(const struct story *story, const struct role_frame *frame, uint64_t last) {
	const struct role_limits *limits = &story->role.limits;
	return frame->sequence > last && frame->has_hash && frame->allowed &&
			frame->pixel_hash == frame->stated_hash &&
			frame->submit_time <= story->now + AHEAD_NS &&
			(frame->submit_time >= story->now ||
					story->now - frame->submit_time <= limits->deadline_ns);
}

static void give_frame(struct story *story) {
	struct role *role = &story->role;
	uint32_t kind = take(&story->input, 16);
	uint64_t hash = take(&story->input, 8), last = role->last_sequence;
	struct role_frame frame = {
			.sequence = kind == 1 ? last - last / 2 : last + 1 + take(&story->input, 3),
			.submit_time = kind == 2    ? story->now - story->now / 2
					: kind == 7 ? story->now + AHEAD_NS * (hash + 1) / 4
						    : story->now - 1,
			.stated_hash = kind == 3 ? hash + 1 : hash,
			.pixel_hash = hash,
			.colour = kind >= 12 ? 0 : hash, /* bytes that are not seen differ */
			.has_hash = kind != 4,
			.allowed = kind != 6,
			.heartbeat = kind == 5,
	};
	bool good = is_good(story, &frame, last);
	bool was_live = role_is_live(role);
	bool shown = role_frame(role, &frame, story->now);
	demand(shown == (role_is_live(role) && good));
	demand(good || role->state == ROLE_WRONG);
	story->good = good ? story->good + 1 : 0;
	if (good && (story->coloured == 0 || frame.colour != story->colour)) {
		story->coloured = story->now;
	}
	story->colour = good ? frame.colour : story->colour;
	if (shown) {
		/* Once lost from sight, it takes a row of good ones to come back. */
		demand(was_live || story->good >= role->limits.good_frames);
		story->last_good = story->now;
	}
}

static void pass_time(struct story *story) {
	struct role *role = &story->role;
	const struct role_limits *limits = &role->limits;
	static const uint64_t steps[] = {0, 1, MS, 16 * MS, 100 * MS, 700 * MS, 5000 * MS};
	uint64_t tick = role_next_tick(role);
	bool was_live = role_is_live(role);
	story->now += steps[take(&story->input, sizeof(steps) / sizeof(steps[0]))];
	role_tick(role, story->now);
	if (was_live && limits->min_rate == 0) {
		demand(role_is_live(role) == (story->now < tick)); /* neither sooner nor later */
	}
	demand(was_live || !role_is_live(role)); /* time alone makes nothing live */
	if (role_is_live(role)) {
		demand(story->now - story->last_good <= limits->deadline_ns);
		demand(limits->frozen_ns == 0 || story->now - story->coloured <= limits->frozen_ns);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct story story = {.input = {.data = data, .size = size}, .now = 1000 * MS};
	struct role_limits limits = {
			.deadline_ns = take(&story.input, 256) * MS,
			.frozen_ns = take(&story.input, 4) * 150 * MS,
			.min_rate = take(&story.input, 3) * 505,
			.good_frames = take(&story.input, 5),
	};
	bool may_be = limits.deadline_ns > 0 && limits.good_frames > 0 && limits.min_rate <= 1000;
	demand((role_init(&story.role, &limits, story.now) == 0) == may_be);
	if (!may_be) {
		return 0;
	}
	story.role.changed = count_change;
	story.role.data = &story;
	for (int step = 0; step < STEPS_MAX && story.input.size > 0; step++) {
		switch (take(&story.input, 8)) {
		case 0:
			role_lost(&story.role, ROLE_REASON_HIDDEN + take(&story.input, 4),
					story.now);
			demand(!role_is_live(&story.role));
			story.good = 0;
			story.coloured = 0;
			break;
		case 1:
			role_refuse(&story.role,
					ROLE_REASON_CORRUPTED +
							take(&story.input,
									ROLE_REASON_OFF_OUTPUT -
											ROLE_REASON_CORRUPTED +
											1),
					story.now);
			demand(story.role.state == ROLE_WRONG);
			story.good = 0;
			break;
		case 2:
		case 3:
			pass_time(&story);
			break;
		default:
			give_frame(&story);
			break;
		}
	}
	demand(role_reason_name(story.role.reason)[0] != '\0');
	role_finish(&story.role);
	return 0;
}
