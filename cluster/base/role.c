// SPDX-License-Identifier: MIT
#include "role.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ull
/* How much later than its arrival a frame may be dated: machines' clocks are set, and drift. */
#define AHEAD_NS SECOND_NS
#define RATE_MAX 1000u

static void role_enter(struct role *role, enum role_reason reason, uint64_t now) {
	enum role_state state = role_state_of(reason);
	if (state != ROLE_LIVE) {
		role->good = 0; /* also if it fails again for the same reason */
	}
	if (role->state == state && role->reason == reason) {
		return;
	}
	enum role_state from = role->state;
	role->state = state;
	role->reason = reason;
	role->since = now;
	if (role->changed != NULL) {
		role->changed(role, from, role->data);
	}
}

int role_init(struct role *role, const struct role_limits *limits, uint64_t now) {
	if (limits->deadline_ns == 0 || limits->good_frames == 0 || limits->min_rate > RATE_MAX) {
		return -EINVAL;
	}
	*role = (struct role){
			.limits = *limits,
			.reason = ROLE_REASON_STARTING,
			.since = now,
			.started = now,
	};
	if (limits->min_rate > 0) {
		role->arrivals = calloc(limits->min_rate, sizeof(role->arrivals[0]));
		if (role->arrivals == NULL) {
			return -ENOMEM;
		}
	}
	return 0;
}

void role_finish(struct role *role) {
	free(role->arrivals);
	*role = (struct role){0};
}

static enum role_reason role_judge(
		const struct role *role, const struct role_frame *frame, uint64_t now) {
	if (frame->refused != ROLE_REASON_NONE) {
		return frame->refused;
	}
	if (frame->sequence <= role->last_sequence) {
		return ROLE_REASON_SEQUENCE;
	}
	if (now > frame->submit_time && now - frame->submit_time > role->limits.deadline_ns) {
		return ROLE_REASON_AGE;
	}
	if (frame->submit_time > now && frame->submit_time - now > AHEAD_NS &&
			frame->submit_time - now - AHEAD_NS > frame->clock_error) {
		return ROLE_REASON_AHEAD;
	}
	if (!frame->has_hash) {
		return ROLE_REASON_NO_HASH;
	}
	if (frame->pixel_hash != frame->stated_hash) {
		return ROLE_REASON_HASH_MISMATCH;
	}
	if (!frame->allowed) {
		return ROLE_REASON_NOT_ALLOWED;
	}
	return ROLE_REASON_NONE;
}

/* Whether the last min_rate frames arrived within one second before `now`. */
static bool role_meets_rate(const struct role *role, uint64_t now) {
	if (role->limits.min_rate == 0) {
		return true;
	}
	uint64_t oldest = role->arrivals[role->arrival_next];
	return oldest != 0 && now - oldest <= SECOND_NS;
}

static bool role_is_frozen(const struct role *role, uint64_t now) {
	return role->limits.frozen_ns != 0 && role->last_change != 0 &&
			now - role->last_change > role->limits.frozen_ns;
}

/* Only visible colours count: a producer could change unused bytes of a frozen picture. */
static void role_record(struct role *role, const struct role_frame *frame, uint64_t now) {
	bool watched = role->last_change != 0;
	if (!watched || (role->knows_colour && frame->colour != role->last_colour)) {
		role->last_change = now;
	}
	role->last_colour = frame->colour;
	role->knows_colour = true;
	role->last_sequence = frame->sequence;
	role->last_frame = now;
	if (role->limits.min_rate > 0) {
		role->arrivals[role->arrival_next] = now;
		role->arrival_next = (role->arrival_next + 1) % role->limits.min_rate;
	}
}

bool role_frame(struct role *role, const struct role_frame *frame, uint64_t now) {
	enum role_reason reason = role_judge(role, frame, now);
	if (reason == ROLE_REASON_NONE) {
		role_record(role, frame, now);
		reason = role_is_frozen(role, now) ? ROLE_REASON_FROZEN : ROLE_REASON_NONE;
	}
	if (reason == ROLE_REASON_NONE && role->state != ROLE_LIVE) {
		role->good++;
		if (role->good < role->limits.good_frames ||
				(role->state == ROLE_LATE && !role_meets_rate(role, now))) {
			return false;
		}
	}
	role_enter(role, reason, now);
	return reason == ROLE_REASON_NONE;
}

void role_tick(struct role *role, uint64_t now) {
	if (role->state != ROLE_LIVE) {
		return;
	}
	if (now - role->last_frame > role->limits.deadline_ns) {
		role_enter(role, ROLE_REASON_DEADLINE, now);
	} else if (role_is_frozen(role, now)) {
		role_enter(role, ROLE_REASON_FROZEN, now);
	} else if (now - role->since > SECOND_NS && !role_meets_rate(role, now)) {
		role_enter(role, ROLE_REASON_RATE, now);
	}
}

void role_lost(struct role *role, enum role_reason reason, uint64_t now) {
	/* A producer that restarts counts its frames from the beginning. */
	if (reason != ROLE_REASON_HIDDEN) {
		role->last_sequence = 0;
	}
	role->last_change = 0;
	role->good = 0;
	if (role->state == ROLE_WAITING && reason != ROLE_REASON_PROTOCOL) {
		return;
	}
	role_enter(role, reason, now);
}

