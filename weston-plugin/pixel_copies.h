// SPDX-License-Identifier: MIT
/**
 * Copies of pictures that cannot be lent, as those in ordinary wl_shm buffers: one copy each, which
 * is counted.
 */
#ifndef GID_WESTON_PIXEL_COPIES_H
#define GID_WESTON_PIXEL_COPIES_H

#include <gid/stream.h>

/* Rows of pixels, of one plane. */
struct pixel_rows {
	const uint8_t *data;
	uint32_t fourcc, width, height;
	size_t stride, row_bytes;
};

/* Slots of our own for the copies. All zero except `stream` and `settled`: there are none yet. */
struct pixel_copies {
	char stream[GID_NAME_MAX + 1]; /* only its consumers can read them */
	struct gid_slab *slab;	       /* of the last size and format, or NULL */
	struct gid_layout layout;
	bool asking;		     /* gidd was asked for memory, and did not answer yet */
	int error;		     /* its last answer: 0 or -errno */
	void (*settled)(void *data); /* from gid_domain_dispatch(): gidd has answered */
	void *data;
};

/*
 * Copies the pixels into a slot `gid` of `copies->slab`, which the caller frees by gid_slab_give().
 * If no slot is free, reclaims the one that consumers have held for longest. Returns 0;
 * -EINPROGRESS if the size or format is new, or gidd took the slots back: `settled` is called when
 * it is time to try again; or another -errno.
 */
int pixel_copies_add(struct pixel_copies *copies, struct gid_domain *domain,
		struct gid_producer *producer, const struct pixel_rows *pixels, gid_id *gid);

/*
 * The same for pixels that the caller writes, before it does anything else: `data` is the first
 * plane, in rows of `copies->layout`.
 */
int pixel_copies_take(struct pixel_copies *copies, struct gid_domain *domain,
		struct gid_producer *producer, uint32_t fourcc, uint32_t width, uint32_t height,
		gid_id *gid, uint8_t **data);

/*
 * Frames that consumers hold keep their memory. A slab that gidd was only asked for has no other
 * reference.
 */
void pixel_copies_finish(struct pixel_copies *copies);

#endif
