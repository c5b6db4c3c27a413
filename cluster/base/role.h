// SPDX-License-Identifier: MIT
/**
 * One safety role (a telltale, the rear camera) as the cluster sees it: a state machine that says
 * whether the picture may be shown as live, and if not, why not.
 *
 * Pure: no clock, no memory, no drawing. Time comes in with every call as CLOCK_MONOTONIC
 * nanoseconds of this domain, so a table test can drive it. Used by one thread.
 */
#ifndef CLUSTER_ROLE_H
#define CLUSTER_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum role_state {
	ROLE_WAITING, /* nothing came yet */
	ROLE_LIVE,    /* what is shown is what the other domain shows now */
	ROLE_LATE,    /* frames stay away, or are too few */
	ROLE_FROZEN,  /* frames come, but the picture does not change where it must */
	ROLE_WRONG,   /* a picture that must not be shown, or was not shown as meant */
	ROLE_LOST,    /* the stream ended, or its producer or domain died */
};

enum role_reason {
	ROLE_REASON_NONE,
	ROLE_REASON_STARTING,	    /* waiting: the stream is not there yet */
	ROLE_REASON_DEADLINE,	    /* late: no frame within the deadline */
	ROLE_REASON_RATE,	    /* late: fewer frames a second than the least allowed */
	ROLE_REASON_FROZEN,	    /* frozen: the same picture for too long */
	ROLE_REASON_NO_HASH,	    /* wrong: the frame does not say what it shows */
	ROLE_REASON_HASH_MISMATCH,  /* wrong: the pixels are not what the frame says */
	ROLE_REASON_NO_CHECK,	    /* wrong: the frame has no check of the role's kind */
	ROLE_REASON_CHECK_MISMATCH, /* wrong: not what its check is of */
	ROLE_REASON_NOT_ALLOWED,    /* wrong: a picture that is not in the allowed set */
	ROLE_REASON_SEQUENCE,	    /* wrong: an old frame came again */
	ROLE_REASON_AGE,	    /* wrong: submitted longer ago than the deadline */
	ROLE_REASON_AHEAD,	/* wrong: dated later than it came, so that its age is unknown */
	ROLE_REASON_CORRUPTED,	/* wrong: the producer itself says that pixels are wrong */
	ROLE_REASON_LAYOUT,	/* wrong: of another size than the region, or not linear */
	ROLE_REASON_FORMAT,	/* wrong: of a format that the role does not take */
	ROLE_REASON_TRANSFORM,	/* wrong: turned as the role does not take it */
	ROLE_REASON_MEMORY,	/* wrong: the memory may not be read, or is gone */
	ROLE_REASON_TAKEN_BACK, /* wrong: the slot was written again while it was shown */
	ROLE_REASON_DISPLAY,	/* wrong: the composed pixels are not the frame's */
	ROLE_REASON_OFF_OUTPUT, /* wrong: not all of the region is on the output */
	ROLE_REASON_HIDDEN,	/* lost: the producer hides the surface */
	ROLE_REASON_ENDED,	/* lost: the stream ended in good order */
	ROLE_REASON_DIED,	/* lost: its producer, daemon or domain died */
	ROLE_REASON_PROTOCOL,	/* lost: its producer broke the protocol */
	ROLE_REASON_RESTARTED,	/* lost: whoever watched over it was started again */
	ROLE_REASON_LAST = ROLE_REASON_RESTARTED,
};

/* Limits of one role, from the configuration. */
struct role_limits {
	uint64_t deadline_ns; /* a frame or heartbeat at least this often; > 0 */
	uint64_t frozen_ns;   /* the picture must change this often; 0: it may stand still */
	uint32_t min_rate;    /* frames in any second; 0: no such limit */
	uint32_t good_frames; /* frames in a row that bring a role back to live; at least 1 */
};

/* What the checks found out about one received frame. */
struct role_frame {
	enum role_reason refused; /* why its picture cannot be shown, whatever it is; else _NONE */
	uint64_t sequence;
	uint64_t submit_time; /* in this domain's clock */
	uint64_t clock_error; /* of that, at most, where the producer has another clock */
	uint64_t stated_hash; /* with has_hash */
	uint64_t pixel_hash;  /* of the pixels as they lie in memory */
	uint64_t colour;      /* of what is seen of them; only this process can tell it */
	bool has_hash;
	bool allowed;	/* the picture is of the set of those that may be shown, or all may */
	bool heartbeat; /* the same picture again, as a sign of life */
};

/* The state of a role that is kept across a restart of the process. */
struct role_past {
	enum role_state state;
	enum role_reason reason;
	uint64_t since;	   /* when the state was entered */
	uint64_t still_ns; /* how long the picture had not changed, as far as it was watched */
};

struct role {
	struct role_limits limits;
	enum role_state state;
	enum role_reason reason;
	uint64_t since; /* when the state was entered */
	uint64_t started, last_frame, last_change, last_sequence, last_colour;
	bool knows_colour; /* of the picture since last_change: not of one before a restart */
	uint32_t good;	   /* frames in a row that passed */
	/* arrival times of the last min_rate frames, as a ring */
	uint64_t *arrivals;
	size_t arrival_next;
	void (*changed)(struct role *role, enum role_state from, void *data); /* may be NULL */
	void *data;
};

/* Returns 0, -EINVAL for limits that cannot be met, -ENOMEM. */
int role_init(struct role *role, const struct role_limits *limits, uint64_t now);
void role_finish(struct role *role);

/* A frame came. Returns whether its picture may be shown (the role is or stays on its way to live).
 */
bool role_frame(struct role *role, const struct role_frame *frame, uint64_t now);

/* Time passed: call once a refresh. */
void role_tick(struct role *role, uint64_t now);

/* The stream went, and why: ROLE_REASON_HIDDEN, _ENDED, _DIED or _PROTOCOL. */
void role_lost(struct role *role, enum role_reason reason, uint64_t now);

/*
 * A check failed that is made elsewhere, of the frame's memory or of what is displayed:
 * ROLE_REASON_CORRUPTED to _OFF_OUTPUT.
 */
void role_refuse(struct role *role, enum role_reason reason, uint64_t now);

/* The state to keep for the next process. */
struct role_past role_past(const struct role *role, uint64_t now);

/*
 * To be called after role_init(): continues with the state of the last process. A role that was
 * live is lost until frames come; a failed role is still failed. The time for which the picture
 * stood still goes on counting, until this process has seen two different pictures.
 */
void role_resume(struct role *role, const struct role_past *past, uint64_t now);

/* Whether the received picture is shown; else the fallback is. */
static inline bool role_is_live(const struct role *role) {
	return role->state == ROLE_LIVE;
}

/* When role_tick() can change the state next: call it then at the latest. */
uint64_t role_next_tick(const struct role *role);

enum role_state role_state_of(enum role_reason reason); /* the one that it is a reason for */
const char *role_state_name(enum role_state state);
const char *role_reason_name(enum role_reason reason); /* one word, for programs */
const char *role_reason_text(enum role_reason reason); /* for people */

#endif
