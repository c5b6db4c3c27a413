// SPDX-License-Identifier: MIT
/** The picture of a frame as it is seen, cropped and turned, and as a PNG. */
#ifndef GIDCTL_PICTURE_H
#define GIDCTL_PICTURE_H

#include <gid/stream.h>

struct picture {
	uint32_t width, height;
	uint32_t *pixels; /* words of ARGB8888, row after row; colours not multiplied by alpha */
	bool has_alpha;
};

/*
 * A copy of what a frame shows. Returns 0; -ENOTSUP: its memory is not rows of pixels; -EINVAL: its
 * layout or crop is wrong; -ESTALE: it was taken back meanwhile; -EBUSY: a device draws it still;
 * -ENODATA: its memory has holes; or -errno.
 */
int picture_init(struct picture *picture, const struct gid_slab *slab,
		const struct gid_frame *frame);
void picture_finish(struct picture *picture);

/* As a PNG to a file that is made or emptied, or to "-", the standard output. Returns 0 or -errno;
 * no part of a file is left then. */
int picture_write(const struct picture *picture, const char *path);

#endif
