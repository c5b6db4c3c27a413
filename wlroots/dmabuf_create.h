// SPDX-License-Identifier: MIT
/** Creates dma-bufs of ordinary memory, by the kernel's udmabuf. */
#ifndef GID_WLROOTS_DMABUF_CREATE_H
#define GID_WLROOTS_DMABUF_CREATE_H

#include <stddef.h>
#include <stdint.h>

#define DMABUF_DEVICE "/dev/udmabuf"

/* Returns a zeroed dma-buf of at least `size` bytes, or -errno; `device`: DMABUF_DEVICE, open. */
int dmabuf_create(int device, size_t size);

/* The same with each byte of this value. Opens the device itself. */
int dmabuf_create_filled(size_t size, uint8_t byte);

#endif
