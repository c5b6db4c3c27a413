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
#include "params.h"
#include "pool.h"

/* Makes buffers of what clients ask for; its data: struct module. */
extern const struct params_backend buffer_backend;

/* The gid that a wl_buffer was made of (its first plane's); GID_NONE for other buffers. */
gid_id buffer_get_gid(struct wl_resource *resource);

/* How many wl_buffers made of gids the client has or waits for. */
uint32_t buffers_count(const struct module *module, const struct wl_client *client);

/* What a wl_buffer shows. */
struct buffer_memory {
	gid_id gid;
	struct gid_slab *slab; /* no reference; NULL: not there (any more), or of several planes */
	const struct gid_layout *layout;
	bool pending; /* it will be there: safety_buffer_settled() is called */
};

/* Whether the wl_buffer is made of gids; then `memory` is filled. */
bool buffer_get_memory(const struct module *module, const struct wl_resource *resource,
	struct buffer_memory *memory);

/* All buffers give back what they have of the domain, which ends. What they show stays. */
void buffers_forget_domain(struct module *module);

/* At the module's end; the wl_buffers stay. */
void buffers_finish(struct module *module);

#endif
