// SPDX-License-Identifier: MIT
/**
 * Receives the input of another domain, and plays it (input_player.h). Belongs to the thread of its
 * gid_domain, and never waits for gidd.
 *
 * A look costs no more than one frame, whatever the sender does: only the newest counts.
 */
#ifndef GID_INPUT_RECEIVER_H
#define GID_INPUT_RECEIVER_H

#include <gid/stream.h>

#include "input_player.h"

struct input_receiver;

struct input_receiver_events {
	struct input_sink sink;
	/* input_receiver_deadline() has changed. From gid_domain_dispatch(). */
	void (*woken)(void *data);
	/* For the log: the sender came; or it went, or is refused, with the reason or NULL. */
	void (*sender_changed)(void *data, bool is_there, const char *why);
	/*
	 * The text of the sender's keymap, valid during the call; NULL: it has none. The function
	 * may be NULL: then keymaps are not copied.
	 */
	void (*keymap)(void *data, const char *text);
};

/* Begins to wait for the stream. Returns 0; or -errno, as gid_consumer_create(). */
int input_receiver_create(struct gid_domain *domain, const char *owner, const char *stream,
		const struct input_receiver_events *events, void *data,
		struct input_receiver **created);

/* Releases what is held first. To be called before the domain is destroyed. Accepts NULL. */
void input_receiver_destroy(struct input_receiver *receiver);

/*
 * Releases what is held, as when another window gets the events from now on: the user has to press
 * it again.
 */
void input_receiver_release(struct input_receiver *receiver);

/* Readable when input_receiver_dispatch() has something to do. It never changes. */
int input_receiver_get_fd(const struct input_receiver *receiver);

/* When it has something to do without that; UINT64_MAX: never. */
uint64_t input_receiver_deadline(const struct input_receiver *receiver);
void input_receiver_dispatch(struct input_receiver *receiver);

#endif
