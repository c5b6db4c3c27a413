// SPDX-License-Identifier: MIT
/**
 * Reading a dma-buf with a processor: the kernel is told before and after, waits for the device
 * that writes it, and sees to caches that the two do not share (DMA_BUF_IOCTL_SYNC).
 */
#ifndef GID_WLROOTS_DMABUF_SYNC_H
#define GID_WLROOTS_DMABUF_SYNC_H

#include <errno.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/ioctl.h>

/* Whether all that was to write it has done so: beginning to read it waits for nobody then. */
static inline bool dmabuf_is_drawn(int fd) {
	struct pollfd fence = {.fd = fd, .events = POLLIN};
	return poll(&fence, 1, 0) != 0;
}

static inline void dmabuf_sync_(int fd, uint64_t flags) {
	struct dma_buf_sync sync = {.flags = flags};
	while (ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync) < 0 && (errno == EINTR || errno == EAGAIN)) {
	}
}

static inline void dmabuf_begin_read(int fd) {
	dmabuf_sync_(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
}

static inline void dmabuf_end_read(int fd) {
	dmabuf_sync_(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
}

#endif
