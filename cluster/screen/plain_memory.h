// SPDX-License-Identifier: MIT
/**
 * Memory of our own for the pictures of a screen without a device. wlroots' would be files in
 * /dev/shm that have no pages yet: any program can fill that, and who draws there is ended then.
 */
#ifndef CLUSTER_PLAIN_MEMORY_H
#define CLUSTER_PLAIN_MEMORY_H

#include <wlr/render/allocator.h>

/* For a renderer that draws with the processor. NULL for want of memory. */
struct wlr_allocator *plain_memory_allocator_create(void);

#endif
