// SPDX-License-Identifier: MIT
/**
 * The part of a picture that is seen, as its own rows: without padding, plane after plane. A
 * frame's content hash is of these bytes. Pure.
 */
#ifndef GID_CONVERT_VISIBLE_H
#define GID_CONVERT_VISIBLE_H

#include <gid/stream.h>

struct visible {
	/*
	 * How the rows lie in memory of their own, which gid_layout_size() is the size of. Where
	 * pixels share samples there may be a few more on each side than are seen.
	 */
	struct gid_layout layout;
	struct gid_box seen; /* in pixels of `layout` */
	struct gid_layout whole;
	uint32_t x, y; /* where `layout` begins in the whole picture */
};

/*
 * `whole` was checked, and is linear; an empty `crop` is all of it. Returns 0; -EINVAL where the
 * crop leaves the picture, -ENOTSUP where the modifier is another one.
 */
int visible_init(struct visible *visible, const struct gid_layout *whole,
		const struct gid_box *crop);

/* Gives each row in the whole picture's slot to `read`, plane after plane. */
typedef void (*visible_row_func)(void *data, const void *row, size_t size);
void visible_read(
		const struct visible *visible, const void *slot, visible_row_func read, void *data);

/* Copies the rows from the whole picture's slot. Each byte is read once: its memory may be
 * another's. */
void visible_copy(const struct visible *visible, const void *slot, void *copy);

#endif
