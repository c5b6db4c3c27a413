// SPDX-License-Identifier: MIT
/** The content of a surface on its way to become a frame. */
#ifndef GID_WESTON_FORWARD_PICTURE_H
#define GID_WESTON_FORWARD_PICTURE_H

#include <gid/stream.h>
#include <libweston/libweston.h>

struct forward_picture {
	gid_id gid;
	struct gid_slab *slab; /* of `gid`; who keeps it takes a reference */
	/* Not released to the client before all consumers have released it. NULL for a copy. */
	struct weston_buffer *buffer;
	struct weston_buffer_release *release; /* NULL: the client did not ask for one */
	struct gid_box damage, crop;
	struct gid_box seen; /* the part of the surface that is shown, in surface coordinates */
	uint32_t transform;
	uint32_t flags; /* GID_FRAME_COPIED or 0 */
	uint64_t content_hash;
	uint64_t commit_time; /* CLOCK_MONOTONIC ns; of a dma-buf: before its fences signal */
};

#endif
