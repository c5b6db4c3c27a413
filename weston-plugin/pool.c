// SPDX-License-Identifier: MIT
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POPULATE_MAX ((size_t)32 << 20)

static size_t page_size(void) {
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_to_pages(size_t size) {
	return (size + page_size() - 1) & ~(page_size() - 1);
}

/* Sealed, so that libwayland knows that reads cannot fault. */
static int create_empty_memfd(size_t size) {
	int fd = memfd_create("gid-blank", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0) {
		return -errno;
	}
	if (ftruncate(fd, (off_t)size) != 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		int error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

struct wl_resource *pool_create_buffer(struct pool *pool, struct hidden_client *hidden,
		struct wl_client *client, uint32_t id, uint32_t fourcc, int32_t width,
		int32_t height, int32_t stride, size_t lead) {
	*pool = (struct pool){0};
	size_t size = round_to_pages(lead + (size_t)stride * (size_t)height);
	if (lead >= page_size() || size > POOL_SIZE_MAX) {
		return NULL;
	}
	int fd = create_empty_memfd(size);
	if (fd < 0) {
		return NULL;
	}
	struct wl_resource *buffer = hidden_client_create_shm_buffer(hidden, client, id,
			&(struct hidden_client_shm){
					.fd = fd,
					.size = (int32_t)size,
					.offset = (int32_t)lead,
					.width = width,
					.height = height,
					.stride = stride,
					.fourcc = fourcc,
			});
	close(fd);
	if (buffer == NULL) {
		return NULL;
	}
	pool->address = (uint8_t *)wl_shm_buffer_get_data(wl_shm_buffer_get(buffer)) - lead;
	pool->size = size;
	pool->lead = lead;
	if (pool_blank(pool) != 0) {
		wl_resource_destroy(buffer);
		return NULL;
	}
	return buffer;
}

int pool_map(struct pool *pool, int fd, uint64_t offset, uint64_t size) {
	uint64_t lead = offset & (page_size() - 1);
	if (lead != pool->lead) {
		return -ENOTSUP;
	}
	size_t length = pool->size;
	if (size < pool->size - pool->lead) {
		length = round_to_pages((size_t)size + pool->lead);
	}
	/*
	 * The pages of a large picture are mapped as it is drawn: mapping all at once takes too
	 * long.
	 */
	int populate = length <= POPULATE_MAX ? MAP_POPULATE : 0;
	void *data = mmap(pool->address, length, PROT_READ, MAP_SHARED | MAP_FIXED | populate, fd,
			(off_t)(offset - lead));
	return data == MAP_FAILED ? -errno : 0;
}

int pool_share(struct pool *pool, void *data, size_t size) {
	uint8_t *page = (uint8_t *)data - pool->lead;
	if ((uintptr_t)page % page_size() != 0 || size > pool->size - pool->lead) {
		return -EINVAL;
	}
	/* For shared pages, an old size of 0 creates another mapping. */
	void *mapped = mremap(page, 0, round_to_pages(size + pool->lead),
			MREMAP_MAYMOVE | MREMAP_FIXED, pool->address);
	return mapped == MAP_FAILED ? -errno : 0;
}

int pool_own(struct pool *pool) {
	void *data = mmap(pool->address, pool->size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return data == MAP_FAILED ? -errno : 0;
}

int pool_freeze(struct pool *pool) {
	void *copy = mmap(NULL, pool->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (copy == MAP_FAILED) {
		return -errno;
	}
	memcpy(copy, pool->address, pool->size);
	if (mprotect(copy, pool->size, PROT_READ) != 0 ||
			mremap(copy, pool->size, pool->size, MREMAP_MAYMOVE | MREMAP_FIXED,
					pool->address) == MAP_FAILED) {
		int error = -errno;
		munmap(copy, pool->size);
		return error;
	}
	return 0;
}

int pool_blank(struct pool *pool) {
	void *data = mmap(pool->address, pool->size, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	return data == MAP_FAILED ? -errno : 0;
}
