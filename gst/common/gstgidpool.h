// SPDX-License-Identifier: MIT
/**
 * The buffer pool that gidsink and gidalloc propose. Its buffers are in slots of a GstGidAllocator.
 *
 * A slab's layout is fixed when it is created, and has to include the alignment of the pool's
 * configuration. So slabs are created at the first acquire, and proposing a pool costs nothing.
 *
 * acquire_buffer never reports that the pool is exhausted: it requests another slab, or reclaims a
 * frame that no consumer has claimed, or waits for a consumer to release one, until the pool
 * flushes.
 *
 * The release guard: a released buffer is not reused while aliases of its slot exist (see
 * gstgidallocator.h). Its slot is, when the last of them is freed.
 */
#ifndef GST_GID_POOL_H
#define GST_GID_POOL_H

#include "gstgidallocator.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_POOL (gst_gid_pool_get_type ())
G_DECLARE_FINAL_TYPE (GstGidPool, gst_gid_pool, GST, GID_POOL, GstBufferPool)

/** A new pool, configured for the allocator's caps, to which upstream may add options. */
GstBufferPool *gst_gid_pool_new (GstGidAllocator *allocator, GstCaps *caps);

/**
 * Answers an ALLOCATION query with pool and allocator. Cheap, as some elements send the query for
 * each frame. Each answer has a new pool, as two elements upstream may ask, but all of them use the
 * allocator's slabs.
 */
void gst_gid_pool_propose (GstGidAllocator *allocator, GstCaps *caps, GstQuery *query);

G_END_DECLS

#endif
