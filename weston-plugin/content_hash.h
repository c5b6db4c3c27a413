// SPDX-License-Identifier: MIT
/**
 * The content hash of frames, as gid/stream.h defines it, of memory that the processor can read.
 */
#ifndef GID_WESTON_CONTENT_HASH_H
#define GID_WESTON_CONTENT_HASH_H

#include "pixel_copies.h"

/* Whether each pixel of the format has bytes of its own, side by side. */
bool content_has_plain_rows(uint32_t fourcc);

uint64_t content_hash_rows(const struct pixel_rows *pixels);

/*
 * Hashes the visible part of a slot, in any format that gidway knows. `layout` was checked, and is
 * linear; an empty `crop` is the whole picture. Returns 0; -EINVAL if the crop leaves the picture;
 * -ENOMEM.
 */
int content_hash_slot(const struct gid_layout *layout, const struct gid_box *crop, const void *slot,
		uint64_t *hash);

#endif
