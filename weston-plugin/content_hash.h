// SPDX-License-Identifier: MIT
/** The content hash of frames, as gid/stream.h has it, of memory that a processor reads. */
#ifndef GID_WESTON_CONTENT_HASH_H
#define GID_WESTON_CONTENT_HASH_H

#include "pixel_copies.h"

/* Whether each pixel of the format has bytes of its own, side by side. */
bool content_has_plain_rows(uint32_t fourcc);

uint64_t content_hash_rows(const struct pixel_rows *pixels);

/*
 * Of the part of a slot that is seen, in any format that gidway knows. `layout` was checked, and is
 * linear; an empty `crop` is all of it. Returns 0; -EINVAL where the crop leaves the picture;
 * -ENOMEM.
 */
int content_hash_slot(const struct gid_layout *layout, const struct gid_box *crop, const void *slot,
		uint64_t *hash);

#endif
