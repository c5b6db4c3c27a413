// SPDX-License-Identifier: MIT
/** GstMemory for a slab that is mapped already, so that mapping the memory costs nothing. */
#ifndef GST_GID_VIEW_H
#define GST_GID_VIEW_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** What kind of GstMemory downstream gets. */
typedef enum
{
  GST_GID_VIEW_PLAIN,
  GST_GID_VIEW_FD, /* GstFdMemory: importable by its descriptor, which is read-only */
  GST_GID_VIEW_DMABUF, /* dma-buf memory, which GStreamer maps itself */
  GST_GID_N_VIEWS
} GstGidView;

/**
 * Creates read-only memory of bytes 0 to `maxsize` of the file `fd`, of which it shows `size` bytes
 * from `offset` on. `base` is the address of byte 0. The caller owns both, and they must outlive
 * the memory.
 */
GstMemory *gst_gid_view_new (
    GstGidView kind, int fd, gconstpointer base, gsize maxsize, gsize offset, gsize size);

/**
 * The kind of memory for downstream, by its answer to an ALLOCATION query. Removes the pools and
 * allocators from the query, because the producer provides the memory.
 */
GstGidView gst_gid_view_decide (GstQuery *query);

/**
 * The allocator for copies of such memory, so that downstream can use a copy like a slot: for
 * elements that pass descriptors on (unixfdsink, gidsink), one that readers cannot write. Returns a
 * reference; NULL: the default allocator.
 */
GstAllocator *gst_gid_view_copy_allocator (GstGidView kind);

G_END_DECLS

#endif
