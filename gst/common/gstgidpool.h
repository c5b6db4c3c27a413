// SPDX-License-Identifier: MIT
/**
 * The pool that gidsink and gidalloc offer: buffers in slots of a GstGidAllocator.
 *
 * The layout of its slabs is that of the pool's configuration, alignment included, since a layout
 * is fixed when a slab is made: at the first acquire, so that offering a pool costs nothing.
 *
 * It never says that it is full: an acquire makes another slab, or takes back a frame that no
 * consumer has read, or waits (until the pool is flushed) for a consumer to release one.
 *
 * The release guard: a buffer that comes back while aliases of its slot live (see the allocator)
 * is not given out again; its slot is, when the last of them is gone.
 */
#ifndef GST_GID_POOL_H
#define GST_GID_POOL_H

#include "gstgidallocator.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_POOL (gst_gid_pool_get_type ())
G_DECLARE_FINAL_TYPE (GstGidPool, gst_gid_pool, GST, GID_POOL, GstBufferPool)

/** A new pool that is configured for the allocator's caps, but for what upstream will add. */
GstBufferPool *gst_gid_pool_new (GstGidAllocator *allocator, GstCaps *caps);

/**
 * Answers an ALLOCATION query: pool, allocator, GstVideoMeta and GstVideoCropMeta. Cheap, and the
 * same however often it is asked: each answer has a pool of its own, as two upstreams may ask, but
 * they all draw on the allocator's slabs.
 */
void gst_gid_pool_propose (GstGidAllocator *allocator, GstCaps *caps, GstQuery *query);

G_END_DECLS

#endif
