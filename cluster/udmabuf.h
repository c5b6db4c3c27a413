// SPDX-License-Identifier: MIT
/**
 * Where the display draws to, if it draws with GL and has no graphics card: dma-bufs of ordinary
 * memory, made by /dev/udmabuf.
 */
#ifndef CLUSTER_UDMABUF_H
#define CLUSTER_UDMABUF_H

#include <wlr/render/allocator.h>

/* NULL where there is no /dev/udmabuf that may be used; says so. */
struct wlr_allocator *udmabuf_allocator_create(void);

#endif
