// SPDX-License-Identifier: MIT
/**
 * Receives a stream of frames of a published form (frame_form.h), of which only the newest counts.
 * Belongs to the thread of its gid_domain, and never waits for gidd.
 *
 * A look costs no more than one frame, whatever the sender does.
 */
#ifndef GID_FRAME_READER_H
#define GID_FRAME_READER_H

#include <gid/stream.h>

#include "frame_form.h"

struct frame_reader;

/* None of them destroys the reader. */
struct frame_reader_events {
	/* Copies a frame out of its slot, which may change meanwhile, and checks the copy. Returns
	 * 0; or -errno: the sender breaks the rules. */
	int (*copy)(void *data, const void *slot);
	/*
	 * The last copy is valid: the sender did not change the slot meanwhile. `clock_offset_ns`:
	 * what the sender's clock is ahead of ours.
	 */
	void (*use)(void *data, int64_t clock_offset_ns);
	/*
	 * Drop all state of the sender: frames from before this time of CLOCK_MONOTONIC do not
	 * count.
	 */
	void (*begin)(void *data, uint64_t time);
	/* frame_reader_deadline() has changed. From gid_domain_dispatch(). */
	void (*woken)(void *data);
	/* For the log: the sender came; or it went, or is refused, with the reason or NULL. */
	void (*sender_changed)(void *data, bool is_there, const char *why);
};

/*
 * Begins to wait for the stream. Uses one frame in `rest_ns` at most. Returns 0; or -errno, as
 * gid_consumer_create(). `form` and `events` outlive the reader.
 */
int frame_reader_create(struct gid_domain *domain, const char *owner, const char *stream,
		const struct frame_form *form, uint64_t rest_ns,
		const struct frame_reader_events *events, void *data,
		struct frame_reader **created);

/* Before the domain is destroyed. Accepts NULL. */
void frame_reader_destroy(struct frame_reader *reader);

/* Readable when frame_reader_dispatch() has something to do. It never changes. */
int frame_reader_get_fd(const struct frame_reader *reader);

/* When it has something to do without that; UINT64_MAX: never. */
uint64_t frame_reader_deadline(const struct frame_reader *reader);
void frame_reader_dispatch(struct frame_reader *reader);

#endif
