// SPDX-License-Identifier: MIT
/**
 * The memory behind one wl_shm buffer that the module made. libwayland maps a pool readable and
 * writable, and a read-only descriptor refuses that: so the pool is made over an empty sealed
 * memfd, and its mapping is replaced at once. What is put there can be replaced again at any time;
 * to the renderer the address stays the same. No mapping here is ever writable, but those of
 * pool_share(), which are for pictures that the renderer itself writes.
 *
 * The mapping belongs to the wl_buffer, which unmaps it.
 */
#ifndef GID_WESTON_POOL_H
#define GID_WESTON_POOL_H

#include "hidden_client.h"

struct pool {
	uint8_t *address; /* NULL: there is no such pool */
	size_t size;	  /* whole pages */
	size_t lead;	  /* bytes from `address` to the picture */
};

/* The most bytes, from the page that a picture begins in to its end: wl_shm counts in int32_t. */
#define POOL_SIZE_MAX 0x7ffff000u

/*
 * Makes the buffer, blank. `lead` is where the picture will begin within a page. The rest is as for
 * hidden_client_create_shm_buffer(). Returns NULL where there is no memory.
 */
struct wl_resource *pool_create_buffer(struct pool *pool, struct hidden_client *hidden,
		struct wl_client *client, uint32_t id, uint32_t fourcc, int32_t width,
		int32_t height, int32_t stride, size_t lead);

/*
 * Shows `size` bytes of the file from `offset`, where the picture begins; fewer than the picture
 * has leave its end blank. Returns 0; -ENOTSUP where `offset` does not begin in a page as `lead`
 * says; what mmap() says.
 */
int pool_map(struct pool *pool, int fd, uint64_t offset, uint64_t size);

/*
 * Shows `size` bytes of memory that this process has mapped shared and writable, as gid_slab_data()
 * is, so that what the renderer writes is there. `lead` is where `data` begins in its page. Returns
 * 0 or -errno: memory of some devices cannot be mapped twice.
 */
int pool_share(struct pool *pool, void *data, size_t size);

/* Memory of the pool's own, which the renderer can write. Returns 0 or -errno. */
int pool_own(struct pool *pool);

/* Shows what is there now for good: a copy, which the owner of the memory does not see. Returns 0
 * or -errno. */
int pool_freeze(struct pool *pool);

/* Shows nothing: zeroes. Takes no memory. Returns 0 or -errno. */
int pool_blank(struct pool *pool);

#endif
