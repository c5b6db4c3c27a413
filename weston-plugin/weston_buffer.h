// SPDX-License-Identifier: MIT
/**
 * The wl_buffers made of gids: each from the question for its memory to its end.
 *
 * A buffer belongs to its wl_buffer and goes with it. Before there is one, it belongs to whoever
 * made it. Everything belongs to the compositor's thread.
 */
#ifndef GID_WESTON_BUFFER_H
#define GID_WESTON_BUFFER_H

#include <libweston/libweston.h>

#include "gidd_connection.h"
#include "hidden_client.h"
#include "params.h"
#include "shown.h"

/* What a surface shows when the memory of its buffer is taken back. */
enum on_revoke {
	ON_REVOKE_KEEP,	 /* its last content */
	ON_REVOKE_BLANK, /* nothing */
};

/* All of them, and what they are made with; what is pointed to outlives them. */
struct buffers {
	struct weston_compositor *compositor;
	struct hidden_client *hidden;
	const struct gidd_connection *connection;
	struct weston_log_scope *details; /* "gid": every buffer's fate */
	enum on_revoke on_revoke;
	/* The memory of a wl_buffer is there now, or will not be. */
	void (*settled)(void *data, struct wl_resource *buffer);
	void *data;
	struct wl_list list; /* struct buffer::link */
	uint32_t count;	     /* in it */
	struct shown_buffers shown;
	struct {
		uint64_t bytes;	  /* copies that surfaces show of what was revoked */
		uint64_t at_once; /* of them, in this turn of `shown` */
		uint64_t turn;
	} kept;
};

/* None yet. What they are made with is the caller's to fill in, before there are any. */
void buffers_init(struct buffers *buffers, struct weston_compositor *compositor);

/* Makes buffers of what clients ask for; its data: struct buffers. */
extern const struct params_backend buffer_backend;

/* The gid that a wl_buffer was made of (its first plane's); GID_NONE for other buffers. */
gid_id buffer_get_gid(struct wl_resource *resource);

/* What a wl_buffer shows. */
struct buffer_memory {
	gid_id gid;
	struct gid_slab *slab; /* no reference; NULL: not there (any more), or of several slots */
	const struct gid_layout *layout;
	bool pending; /* it will be there: buffers::settled is called */
};

/* Whether the wl_buffer is made of gids; then `memory` is filled. */
bool buffer_get_memory(struct wl_resource *resource, struct buffer_memory *memory);

/*
 * Whether readers of the domain's streams can be sent the gid. They know the layout of its slab
 * only: the client must have shown just that, but for its alpha. It has a slab.
 */
bool buffer_memory_can_be_lent(const struct buffer_memory *memory, const struct gid_domain *domain);

/* All buffers give back what they have of the domain, which ends. What they show stays. */
void buffers_forget_domain(struct buffers *buffers);

/* At the module's end; the wl_buffers stay. */
void buffers_finish(struct buffers *buffers);

#endif
