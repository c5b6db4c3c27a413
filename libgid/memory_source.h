// SPDX-License-Identifier: MIT
/**
 * Where memory of ours comes from that others will read (slabs, rings, consumers' pages): a sealed
 * memfd, or, in a domain that shares with other machines, a range of its window, which gidd deals
 * out. The memory of others, in turn, is a memfd of its own or a range of its domain's window.
 */
#ifndef GID_MEMORY_SOURCE_H
#define GID_MEMORY_SOURCE_H

#include "connection.h"
#include "memory.h"

/* Who else is to read memory of ours: see enum gid_wire_readers. */
struct gid_memory_readers {
	enum gid_wire_readers kind;
	uint32_t domain;
	const char *name; /* NULL: none */
};

/*
 * Gets `size` bytes (rounded up to pages), zeroed, in memory that only those `readers` see which
 * are on other machines; a memfd where none is. `name` is for /proc. Given back by
 * gid_memory_put(), and by gidd when the connection ends.
 */
int gid_memory_get(struct gid_domain *domain, struct gid_memory_own *memory,
		const struct gid_memory_readers *readers, const char *name, size_t size);
void gid_memory_put(struct gid_memory_own *memory);

/*
 * The same without waiting for gidd. Returns 0 with the memory, where gidd is not needed;
 * -EINPROGRESS: `answered` will be called, and calls gid_memory_take() or gid_memory_decline(); or
 * another -errno.
 */
int gid_memory_ask(struct gid_domain *domain, struct gid_memory_own *memory,
		const struct gid_memory_readers *readers, const char *name, size_t size,
		gid_answer_func answered, void *data);

/*
 * Takes the memory that gid_memory_ask() asked for. `error`, `answer` and `fds` are as `answered`
 * has them.
 */
int gid_memory_take(struct gid_domain *domain, struct gid_memory_own *memory, const char *name,
		size_t size, int error, const union gid_wire_message *answer, int *fds);

/* Gives back what gidd gave, as nobody wants it any more. */
void gid_memory_decline(
		struct gid_domain *domain, const struct gid_wire_allocated *range, int *fds);

/*
 * For `data` of gid_memory_ask() that goes away before gidd has answered: `answered` is not called
 * any more, and what gidd gives is given back.
 */
void gid_memory_unask(struct gid_domain *domain, const void *data);

/*
 * A descriptor of our own for memory that others brought, a dma-buf or a sealed memfd as `memory`
 * then says; or -errno, as gid_domain_error() says it.
 */
int gid_memory_bring(struct gid_domain *domain, int fd, enum gid_memory *memory);

/*
 * Maps memory of others read-only, at `window_offset` of a window, or for 0 the whole of a sealed
 * memfd, which is checked to be one. Unmapped by gid_memory_unmap().
 */
int gid_memory_attach(int fd, uint64_t window_offset, size_t size, const void **data);

#endif
