// SPDX-License-Identifier: MIT
/** Copies of pictures that cannot be lent, as those of ordinary wl_shm buffers: one each, counted.
 */
#ifndef GID_WESTON_FORWARD_COPY_H
#define GID_WESTON_FORWARD_COPY_H

#include "forward.h"

/* Rows of pixels, of one plane. */
struct pixel_rows {
	const uint8_t *data;
	uint32_t fourcc, width, height;
	size_t stride, row_bytes;
};

/*
 * Copies the pixels into a slot of ours, which forward_show() then takes: `gid` and `slab`, whose
 * reference stays the copies'. Where all slots are out, the one that was out for longest is taken
 * back. Waits for gidd, at most 2 s, where the size or the format is a new one. Returns 0 or
 * -errno.
 */
int forward_copy(struct forward *forward, const struct pixel_rows *pixels, gid_id *gid,
	struct gid_slab **slab);

/* What is out still keeps its memory. Takes NULL. */
void forward_copies_destroy(struct forward_copies *copies);

#endif
