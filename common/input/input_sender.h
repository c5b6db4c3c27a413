// SPDX-License-Identifier: MIT
/**
 * Sends input as a stream of our domain. Belongs to the thread of its gid_domain, and never waits
 * for gidd once it is made.
 *
 * While anything is held it has to be asked again and again: input_sender_deadline() says when
 * input_sender_dispatch() has something to do.
 */
#ifndef GID_INPUT_SENDER_H
#define GID_INPUT_SENDER_H

#include <gid/stream.h>

#include "input_format.h"

struct input_sender;

/* From gid_domain_dispatch(). The callee may destroy the sender. */
struct input_sender_events {
	/* The stream is there: 0, or why not. After an error it can only be destroyed. */
	void (*published)(void *data, int error);
	/* How many readers there are now. */
	void (*readers)(void *data, uint32_t readers);
};

/*
 * `lease_ms`: how long readers hold what is held when they hear nothing, in the bounds of
 * input_format.h. Returns 0; or -errno, as gid_slab_create_async() and gid_producer_create().
 */
int input_sender_create(struct gid_domain *domain, const char *stream, uint32_t lease_ms,
		const struct input_sender_events *events, void *data,
		struct input_sender **created);

/* Readers release all that is held. To be called before the domain is destroyed. Accepts NULL. */
void input_sender_destroy(struct input_sender *sender);

/* What the seat has, bits of enum input_devices; and the text of its keymap, NULL: none. One that
 * is too large is left out: -E2BIG. They are sent with the next event. */
void input_sender_set_devices(struct input_sender *sender, uint32_t devices);
int input_sender_set_keymap(struct input_sender *sender, const char *text);

/*
 * Asks readers for a picture of this size, in pixels, each at most INPUT_SIZE_MAX, and tells the
 * scale of the screen, as in struct input_head; 0, 0 and 0: any size. Sent with
 * input_sender_flush().
 */
void input_sender_set_size(
		struct input_sender *sender, uint32_t width, uint32_t height, uint32_t scale);

/* Asks readers to close the window. Sent with input_sender_flush(). */
void input_sender_close(struct input_sender *sender);

/* Adds an event, with a time of CLOCK_MONOTONIC; it goes out with input_sender_flush(). */
void input_sender_add(struct input_sender *sender, const struct input_record *event);

/* Releases of what is held these, or all, and sends that. */
void input_sender_release(struct input_sender *sender, const struct input_held *these);
void input_sender_release_all(struct input_sender *sender);

/* Sends what is new. Where readers hold all memory it is sent later, see the deadline. */
void input_sender_flush(struct input_sender *sender);

/* When input_sender_dispatch() is to be called at the latest; UINT64_MAX: never. */
uint64_t input_sender_deadline(const struct input_sender *sender);
void input_sender_dispatch(struct input_sender *sender);

uint32_t input_sender_readers(const struct input_sender *sender);

#endif
