// SPDX-License-Identifier: MIT
/**
 * The wl_buffers made of gids, from the import of their memory to their end.
 *
 * A buffer belongs to its wl_buffer and ends with it. Before that exists, it belongs to its
 * creator. All runs on the compositor's thread.
 */
#ifndef GID_WESTON_BUFFER_H
#define GID_WESTON_BUFFER_H

#include <libweston/libweston.h>

#include "gidd_connection.h"
#include "hidden_client.h"
#include "params.h"
#include "shown.h"

/* What a surface shows after its buffer's memory is revoked. */
enum on_revoke {
	ON_REVOKE_KEEP,	 /* its last content */
	ON_REVOKE_BLANK, /* nothing */
};

/* All of them, and what they are created with, which must outlive them. */
struct buffers {
	struct weston_compositor *compositor;
	struct hidden_client *hidden;
	const struct gidd_connection *connection;
	struct weston_log_scope *details; /* the scope "gid": what happens to each buffer */
	enum on_revoke on_revoke;
	/* The import of a wl_buffer has ended: its memory is there, or will not be. */
	void (*settled)(void *data, struct wl_resource *buffer);
	void *data;
	struct wl_list list; /* struct buffer::link */
	uint32_t count;	     /* in it */
	struct shown_buffers shown;
	struct {
		uint64_t bytes;	  /* copies of revoked buffers */
		uint64_t at_once; /* of them, those of this turn of `shown` */
		uint64_t turn;
	} kept;
};

/* The caller sets the other members before there are any buffers. */
void buffers_init(struct buffers *buffers, struct weston_compositor *compositor);

/* Creates buffers for clients; its data is struct buffers. */
extern const struct params_backend buffer_backend;

/* The gid of a wl_buffer's first plane; GID_NONE for other buffers. */
gid_id buffer_get_gid(struct wl_resource *resource);

/* The memory of a wl_buffer. */
struct buffer_memory {
	gid_id gid;
	struct gid_slab *slab; /* no reference; NULL: not there yet, or revoked, or several slots */
	const struct gid_layout *layout;
	bool pending; /* the import is under way: buffers::settled follows */
};

/* Whether the wl_buffer is made of gids; then sets `memory`. */
bool buffer_get_memory(struct wl_resource *resource, struct buffer_memory *memory);

/*
 * Whether the gid can be sent in streams of the domain. Consumers know only the layout of its slab:
 * the client's must be the same, except for alpha. `memory` has a slab.
 */
bool buffer_memory_can_be_lent(const struct buffer_memory *memory, const struct gid_domain *domain);

/* The domain ends: all buffers give back what they hold of it. They keep what they show. */
void buffers_forget_domain(struct buffers *buffers);

/* At the end of the module; the wl_buffers stay. */
void buffers_finish(struct buffers *buffers);

#endif
