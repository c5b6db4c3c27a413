// SPDX-License-Identifier: MIT
/** Access of a processor to a dma-buf, which the kernel is told of and which waits for devices. */
#ifndef GID_DMABUF_H
#define GID_DMABUF_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Begins: `access` is DMA_BUF_SYNC_READ or _WRITE. Waits for devices for 2 ms at most, and for none
 * whose fence is there already. Returns whether it has begun; only then it is to be ended. Where
 * memory has no caches to be told of, it begins at once. An end waits for 8 ms at most.
 */
bool gid_dmabuf_begin(int fd, uint64_t access);
void gid_dmabuf_end(int fd, uint64_t access);

#endif
