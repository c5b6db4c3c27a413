// SPDX-License-Identifier: MIT
/**
 * Pictures that consumers of a stream hold, or are about to get: buffers of clients, and slots of
 * our own. Each is released when it is not shown any more, and no consumer holds its slot.
 *
 * Runs on the compositor's thread.
 */
#ifndef GID_WESTON_LENT_BUFFERS_H
#define GID_WESTON_LENT_BUFFERS_H

#include <libweston/libweston.h>

#include "forward_picture.h"

struct lent_buffer {
	struct wl_list link;
	gid_id gid;
	bool is_copy;	       /* the slot is ours */
	struct gid_slab *slab; /* our reference */
	struct weston_buffer_reference buffer;
	struct weston_buffer_release_reference release;
	uint64_t outdated; /* for its owner: when another one replaced it */
};

/*
 * Adds the picture. If consumers still hold it from an earlier time, it is the same entry. Returns
 * NULL without memory.
 */
struct lent_buffer *lent_buffers_add(struct wl_list *list, const struct forward_picture *picture);

/* Releases those that no consumer holds, except `shown`, which may be NULL. */
void lent_buffers_give_back(struct wl_list *list, const struct lent_buffer *shown);

/* Releases all of them, even if consumers hold them. */
void lent_buffers_end(struct wl_list *list);

#endif
