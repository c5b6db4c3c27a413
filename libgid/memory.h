// SPDX-License-Identifier: MIT
/** Shared memory that exactly one process can ever write. Knows nothing of slabs and streams. */
#ifndef GID_MEMORY_H
#define GID_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of ours. `fd` is of the sealed memfd, as gid_memory_share() makes it. */
struct gid_memory_own {
	int fd;
	void *data;
	size_t size;
	/* memory_source.h: where it begins in the window that `fd` is of, the number of that, and
	 * who gave it; else 0 */
	uint64_t window_offset;
	uint32_t window;
	struct gid_domain *source;
};

/*
 * Makes `size` bytes (rounded up to pages, or to large ones: large_pages.h), zeroed, present,
 * sealed. `name` is for /proc. 0 or -errno.
 */
int gid_memory_create(struct gid_memory_own *memory, const char *name, size_t size);
void gid_memory_finish(struct gid_memory_own *memory);

/* How large that memory is: a file, or a device-dax. 0; -EBADF: it is none; or another -errno. */
int gid_memory_size(int fd, uint64_t *size);

/* Whether it is a device-dax, a window that the kernel has pages of. */
bool gid_memory_is_dax(int fd);

/*
 * Puts `into`, of the same size, at the address of `memory`, with the same content, while others
 * use that address: what they write while a page is copied may be lost. `memory` is then mapped
 * elsewhere, or not at all (`data` is NULL) where that cannot be. 0; or -errno: `memory` is where
 * it was, its content may be mixed, and `into` is mapped no more.
 */
int gid_memory_move(struct gid_memory_own *memory, struct gid_memory_own *into);

/*
 * Checks that `fd` is a memfd of at least `size` bytes that can never shrink. With `sole_writer`
 * also that nobody can map it writable any more, and that the description is read-only. -EBADF: not
 * a memfd, or one of huge pages, which cannot be unmapped in pieces; -EPERM: a seal is missing;
 * -ERANGE: too small; -EACCES: only the description is wrong, as it is a writable one.
 */
int gid_memory_check(int fd, uint64_t size, bool sole_writer);

/* Whether a window (a file, or a device's memory) has at least `end` bytes; -ERANGE: it has not. */
int gid_memory_check_range(int fd, uint64_t end);

/*
 * Whether all pages of a memfd are there, which is sealed against holes that come later: 0, or
 * -ENODATA: it is sparse. Mapping such a one costs its owner nothing, and the reader all its pages.
 */
int gid_memory_check_present(int fd);

/*
 * Makes all pages of a memfd present, and maps them to keep them: the kernel may take back pages
 * that nobody wrote or has mapped. Returns 0: they are there; -ENOMEM: there are not enough;
 * -ENODATA: the kernel says that it made them, and did not; or another -errno.
 */
int gid_memory_make_present(int fd, const void **data, size_t *size);

/*
 * Checks that it is a dma-buf: 0; -EBADF: it is none; -ENOSYS: there is no /proc, which would tell;
 * or another -errno, as without a descriptor to look with. Asks no file system, as that may be a
 * stranger's, and never answer.
 */
int gid_memory_check_dmabuf(int fd);

/* Up to the next whole page; 0 where that overflows. */
uint64_t gid_memory_round_up(uint64_t size);

/*
 * Maps [offset, offset + size) read-only with its pages present. `offset` need not be a page's:
 * what lies before it in its page is mapped as well.
 */
int gid_memory_map(int fd, uint64_t offset, uint64_t size, const void **data);

/* The same without a look at the pages: they come when they are read, or by gid_memory_touch(). */
int gid_memory_map_untouched(int fd, uint64_t offset, uint64_t size, const void **data);

/* Makes mapped pages present at once, as far as there is memory behind them. */
void gid_memory_touch(const void *data, size_t size);

/* A memfd of `size` bytes, without a page: to stand in for another; or -errno. */
int gid_memory_make_blank(uint64_t size);

/* Copies into a memfd. Also of memory that may have gone: -EFAULT then. Returns 0 or -errno. */
int gid_memory_fill(int fd, uint64_t offset, const void *data, size_t size);

/* From now on nobody writes the memfd. Returns 0 or -errno. */
int gid_memory_seal(int fd);

/*
 * Puts a sealed memfd's bytes, from `offset` on, in the place of what is mapped there, or zeroes if
 * `fd` is -1: the memory, of domain `owner`, is given up, whoever still reads at the address. Takes
 * no longer for much of it: closer.h. Returns 0 or -ENOMEM.
 */
int gid_memory_replace(const void *data, size_t size, uint32_t owner, int fd, uint64_t offset);

void gid_memory_unmap(const void *data, size_t size);

/* The same for memory of domain `owner` that may be large: it is unmapped as closer.h says. */
void gid_memory_let_go(const void *data, size_t size, uint32_t owner);

/* Overwrites with zeroes, where this process may still write the memfd or dma-buf. */
int gid_memory_wipe(int fd, uint64_t offset, size_t size);

/*
 * A new read-only description of the same memory, or -errno: of a dma-buf there is none, -ENXIO;
 * without /proc there is no way to it, -ENOSYS; who has a lease of it is not waited for, -EAGAIN.
 */
int gid_memory_reopen(int fd);

/*
 * A descriptor of a sealed memfd to be given to gidd: read-only; where there is no /proc, of the
 * description that `fd` has, which gidd opens again before any reader gets it. Or -errno.
 */
int gid_memory_share(int fd);

#endif
