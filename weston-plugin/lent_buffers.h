// SPDX-License-Identifier: MIT
/**
 * Pictures that readers of a stream have, or are about to get: clients' buffers, and slots of our
 * own. Each goes back when it is not shown any more, and nobody has its slot.
 *
 * Belongs to the compositor's thread.
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
	uint64_t outdated; /* its owner's: when another one was shown in its place */
};

/* The same one may be shown again before it came back. NULL for want of memory. */
struct lent_buffer *lent_buffers_add(struct wl_list *list, const struct forward_picture *picture);

/* Gives back those that nobody has, but for `shown`, which may be NULL. */
void lent_buffers_give_back(struct wl_list *list, const struct lent_buffer *shown);

/* Gives all of them back, whoever has them. */
void lent_buffers_end(struct wl_list *list);

#endif
