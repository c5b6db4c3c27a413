// SPDX-License-Identifier: MIT
/**
 * Reading a dma-buf with a processor: the kernel is told before and after, waits for the device
 * that writes it, and sees to caches that the two do not share (DMA_BUF_IOCTL_SYNC).
 */
#ifndef GID_WLROOTS_DMABUF_SYNC_H
#define GID_WLROOTS_DMABUF_SYNC_H

#include <stdbool.h>

/* Whether all that was to write it has done so: beginning to read it waits for nobody then. */
bool dmabuf_is_drawn(int fd);

/*
 * Waits for no device longer than 2 ms, even if one begins to write at this moment: then it returns
 * false, and nothing is to be read or ended. Uses a real-time signal that nobody else handles.
 */
bool dmabuf_begin_read(int fd);
void dmabuf_end_read(int fd);

#endif
