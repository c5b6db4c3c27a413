// SPDX-License-Identifier: MIT
/** dma-bufs of windows, which the kernel module gid_dmabuf makes: kernel/gid_dmabuf. */
#ifndef GID_WINDOW_DMABUF_H
#define GID_WINDOW_DMABUF_H

#include <stdint.h>

/*
 * One that can only be read, of whole pages that are mapped from a window. Returns its descriptor;
 * -ENOTSUP: there is no such module, or it does not take this memory; or -errno.
 */
int gid_window_dmabuf_make(const void *data, uint64_t size);

#endif
