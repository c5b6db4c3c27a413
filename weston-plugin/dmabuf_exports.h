// SPDX-License-Identifier: MIT
/**
 * The dma-bufs of ordinary clients that one role has shown: each is exported once, as a slab of one
 * slot, and stays so until its wl_buffer or the role goes.
 *
 * Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_DMABUF_EXPORTS_H
#define GID_WESTON_DMABUF_EXPORTS_H

#include "refusal.h"
#include <libweston/libweston.h>

struct dmabuf_exports {
	struct wl_list list; /* struct dmabuf_export::link, the last used one first */
	uint32_t count;
};

void dmabuf_exports_init(struct dmabuf_exports *exports);

/* Forgets all. Frames that others have still keep their slab, which has a reference each. */
void dmabuf_exports_finish(struct dmabuf_exports *exports);

/*
 * The slab of the buffer, which is of the type WESTON_BUFFER_DMABUF, or NULL: then `refusal` says
 * why. Waits for gidd, at most 2 s, for one that is not exported yet.
 */
struct gid_slab *dmabuf_exports_get(struct dmabuf_exports *exports, struct gid_domain *domain,
		const struct weston_buffer *buffer, struct refusal *refusal);

#endif
