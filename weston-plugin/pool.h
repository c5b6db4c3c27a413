// SPDX-License-Identifier: MIT
/**
 * The memory of one wl_shm buffer that the module creates. libwayland maps a pool readable and
 * writable, which a read-only descriptor refuses. So the pool is created over an empty sealed
 * memfd, and its mapping is replaced at once. It can be replaced again at any time; for the
 * renderer the address stays the same. Mappings are never writable, except those of pool_share()
 * and pool_own(), for pictures that the renderer itself writes.
 *
 * The mapping belongs to the wl_buffer, which unmaps it.
 */
#ifndef GID_WESTON_POOL_H
#define GID_WESTON_POOL_H

#include "hidden_client.h"

struct pool {
	uint8_t *address; /* NULL: there is no pool */
	size_t size;	  /* in whole pages */
	size_t lead;	  /* in bytes, from `address` to the picture */
};

/* The most bytes from the start of a picture's first page to its end: wl_shm counts in int32_t. */
#define POOL_SIZE_MAX 0x7ffff000u

/*
 * Creates the buffer, blank. `lead` is where the picture begins in its first page. The other
 * arguments are those of hidden_client_create_shm_buffer(). Returns NULL without memory.
 */
struct wl_resource *pool_create_buffer(struct pool *pool, struct hidden_client *hidden,
		struct wl_client *client, uint32_t id, uint32_t fourcc, int32_t width,
		int32_t height, int32_t stride, size_t lead);

/*
 * Maps `size` bytes of the file from `offset`, where the picture begins. If they are fewer than the
 * picture needs, its end stays blank. Returns 0; -ENOTSUP if the start of `offset` in its page is
 * not `lead`; or the error of mmap().
 */
int pool_map(struct pool *pool, int fd, uint64_t offset, uint64_t size);

/*
 * Maps `size` bytes of memory that this process has mapped shared and writable, as gid_slab_data():
 * what the renderer writes is there. `lead` is where `data` begins in its page. Returns 0 or
 * -errno: some devices' memory cannot be mapped twice.
 */
int pool_share(struct pool *pool, void *data, size_t size);

/* Maps memory of the pool's own, which the renderer can write. Returns 0 or -errno. */
int pool_own(struct pool *pool);

/* Maps a copy of the current content, which does not change any more. Returns 0 or -errno. */
int pool_freeze(struct pool *pool);

/* Maps zeroes, which take no memory. Returns 0 or -errno. */
int pool_blank(struct pool *pool);

#endif
