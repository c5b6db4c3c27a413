// SPDX-License-Identifier: MIT
/**
 * The roles of the domain's gid-cluster and their changes of state, as its status has them. It is
 * asked once a second, as *gidctl top* does, and keeps the last 64 changes of each role: none is
 * missed that is not one of more than 64 in a second.
 */
#ifndef RECORDER_ROLE_WATCH_H
#define RECORDER_ROLE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>
#include <systemd/sd-json.h>

#define ROLE_WATCH_ROLES 64u
#define ROLE_WATCH_CHANGES 1024u
#define ROLE_WATCH_DISPLAY "gid-cluster" /* in the place of a role: itself, which is gone */
#define ROLE_WATCH_TEXT 64u		 /* bytes of a name, a state or a reason, with its NUL */

struct role_change {
	char role[ROLE_WATCH_TEXT], from[ROLE_WATCH_TEXT], to[ROLE_WATCH_TEXT];
	char reason[ROLE_WATCH_TEXT];
	/* CLOCK_MONOTONIC; 0: unknown, or not yet */
	uint64_t due, decided, last_frame, shown;
};

struct watched_role {
	char name[ROLE_WATCH_TEXT], stream[ROLE_WATCH_TEXT], domain[ROLE_WATCH_TEXT];
	char state[ROLE_WATCH_TEXT], reason[ROLE_WATCH_TEXT], detail[ROLE_WATCH_TEXT];
	uint64_t deadline_ns;
	uint64_t newest; /* when its last change was decided */
	uint64_t known;	 /* the status that had it last: of this time */
	uint64_t filed;	 /* kept for the recorder; 0 at first */
};

struct role_watch {
	const char *domain, *path; /* of the display; the path of its socket, or NULL */
	sd_event *event;
	sd_event_source *source; /* of an answer that is awaited, or NULL */
	char *text;		 /* what came of it */
	size_t size;
	bool is_there;	 /* it answers: not, if it has ended, or gave no answer for too long */
	uint64_t known;	 /* when it did so last; 0: never */
	uint64_t before; /* and the time before that */
	uint64_t asked;	 /* when it is waited for since */
	uint64_t missed; /* since when nothing that it was asked has an answer; 0: the last has */
	uint64_t began;	 /* changes before that are no incidents */
	bool is_full;	 /* there was no room for a role */
	size_t role_count;
	struct watched_role roles[ROLE_WATCH_ROLES];
	uint64_t change_count; /* since the beginning; the last ROLE_WATCH_CHANGES are there */
	struct role_change changes[ROLE_WATCH_CHANGES];
	/* None is older. Also that the display is gone, which is none of `changes`. */
	void (*changed)(void *data, const struct role_change *change);
	void *data;
};

/* The memory that it takes, in bytes: its own, and while an answer is read. */
size_t role_watch_size(void);
size_t role_watch_answer_size(void);

/* Of the display of this domain, which may come later, at its usual socket where `path` is NULL.
 * Returns 0 or -ENOMEM. */
int role_watch_init(struct role_watch *watch, sd_event *event, const char *domain, const char *path,
		void (*changed)(void *data, const struct role_change *change), void *data);
void role_watch_finish(struct role_watch *watch);

/* Asks. What it says comes later, by the event loop. */
void role_watch_ask(struct role_watch *watch);

/*
 * Takes a status, whatever it has. A role that it has no more, as after the display was started
 * with another configuration, is known still until others need its place.
 */
void role_watch_take(struct role_watch *watch, sd_json_variant *status);

uint64_t role_watch_first(const struct role_watch *watch);
const struct role_change *role_watch_get(const struct role_watch *watch, uint64_t number);

#endif
