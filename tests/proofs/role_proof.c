// SPDX-License-Identifier: MIT
/**
 * What cluster/base/role.c promises, for CBMC: whatever comes in whatever order, as often as it
 * likes.
 *
 * `seen` is what an onlooker writes down of the same events, by the words of role.h alone. begin():
 * what both hold holds at the start. step(): where it holds, it holds after any one event, and the
 * role is live only where the onlooker would have it live. Both together are a proof for every
 * number of events. Time never goes back, and is at most 146 years.
 *
 * reaches_live() is to be refused: it says that no role is ever live.
 */
#include "role.c"

#define RATE_MOST 3u /* of min_rate: the ring of arrivals is as long */
#define TIME_MAX (UINT64_MAX / 4)

#define promise(what) __CPROVER_assert(what, #what)
#define suppose(what) __CPROVER_assume(what)

bool nondet_bool(void);
uint64_t nondet_time(void);
struct role nondet_role(void);
struct role_frame nondet_frame(void);
struct role_past nondet_past(void);

struct seen {
	uint64_t now;
	uint64_t sequence;	     /* of the last good frame since the stream began; 0: none */
	uint64_t arrived[RATE_MOST]; /* of the last good frames, the newest first; 0: none */
	uint64_t changed;	     /* when the picture changed last; 0: nobody watched it */
	uint64_t row;		     /* good frames since the last thing that was wrong */
	uint64_t colour;	     /* of the last good frame, with has_colour */
	bool has_colour;
};

static bool is_reason(enum role_reason reason) {
	return reason >= ROLE_REASON_NONE &&
			reason <= ROLE_REASON_LAST; /* CBMC's may be negative */
}

static struct seen nothing_seen(uint64_t now) {
	return (struct seen){.now = now};
}

static struct role_limits any_limits(void) {
	struct role_limits limits = nondet_role().limits;
	suppose(limits.deadline_ns >= 1 && limits.deadline_ns <= TIME_MAX);
	suppose(limits.frozen_ns <= TIME_MAX && limits.good_frames >= 1);
	suppose(limits.min_rate <= RATE_MOST);
	return limits;
}

static bool is_late(const struct role *role, const struct seen *seen) {
	return seen->now - seen->arrived[0] > role->limits.deadline_ns;
}

static bool is_frozen(const struct role *role, const struct seen *seen) {
	return role->limits.frozen_ns != 0 && seen->changed != 0 &&
			seen->now - seen->changed > role->limits.frozen_ns;
}

static bool is_often_enough(const struct role *role, const struct seen *seen) {
	uint32_t rate = role->limits.min_rate;
	return rate == 0 ||
			(seen->arrived[rate - 1] != 0 &&
					seen->now - seen->arrived[rate - 1] <= SECOND_NS);
}

/* What the role and the onlooker have in common between any two events. */
static bool agree(const struct role *role, const struct seen *seen) {
	bool live = role->state == ROLE_LIVE;
	uint32_t rate = role->limits.min_rate;
	for (uint32_t i = 0; i < RATE_MOST; i++) {
		if (i < rate &&
				role->arrivals[(role->arrival_next + rate - 1 - i) % rate] !=
						seen->arrived[i]) {
			return false;
		}
		if (seen->arrived[i] > seen->now) {
			return false;
		}
	}
	return is_reason(role->reason) && role->state == role_state_of(role->reason) &&
			(rate == 0 || role->arrival_next < rate) && role->since <= seen->now &&
			role->last_frame == seen->arrived[0] &&
			role->last_sequence == seen->sequence &&
			role->last_change == seen->changed && seen->changed <= seen->now &&
			role->knows_colour == seen->has_colour &&
			(!seen->has_colour || role->last_colour == seen->colour) &&
			(live ? seen->row >= role->limits.good_frames : role->good <= seen->row);
}

/* --- events ----------------------------------------------------------------------------------- */

static bool is_good(
		const struct role *role, const struct role_frame *frame, const struct seen *seen) {
	bool is_old = seen->now > frame->submit_time &&
			seen->now - frame->submit_time > role->limits.deadline_ns;
	bool is_ahead = frame->submit_time > seen->now &&
			frame->submit_time - seen->now > SECOND_NS + frame->clock_error;
	return frame->refused == ROLE_REASON_NONE && frame->sequence > seen->sequence && !is_old &&
			!is_ahead && frame->has_hash && frame->stated_hash == frame->pixel_hash &&
			frame->allowed;
}

static void see_good(struct seen *seen, const struct role_frame *frame) {
	if (seen->changed == 0 || (seen->has_colour && seen->colour != frame->colour)) {
		seen->changed = seen->now;
	}
	seen->colour = frame->colour;
	seen->has_colour = true;
	seen->sequence = frame->sequence;
	for (uint32_t i = RATE_MOST - 1; i > 0; i--) {
		seen->arrived[i] = seen->arrived[i - 1];
	}
	seen->arrived[0] = seen->now;
	seen->row++;
}

