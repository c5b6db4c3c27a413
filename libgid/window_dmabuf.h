// SPDX-License-Identifier: MIT
/** dma-bufs of windows, which the kernel module gid_dmabuf makes: kernel/gid_dmabuf. */
#ifndef GID_WINDOW_DMABUF_H
#define GID_WINDOW_DMABUF_H

#include <stdbool.h>
#include <stdint.h>

/*
 * One of whole pages that are mapped from a window, which can only be read where it is not
 * `writable`. Returns its descriptor; -ENOTSUP: there is no such module, or it does not take this
 * memory; or -errno.
 */
int gid_window_dmabuf_make(const void *data, uint64_t size, bool writable);

#endif
