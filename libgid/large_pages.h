/* SPDX-License-Identifier: MIT */
/**
 * Large pages for shared memory: of the size for which a table of pages is one entry of the table
 * above it (2 MiB where pages have 4 KiB). They come at once instead of one by one, to who makes
 * memory and to each reader's first look, and take no tables. The kernel is asked; where it has
 * none all goes on with small ones. From any thread.
 */
#ifndef GID_LARGE_PAGES_H
#define GID_LARGE_PAGES_H

#include <stddef.h>
#include <stdint.h>

size_t gid_large_page_size(void);

/* Up to the next whole large page where that is little more, and else the same. */
uint64_t gid_large_round(uint64_t size);

/*
 * mmap(), where the kernel chooses, at an address that lies in its large page as `offset` does in
 * that of the file. Without such a place: anywhere.
 */
void *gid_large_map(size_t size, int prot, int flags, int fd, uint64_t offset);

/*
 * Has memory that gid_large_map() mapped, writable, from the file's beginning on, be of large
 * pages, as far as it is whole ones and the kernel has them. Its other pages stay as they are. For
 * memory that nobody else has yet: its pages are locked meanwhile, and the kernel may wait for
 * other processors. So a real-time thread does nothing here, and nobody goes on where it is slow.
 * Returns how many bytes are of large pages for certain; after fewer, errno may say why.
 */
size_t gid_large_make(void *data, size_t size);

#endif
