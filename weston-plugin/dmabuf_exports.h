// SPDX-License-Identifier: MIT
/**
 * The dma-bufs of ordinary clients that one role has shown: each is exported once, as a slab of one
 * slot, and stays so until its wl_buffer or the role goes.
 *
 * Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_DMABUF_EXPORTS_H
#define GID_WESTON_DMABUF_EXPORTS_H

#include <libweston/libweston.h>

#include "refusal.h"

struct dmabuf_exports {
	struct wl_list list; /* struct dmabuf_export::link, the last used one first */
	uint32_t count;
	uint32_t exporting; /* gidd was asked, and has not answered yet */
	/* gidd has answered: what was to come later may be there now. */
	void (*settled)(void *data);
	void *data;
};

enum dmabuf_found {
	DMABUF_FOUND,
	DMABUF_LATER, /* `settled` will be called */
	DMABUF_REFUSED,
};

void dmabuf_exports_init(struct dmabuf_exports *exports, void (*settled)(void *data), void *data);

/* Forgets all. Frames that others have still keep their slab, which has a reference each. */
void dmabuf_exports_finish(struct dmabuf_exports *exports);

/* The same, but what gidd was asked for counts until it answers: nobody can ask for more than that.
 */
void dmabuf_exports_forget(struct dmabuf_exports *exports);

/*
 * Finds the slab of the buffer, which is of the type WESTON_BUFFER_DMABUF, or says in `refusal` why
 * there is none. Never waits.
 */
enum dmabuf_found dmabuf_exports_get(struct dmabuf_exports *exports, struct gid_domain *domain,
		const struct weston_buffer *buffer, struct gid_slab **slab,
		struct refusal *refusal);

#endif
