// SPDX-License-Identifier: MIT
/**
 * A picture of our own: words of XRGB8888, opaque, as it is seen. Nobody else writes its memory, so
 * what was checked stays what is shown.
 *
 * References are those of its wlr_buffer, on the display's thread. A worker may draw it between
 * picture_pool_acquire() and its first use.
 */
#ifndef CLUSTER_OWN_PICTURE_H
#define CLUSTER_OWN_PICTURE_H

#include "../../wlroots/memory_view.h"
#include "cluster_config.h"
#include "pixels.h"

struct own_picture {
	struct memory_view view; /* while it is used: what wlroots shows */
	uint32_t *data;		 /* rows without gaps */
	struct pixels pixels;	 /* the same */
	uint64_t colour;	 /* of what is seen: struct pixel_hashes */
	bool used, pooled;
};

/* Pictures of one size, so that frames need no new memory. */
#define PICTURE_POOL_SIZE 4 /* shown, shown before, kept as the last one, being drawn */

struct picture_pool {
	struct own_picture *pictures[PICTURE_POOL_SIZE];
};

/* Returns 0 or -ENOMEM; the pool is to be finished in either case. */
int picture_pool_init(struct picture_pool *pool, uint32_t width, uint32_t height);
/* Pictures that are still used stay until they are not. */
void picture_pool_finish(struct picture_pool *pool);

/* A reference to a picture that nobody uses, with any pixels. NULL: all are used. */
struct own_picture *picture_pool_acquire(struct picture_pool *pool);

/*
 * Draws what stands in for frames; `png`: with FALLBACK_PICTURE. FALLBACK_LAST has no picture
 * before a frame was shown, and gets the pattern. Returns 0, -ENOMEM, or -EINVAL: the PNG cannot be
 * read.
 */
int own_picture_create_fallback(struct own_picture **picture, enum fallback fallback,
		const char *png, uint32_t width, uint32_t height);

/* Any PNG, scaled to so many pixels. Returns as own_picture_create_fallback(). */
int own_picture_create_png(
		struct own_picture **picture, const char *path, uint32_t width, uint32_t height);

/*
 * Whether there is a PNG: 0, -ENOENT: there is no such file, -EINVAL: it cannot be read as one, or
 * -ENOMEM.
 */
int own_picture_check_png(const char *path);

/* Another reference; and one less. Both take NULL. */
struct own_picture *own_picture_ref(struct own_picture *picture);
void own_picture_unref(struct own_picture *picture);

#endif