static void frame_comes(struct role *role, struct seen *seen) {
	struct role_frame frame = nondet_frame();
	suppose(is_reason(frame.refused) && frame.clock_error <= TIME_MAX);
	bool good = is_good(role, &frame, seen);
	bool was_late = role->state == ROLE_LATE;
	if (good) {
		see_good(seen, &frame);
	}
	bool bad = !good || is_frozen(role, seen);
	seen->row = bad ? 0 : seen->row;
	bool shown = role_frame(role, &frame, seen->now);
	promise(shown == role_is_live(role));
	promise(!(bad && role_is_live(role))); /* never live when wrong, repeated or unkeyed */
	promise(!role_is_live(role) || seen->row >= role->limits.good_frames);
	promise(!(was_late && role_is_live(role) && !is_often_enough(role, seen)));
}

static void time_passes(struct role *role, struct seen *seen) {
	bool was_live = role_is_live(role);
	uint64_t entered = role->since;
	role_tick(role, seen->now);
	if (role_is_live(role)) {
		promise(was_live); /* time alone makes nothing live */
		promise(!is_late(role, seen));
		promise(!is_frozen(role, seen));
		promise(seen->now - entered <= SECOND_NS || is_often_enough(role, seen));
	} else if (was_live) {
		seen->row = 0;
	}
}

static void stream_goes(struct role *role, struct seen *seen) {
	enum role_reason reason = nondet_role().reason;
	suppose(reason >= ROLE_REASON_HIDDEN && reason <= ROLE_REASON_PROTOCOL);
	role_lost(role, reason, seen->now);
	seen->sequence = reason == ROLE_REASON_HIDDEN ? seen->sequence : 0;
	seen->changed = 0;
	seen->row = 0;
	promise(!role_is_live(role));
}

static void check_fails(struct role *role, struct seen *seen) {
	enum role_reason reason = nondet_role().reason;
	suppose(reason >= ROLE_REASON_CORRUPTED && reason <= ROLE_REASON_OFF_OUTPUT);
	role_refuse(role, reason, seen->now);
	seen->row = 0;
	promise(!role_is_live(role));
}

static void any_event(struct role *role, struct seen *seen) {
	uint64_t now = nondet_time();
	suppose(now >= seen->now && now <= TIME_MAX && now > 0);
	seen->now = now;
	switch (nondet_time() % 4) {
	case 0:
		frame_comes(role, seen);
		break;
	case 1:
		time_passes(role, seen);
		break;
	case 2:
		stream_goes(role, seen);
		break;
	default:
		check_fails(role, seen);
		break;
	}
}

/* --- proofs ----------------------------------------------------------------------------------- */

/* A role as it begins, or as it goes on where the process before this one ended. */
static bool begins(struct role *role, struct seen *seen) {
	uint64_t now = nondet_time();
	suppose(now > 0 && now <= TIME_MAX);
	struct role_limits limits = any_limits();
	*seen = nothing_seen(now);
	if (role_init(role, &limits, now) < 0) {
		return false; /* there is no memory */
	}
	if (nondet_bool()) {
		struct role_past past = nondet_past();
		suppose(is_reason(past.reason) && past.since <= now);
		suppose(past.state == role_state_of(past.reason));
		role_resume(role, &past, now);
		if (past.still_ns > 0 && past.still_ns < now) {
			seen->changed = now - past.still_ns;
		}
	}
	return true;
}

void begin(void) {
	struct role role;
	struct seen seen;
	if (begins(&role, &seen)) {
		promise(!role_is_live(&role));
		promise(agree(&role, &seen));
		role_finish(&role);
	}
}

void step(void) {
	struct role role = nondet_role();
	struct seen seen;
	uint64_t arrivals[RATE_MOST]; /* whatever is there */
	role.limits = any_limits();
	role.arrivals = role.limits.min_rate > 0 ? arrivals : NULL;
	role.changed = NULL;
	suppose(seen.now <= TIME_MAX && seen.row <= TIME_MAX);
	suppose(role.limits.min_rate == 0 || role.arrival_next < role.limits.min_rate);
	suppose(agree(&role, &seen));
	any_event(&role, &seen);
	promise(agree(&role, &seen));
}

void reaches_live(void) {
	struct role role;
	struct seen seen;
	if (begins(&role, &seen)) {
		suppose(role.limits.good_frames == 2);
		any_event(&role, &seen);
		any_event(&role, &seen);
		promise(!role_is_live(&role));
		role_finish(&role);
	}
}
