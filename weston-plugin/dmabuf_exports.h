// SPDX-License-Identifier: MIT
/**
 * The dma-bufs of ordinary clients that one role has shown. Each is exported once, as a slab of one
 * slot, until its wl_buffer or the role goes.
 *
 * Runs on the compositor's thread.
 */
#ifndef GID_WESTON_DMABUF_EXPORTS_H
#define GID_WESTON_DMABUF_EXPORTS_H

#include <libweston/libweston.h>

#include "refusal.h"

struct dmabuf_exports {
	struct wl_list list; /* struct dmabuf_export::link, most recently shown first */
	uint32_t count;
	uint32_t exporting; /* exports that gidd did not answer yet */
	/* gidd has answered: what was DMABUF_LATER may be there now. */
	void (*settled)(void *data);
	void *data;
};

enum dmabuf_found {
	DMABUF_FOUND,
	DMABUF_LATER, /* `settled` will be called */
	DMABUF_REFUSED,
};

void dmabuf_exports_init(struct dmabuf_exports *exports, void (*settled)(void *data), void *data);

/* Drops all exports. Frames that consumers hold keep the slab by their own references. */
void dmabuf_exports_finish(struct dmabuf_exports *exports);

/*
 * The same, but exports count until gidd has answered them, so that no client gets more than the
 * limit.
 */
void dmabuf_exports_forget(struct dmabuf_exports *exports);

/*
 * Finds the slab of a buffer of the type WESTON_BUFFER_DMABUF; if there is none, sets `refusal`.
 * Never blocks.
 */
enum dmabuf_found dmabuf_exports_get(struct dmabuf_exports *exports, struct gid_domain *domain,
		const struct weston_buffer *buffer, struct gid_slab **slab,
		struct refusal *refusal);

#endif
