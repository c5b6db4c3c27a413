// SPDX-License-Identifier: MIT
/** dma-bufs of ordinary memory, made by the kernel's udmabuf. */
#ifndef GID_WLROOTS_DMABUF_CREATE_H
#define GID_WLROOTS_DMABUF_CREATE_H

#include <stddef.h>
#include <stdint.h>

#define DMABUF_DEVICE "/dev/udmabuf"

/* A zeroed dma-buf of at least so many bytes; `device`: DMABUF_DEVICE, open. Returns the descriptor
 * or -errno. */
int dmabuf_create(int device, size_t size);

/* The same, each byte of this value, for somebody who has not opened the device. */
int dmabuf_create_filled(size_t size, uint8_t byte);

#endif
