// SPDX-License-Identifier: MIT
/** GstMemory over a slab that is mapped already: mapping it again costs nothing. */
#ifndef GST_GID_VIEW_H
#define GST_GID_VIEW_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** What memory looks like to those downstream. */
typedef enum
{
  GST_GID_VIEW_PLAIN,
  GST_GID_VIEW_FD, /* can be imported by its descriptor, which is read-only */
  GST_GID_VIEW_DMABUF, /* the same, as a dma-buf: mapped by GStreamer */
  GST_GID_N_VIEWS
} GstGidView;

/**
 * Read-only memory: bytes 0 to `maxsize` of the file `fd`, which stays the caller's, of which it
 * shows `size` from `offset` on. `base` is where byte 0 would be mapped. Both have to live as long.
 */
GstMemory *gst_gid_view_new (
    GstGidView kind, int fd, gconstpointer base, gsize maxsize, gsize offset, gsize size);

/**
 * The kind that downstream can take, by its answer to an ALLOCATION query. Removes pools and
 * allocators from that: the memory is the producer's.
 */
GstGidView gst_gid_view_decide (GstQuery *query);

/**
 * What copies of such memory are allocated by, so that downstream finds in them what it finds in a
 * slot: a descriptor that readers cannot write, where it hands that on (unixfdsink, gidsink). A
 * reference; NULL: the default.
 */
GstAllocator *gst_gid_view_copy_allocator (GstGidView kind);

G_END_DECLS

#endif
