// SPDX-License-Identifier: MIT
/** Copies of pictures that cannot be lent, as those of ordinary wl_shm buffers: one each, counted.
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

/* Slots of ours for the copies. All zero but for the stream and the event: there are none so far.
 */
struct pixel_copies {
	char stream[GID_NAME_MAX + 1]; /* whose readers alone may see them */
	struct gid_slab *slab;	       /* of the present size and format, or NULL */
	struct gid_layout layout;
	bool asking;		     /* gidd was asked for it, and has not answered */
	int error;		     /* what it answered last: 0 or -errno */
	void (*settled)(void *data); /* from gid_domain_dispatch(): it has answered */
	void *data;
};

/*
 * Copies the pixels into a slot, which the caller gives back by gid_slab_give(): `gid`, of
 * `copies->slab`. Where all slots are out, the one that was out for longest is taken back from the
 * producer's consumers. Returns 0; -EINPROGRESS, where the size or the format is a new one, or the
 * slots were taken: `settled` is called when it is worth to try again; or another -errno.
 */
int pixel_copies_add(struct pixel_copies *copies, struct gid_domain *domain,
		struct gid_producer *producer, const struct pixel_rows *pixels, gid_id *gid);

/*
 * The same for pixels that the caller writes himself, of the layout's first plane, before it goes
 * on: `data`, in rows of `copies->layout`.
 */
int pixel_copies_take(struct pixel_copies *copies, struct gid_domain *domain,
		struct gid_producer *producer, uint32_t fourcc, uint32_t width, uint32_t height,
		gid_id *gid, uint8_t **data);

/* What is out still keeps its memory; but while gidd is asked, nobody else has a reference. */
void pixel_copies_finish(struct pixel_copies *copies);

#endif
