// SPDX-License-Identifier: MIT
/** The state that a sender of input sends: what is held now, and the last events. Pure. */
#ifndef GID_INPUT_LOG_H
#define GID_INPUT_LOG_H

#include "input_format.h"

struct input_log {
	struct input_head head;
	struct input_record events[INPUT_EVENTS_MAX]; /* the last ones, oldest first */
	uint64_t written; /* the number of the event after those that were in a frame */
	bool in_group;	  /* the last one is no INPUT_GROUP_END */
};

void input_log_init(struct input_log *log, uint32_t lease_ms);

/*
 * Adds an event. A motion is joined with the one before it that no frame has yet. Events that
 * change nothing are dropped: a key that is held is not pressed again, and an empty group does not
 * end. Returns whether there is something to send.
 */
bool input_log_add(struct input_log *log, const struct input_record *event);

/* Releases of what is held these, or all, at this time. Returns whether anything was. */
bool input_log_release(struct input_log *log, const struct input_held *these, uint64_t time);
bool input_log_release_all(struct input_log *log, uint64_t time);

/* Forgets the events, not what is held. */
void input_log_forget(struct input_log *log);

/* Puts all of it into a slot. */
void input_log_write(struct input_log *log, void *slot);

#endif