void role_refuse(struct role *role, enum role_reason reason, uint64_t now) {
	role_enter(role, reason, now);
}

struct role_past role_past(const struct role *role, uint64_t now) {
	bool seen = role->last_change != 0 && now > role->last_change;
	return (struct role_past){
			.state = role->state,
			.reason = role->reason,
			.since = role->since,
			.still_ns = seen ? now - role->last_change : 0,
	};
}

void role_resume(struct role *role, const struct role_past *past, uint64_t now) {
	role->state = past->state;
	role->reason = past->reason;
	role->since = past->since;
	if (past->still_ns > 0 && past->still_ns < now) {
		role->last_change = now - past->still_ns;
		role->knows_colour = false;
	}
	if (role->state == ROLE_LIVE) {
		role_enter(role, ROLE_REASON_RESTARTED, now);
	}
}

uint64_t role_next_tick(const struct role *role) {
	if (role->state != ROLE_LIVE) {
		return UINT64_MAX;
	}
	uint64_t next = role->last_frame + role->limits.deadline_ns + 1;
	if (role->limits.frozen_ns != 0 && role->last_change + role->limits.frozen_ns + 1 < next) {
		next = role->last_change + role->limits.frozen_ns + 1;
	}
	return next;
}

const char *role_state_name(enum role_state state) {
	static const char *const names[] = {
			[ROLE_WAITING] = "waiting",
			[ROLE_LIVE] = "live",
			[ROLE_LATE] = "late",
			[ROLE_FROZEN] = "frozen",
			[ROLE_WRONG] = "wrong",
			[ROLE_LOST] = "lost",
	};
	return names[state];
}

static const struct {
	const char *name, *text;
	enum role_state state;
} reasons[] = {
		[ROLE_REASON_NONE] = {"none", "all checks passed", ROLE_LIVE},
		[ROLE_REASON_STARTING] = {"starting", "the stream has not appeared yet",
				ROLE_WAITING},
		[ROLE_REASON_DEADLINE] = {"deadline", "no frame within the deadline", ROLE_LATE},
		[ROLE_REASON_RATE] = {"rate", "fewer frames a second than allowed", ROLE_LATE},
		[ROLE_REASON_FROZEN] = {"frozen", "the picture does not change", ROLE_FROZEN},
		[ROLE_REASON_NO_HASH] = {"no-hash", "the frame has no content hash", ROLE_WRONG},
		[ROLE_REASON_HASH_MISMATCH] = {"hash-mismatch",
				"the pixels are not what the frame says", ROLE_WRONG},
		[ROLE_REASON_NO_CHECK] = {"no-check", "the frame has no check as protection= asks",
				ROLE_WRONG},
		[ROLE_REASON_CHECK_MISMATCH] = {"check-mismatch",
				"the frame is not what its check says", ROLE_WRONG},
		[ROLE_REASON_NOT_ALLOWED] = {"not-allowed",
				"a picture that is not in the allowed set", ROLE_WRONG},
		[ROLE_REASON_SEQUENCE] = {"old-frame", "an old frame came again", ROLE_WRONG},
		[ROLE_REASON_AGE] = {"age", "the frame is older than the deadline", ROLE_WRONG},
		[ROLE_REASON_AHEAD] = {"ahead", "the frame is dated later than it came",
				ROLE_WRONG},
		[ROLE_REASON_CORRUPTED] = {"corrupted", "the producer says that pixels are wrong",
				ROLE_WRONG},
		[ROLE_REASON_LAYOUT] = {"layout",
				"a picture of another size than the region, or not linear",
				ROLE_WRONG},
		[ROLE_REASON_FORMAT] = {"format",
				"a picture of a format that formats= does not have", ROLE_WRONG},
		[ROLE_REASON_TRANSFORM] = {"transform",
				"a picture that is turned, as transform= does not allow",
				ROLE_WRONG},
		[ROLE_REASON_MEMORY] = {"memory",
				"the picture's memory may not be read, or is gone", ROLE_WRONG},
		[ROLE_REASON_TAKEN_BACK] = {"taken-back",
				"the slot was taken back before the picture was read", ROLE_WRONG},
		[ROLE_REASON_DISPLAY] = {"display", "the display does not show the frame's pixels",
				ROLE_WRONG},
		[ROLE_REASON_OFF_OUTPUT] = {"off-output", "not all of the region is on the output",
				ROLE_WRONG},
		[ROLE_REASON_HIDDEN] = {"hidden", "the producer hides the surface", ROLE_LOST},
		[ROLE_REASON_ENDED] = {"ended", "the stream ended", ROLE_LOST},
		[ROLE_REASON_DIED] = {"died", "the producer or its domain died", ROLE_LOST},
		[ROLE_REASON_PROTOCOL] = {"protocol", "the producer broke the protocol", ROLE_LOST},
		[ROLE_REASON_RESTARTED] = {"restarted", "the display was started again", ROLE_LOST},
};

enum role_state role_state_of(enum role_reason reason) {
	return reasons[reason].state;
}

const char *role_reason_name(enum role_reason reason) {
	return reasons[reason].name;
}

const char *role_reason_text(enum role_reason reason) {
	return reasons[reason].text;
}
