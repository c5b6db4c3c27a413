// SPDX-License-Identifier: MIT
/**
 * Pictures in dma-bufs that a device still draws, as nearly all of a GPU are when they are
 * committed: each is sent when the fences of its dma-buf have come. Never waits itself.
 *
 * Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_DRAWN_WAIT_H
#define GID_WESTON_DRAWN_WAIT_H

#include <libweston/libweston.h>

#include "forward_picture.h"

/* A picture with all that it refers to. */
struct waiting_picture {
	struct forward_picture picture; /* without a slab: none */
	struct weston_buffer_reference buffer;
	struct weston_buffer_release_reference release;
	uint64_t since;
};

struct drawn_wait {
	struct wl_event_loop *loop;
	struct wl_event_source *source; /* of `first`; NULL: there is none */
	uint64_t patience_ns;		/* then newer ones take the place of one */
	/* No newer one takes the place of the first: a device that needs longer than a refresh for
	 * each picture is still shown. Those that come meanwhile do so among themselves. */
	struct waiting_picture first, next;
	/*
	 * It can be read now. The picture's references end when this returns. Set by whoever adds
	 * pictures.
	 */
	void (*drawn)(void *data, struct forward_picture *picture);
	void *data;
};

/* Whether a device draws in the slab still. */
bool drawn_wait_is_needed(const struct gid_slab *slab);

/* Returns 0, or -ENOMEM. */
int drawn_wait_add(struct drawn_wait *wait, const struct forward_picture *picture);

/* Something newer is shown, or nothing is. Returns whether any picture was dropped. */
bool drawn_wait_drop(struct drawn_wait *wait);

#endif
