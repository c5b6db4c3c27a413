// SPDX-License-Identifier: MIT
/**
 * Pictures in dma-bufs whose fences did not signal yet, as those of a GPU when they are committed.
 * Each is sent when the fences of its dma-buf have signalled. Nothing here blocks.
 *
 * Runs on the compositor's thread.
 */
#ifndef GID_WESTON_DRAWN_WAIT_H
#define GID_WESTON_DRAWN_WAIT_H

#include <libweston/libweston.h>

#include "forward_picture.h"

/* A picture, with references of its own. */
struct waiting_picture {
	struct forward_picture picture; /* without a slab: none */
	struct weston_buffer_reference buffer;
	struct weston_buffer_release_reference release;
	uint64_t since;
};

struct drawn_wait {
	struct wl_event_loop *loop;
	struct wl_event_source *source; /* polls the dma-buf of `first`; NULL: there is none */
	uint64_t patience_ns;		/* how long `first` keeps its place */
	/*
	 * Newer pictures replace `next`, not `first`. So a device that needs longer than a refresh
	 * for each picture is still shown.
	 */
	struct waiting_picture first, next;
	/*
	 * The picture can be read now. Its references end when this returns. Set by the caller of
	 * drawn_wait_add().
	 */
	void (*drawn)(void *data, struct forward_picture *picture);
	void *data;
};

/* Whether fences of the slab's dma-buf did not signal yet. */
bool drawn_wait_is_needed(const struct gid_slab *slab);

/* Returns 0, or -ENOMEM. */
int drawn_wait_add(struct drawn_wait *wait, const struct forward_picture *picture);

/* There is newer content, or none: drops what waits. Returns whether there was any. */
bool drawn_wait_drop(struct drawn_wait *wait);

#endif
