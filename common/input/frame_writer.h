// SPDX-License-Identifier: MIT
/**
 * Sends a stream of frames of a published form (frame_form.h), each of which says all that counts
 * at its time. Belongs to the thread of its gid_domain, and never waits for gidd.
 */
#ifndef GID_FRAME_WRITER_H
#define GID_FRAME_WRITER_H

#include <gid/stream.h>

#include "frame_form.h"

struct frame_writer;

/* From gid_domain_dispatch(), where the callee may destroy the writer, but for `write`. */
struct frame_writer_events {
	/*
	 * The stream and its memory are there (0), or why not. After an error the writer can only
	 * be destroyed.
	 */
	void (*published)(void *data, int error);
	/* How many readers there are now. */
	void (*readers)(void *data, uint32_t readers);
	/*
	 * Writes the present state into a slot. From frame_writer_flush(), or later where that had
	 * no slot. `emptied` changes when what was written into slots before is lost.
	 */
	void (*write)(void *data, void *memory, uint32_t slot, uint64_t emptied);
};

/* Returns 0, and `published` is called; or -errno, as gid_slab_create_async() and
 * gid_producer_create(). `form` and `events` outlive it. */
int frame_writer_create(struct gid_domain *domain, const char *stream,
		const struct frame_form *form, const struct frame_writer_events *events, void *data,
		struct frame_writer **created);

/* Before the domain is destroyed. Accepts NULL. */
void frame_writer_destroy(struct frame_writer *writer);

/* The state has changed: the next frame_writer_flush() sends it. */
void frame_writer_mark(struct frame_writer *writer);

/* Sends what is new. Where readers hold all memory it is sent later, see the deadline. */
void frame_writer_flush(struct frame_writer *writer);

/* When frame_writer_flush() is to be called again; UINT64_MAX: never. */
uint64_t frame_writer_deadline(const struct frame_writer *writer);

/* When a frame was sent last; 0: none was. */
uint64_t frame_writer_sent(const struct frame_writer *writer);

uint32_t frame_writer_readers(const struct frame_writer *writer);

#endif
