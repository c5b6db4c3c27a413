// SPDX-License-Identifier: MIT
/** What buffer.c and buffer_show.c share: the first has a buffer's life, the second makes its
 * wl_buffer. */
#ifndef GID_WESTON_BUFFER_STATE_H
#define GID_WESTON_BUFFER_STATE_H

#include "buffer.h"
#include "pool.h"

enum buffer_state {
	BUFFER_IMPORTING,
	BUFFER_SHOWN,
	BUFFER_REVOKED,
	BUFFER_FAILED, /* stays blank */
};

struct buffer_plane {
	struct buffer *buffer;
	struct gid_slab *slab; /* our reference, or NULL */
	bool listening;	       /* for the slab's revocation */
};

struct buffer {
	struct module *module;
	struct wl_list link; /* module::buffers */
	struct wl_client *client;
	struct picture picture;
	const struct buffer_events *events; /* NULL: abandoned */
	void *data;

	enum buffer_state state;
	struct buffer_plane planes[GID_PLANES_MAX];
	uint32_t imports_pending;
	struct wl_event_source *settle_timer; /* after a revocation */

	struct wl_resource *resource; /* the wl_buffer, or NULL */
	struct wl_listener resource_destroy;
	struct pool pool; /* without an address: made of dma-bufs */
	bool pool_fits; /* it was made for this layout: false for a stand-in that can only be blank
			 */
};

/* buffer.c: the wl_buffer was made, and the buffer now belongs to it. */
void buffer_set_resource(struct buffer *buffer, struct wl_resource *resource);

/* buffer.c: the wl_buffer goes, of which the client has not heard; the buffer stays. */
void buffer_destroy_resource(struct buffer *buffer);

/*
 * buffer_show.c: all slabs are there. Makes the wl_buffer, with `id` or one of the server's (0),
 * unless it exists, and shows the memory in it. Returns 0; -ENOENT, -ERANGE, -ENOTSUP, -ENOMEM,
 * where there may be a blank wl_buffer or none.
 */
int buffer_show(struct buffer *buffer, uint32_t id);

/* buffer_show.c: makes a wl_buffer that shows nothing so far. Returns 0 or -ENOMEM. */
int buffer_make_blank(struct buffer *buffer, uint32_t id);

#endif
