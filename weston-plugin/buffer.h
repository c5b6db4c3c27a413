// SPDX-License-Identifier: MIT
/**
 * One wl_buffer made of gids: from the question for its memory to the end of the wl_buffer.
 *
 * A buffer belongs to its wl_buffer and goes with it. Before there is one, it belongs to whoever
 * made it.
 */
#ifndef GID_WESTON_BUFFER_H
#define GID_WESTON_BUFFER_H

#include "module.h"
#include "pool.h"
#include <gid/domain.h>

struct buffer;

/* What becomes of a buffer. Each is called at most once, in this order, on the compositor's thread.
 */
struct buffer_events {
	/*
	 * The memory is there, and shown: `error` 0. Otherwise -ENOENT, or -ERANGE: a plane leaves
	 * its slot. May be called from within buffer_create(). A buffer that has no wl_buffer yet
	 * is destroyed right after an error.
	 */
	void (*settled)(void *data, int error);
	/* The owner took the memory back. */
	void (*revoked)(void *data);
	/* The buffer ends, and `data` is not used any more. */
	void (*destroyed)(void *data);
};

/* A picture whose planes may lie in different slots. Its layout is valid by itself, see params.c.
 */
struct picture {
	struct gid_layout layout;
	gid_id gids[GID_PLANES_MAX];
};

/*
 * Begins a buffer for `client`. With an `id`, the wl_buffer is made at once, and blank until the
 * memory is there; with 0, when the memory is there. Returns 0 and, unless it was destroyed on the
 * way, the buffer; -ENOMEM.
 */
int buffer_create(struct module *module, struct wl_client *client, uint32_t id,
	const struct picture *picture, const struct buffer_events *events, void *data,
	struct buffer **buffer);

/* The wl_buffer, NULL where there is none yet. */
struct wl_resource *buffer_get_resource(const struct buffer *buffer);

/* `data` goes away: no event any more. A buffer that has no wl_buffer is destroyed. */
void buffer_abandon(struct buffer *buffer);

/* How many wl_buffers made of gids the client has or waits for. */
uint32_t buffers_count(const struct module *module, const struct wl_client *client);

/* All buffers give back what they have of the domain, which ends. What they show stays. */
void buffers_forget_domain(struct module *module);

/* At the module's end; the wl_buffers stay. */
void buffers_finish(struct module *module);

#endif
