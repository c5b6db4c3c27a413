// SPDX-License-Identifier: MIT
/** Whether shared memory has its pages, or whoever reads it first would pay for them. */
#ifndef GID_MEMORY_PAGES_H
#define GID_MEMORY_PAGES_H

#include <stdint.h>

/*
 * Whether all pages of a part of a memfd are there to stay, which is sealed against holes that come
 * later: 0; -ENODATA: they are not, were never written or read, or its owner lets nobody know.
 * Where the kernel tells nothing, as before Linux 6.5, it is 0. Waits for nobody, and reads and
 * makes no page. `view`: where that part is mapped, so that it need not be mapped to ask; or NULL.
 */
int gid_memory_check_pages(int fd, uint64_t offset, uint64_t size, const void *view);

#endif
