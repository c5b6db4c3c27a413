// SPDX-License-Identifier: MIT
/**
 * Pictures made small, of any linear format: the mean of some of their pixels, as bytes of red,
 * green and blue. What that costs is bounded, however large the picture is. Pure.
 */
#ifndef RECORDER_SHRINK_H
#define RECORDER_SHRINK_H

#include <gid/stream.h>

#define SHRINK_SOURCE_MAX 16384u /* pixels, of both sides of what is shrunk */

/* The size of a picture as it is when it has been made to fit into `width` x `height`, or its own
 * where it does; at least 1 x 1. */
void shrink_size(const struct gid_box *seen, uint32_t *width, uint32_t *height);

/*
 * Whether pictures of this layout can be made small. The layout comes from a stranger. Returns 0
 * and the part that is seen; -ENOTSUP: its memory is not rows of pixels of a known format;
 * -EINVAL: its layout or `crop` is wrong; -EMSGSIZE: it is larger than SHRINK_SOURCE_MAX.
 */
int shrink_check(const struct gid_layout *layout, uint64_t slot_size, const struct gid_box *crop,
		struct gid_box *seen);

/*
 * Writes width x height x 3 bytes to `rgb`, of what shrink_check() said is seen, without its alpha.
 * `row` has room for SHRINK_SOURCE_MAX words.
 */
void shrink(const struct gid_layout *layout, const void *slot, const struct gid_box *seen,
		uint32_t width, uint32_t height, uint32_t *row, uint8_t *rgb);

#endif
