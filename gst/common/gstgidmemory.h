// SPDX-License-Identifier: MIT
/**
 * The GstMemory of a slot of our own: the one that its producer fills, parts of it, and aliases.
 *
 * Aliases: a decoder keeps the frames it may refer to mapped for writing, and GStreamer copies
 * memory that is so mapped when it wants the buffer writable. For such memory `mem_copy` gives a
 * second, read-only GstMemory of the same slot instead of a copy. The pool in turn gives out a slot
 * again only when all of its memories are gone, and not already when its own buffer comes back.
 */
#ifndef GST_GID_MEMORY_H
#define GST_GID_MEMORY_H

#include "gstgidallocator.h"

G_BEGIN_DECLS

#define GST_GID_MEMORY_TYPE "GidMemory"

typedef struct
{
  GstMemory mem;
  GstGidSlot *slot;
} GstGidMemory;

/** Whether memory is a slot of ours: of the domain given, or of any where that is NULL. */
gboolean gst_is_gid_memory (GstMemory * mem, GstGidDomain * domain);

/** Whether memory of ours is an alias: its frame was decoded in place. */
gboolean gst_gid_memory_is_alias (GstMemory * mem);

/** Memory of a slot, which has one user more. Of `parent`, or NULL. */
GstMemory *gst_gid_memory_new (GstGidAllocator * allocator, GstGidSlot * slot,
    GstMemoryFlags flags, GstMemory * parent, gsize offset, gsize size);

/** Has an allocator of ours map, share and copy as slots are. */
void gst_gid_memory_init (GstAllocator * allocator);

G_END_DECLS

#endif
