// SPDX-License-Identifier: MIT
/** A picture whose planes may lie in different slots, as a client describes it. */
#ifndef GID_COMPOSITOR_PICTURE_H
#define GID_COMPOSITOR_PICTURE_H

#include <gid/domain.h>

/* The most bytes from a page's start to the end of a picture: wl_shm counts in int32_t. */
#define PICTURE_SIZE_MAX 0x7ffff000u

/* Its layout was checked by itself; whether its planes fit their slots is not known yet. */
struct picture {
	struct gid_layout layout;
	gid_id gids[GID_PLANES_MAX];
};

/*
 * Whether the slab that was imported for a plane holds what the picture says: 0; -ENOENT, where its
 * gid names nothing (any more); -ERANGE, where the plane leaves its slot; -ENODATA, where its
 * memory lacks pages.
 */
int picture_check_plane(const struct picture *picture, uint32_t plane, const struct gid_slab *slab);

#endif
