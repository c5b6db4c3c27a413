// SPDX-License-Identifier: MIT
/**
 * GstMemory in slots of slabs of our own, which gidsink can send without a copy.
 *
 * An allocator belongs to one caps: it makes slabs as layouts ask for them, a few slots at first
 * and more as they are needed, and keeps them until its last memory is gone. A slot is in use as
 * long as any GstMemory of it lives.
 */
#ifndef GST_GID_ALLOCATOR_H
#define GST_GID_ALLOCATOR_H

#include "gstgiddmabuf.h"
#include "gstgiddomain.h"
#include "gstgidlayout.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_ALLOCATOR (gst_gid_allocator_get_type ())
G_DECLARE_FINAL_TYPE (GstGidAllocator, gst_gid_allocator, GST, GID_ALLOCATOR, GstAllocator)

typedef struct _GstGidSlab GstGidSlab;
typedef struct _GstGidSlot GstGidSlot;

struct _GstGidSlot
{
  GstGidSlab *slab;
  guint index;
  gint users; /* GstMemory objects of it; atomic */
  gint turn; /* when it was taken, counted over the allocator */
  gboolean in_one_go; /* written before the next slot was taken */
};

struct _GstGidSlab
{
  GstGidAllocator *allocator;
  struct gid_slab *slab;
  struct gid_slab_info info;
  GstGidDmabuf dmabuf; /* of a slab of one slot; none where it is shared memory alone */
  gboolean revoked; /* its slots are given out no more; the allocator's lock, as the next */
  guint used; /* slots with users */
  guint64 emptied; /* gid_slab_emptied() as the sink was told last; the streaming thread's */
  GstGidSlot slots[];
};

struct _GstGidAllocator
{
  GstAllocator parent;

  /* fixed */
  GstGidDomain *domain;
  GstGidFormat format;
  gchar *description; /* the caps, as slabs carry them; NULL where they are too long */
  gchar *stream; /* whose readers on other machines see the memory; NULL: those of any */
  GWeakRef element; /* that offers the memory, and tells why there is none */
  gboolean dmabuf; /* its slabs are dma-bufs, of one slot each */
  gboolean guard; /* off in one test only, which shows what it is for */

  GMutex lock; /* also of the pools that use the allocator */
  GCond cond; /* a slot or a buffer came back, a pool is flushing, a slab is there */
  guint waiting; /* threads that wait for it; signals to nobody are system calls, too */
  GPtrArray *slabs; /* GstGidSlab */
  GPtrArray *pools; /* all that take slots from it, which are not kept by it */
  guint limit; /* of slots: less than at first where the domain has no more, */
  gboolean exhausted; /* as was found out; and more where consumers hold so many */
  guint n_slots;
  gboolean growing; /* another slab is being made */
  gint64 grows_since;
  GError *refusal; /* why the last one could not be made; who reports it takes it */
  gboolean without_gidd; /* because of that: it may be made later */
  gint turn; /* slots ever taken; atomic to read */
  gint told_stuck; /* that upstream waits for what it has itself; atomic */
  gint told_without_gidd; /* that frames wait for memory until gidd answers; atomic */
  gint copying; /* why a decoder copies into it: a GstGidCopyReason, or 0; atomic */
  guint64 waits; /* times that a producer had to wait for one */
};

/**
 * Caps have to be of raw video, in memory that gst_gid_allocator_can_hold(). The allocator keeps the domain. It does not keep the
 * element, which may be NULL. `stream`: the one that the memory is for, NULL where that is not known.
 */
GstGidAllocator *gst_gid_allocator_new (GstGidDomain *domain, const gchar *stream,
    const GstCaps *caps, guint limit, gboolean dmabuf, GstElement *element);

/** Whether it has memory for pictures of such caps: dma-bufs only where it makes some. */
gboolean gst_gid_allocator_can_hold (GstGidAllocator *self, const GstGidFormat *format);

/**
 * A free slot as `size` bytes of memory, or NULL where there is none. Call with the lock held.
 */
GstMemory *gst_gid_allocator_take (
    GstGidAllocator *self, const struct gid_layout *layout, gsize size);

/**
 * Has another slab be made, the first of at least `min` slots: it is `growing` until that is there, or
 * there is a `refusal`. Does nothing where the limit is reached, which does not count while
 * gst_gid_allocator_may_wait() is FALSE. Call with the lock held, and while it does not grow; the lock
 * is given up meanwhile.
 */
void gst_gid_allocator_grow (
    GstGidAllocator *self, const struct gid_layout *layout, gsize size, guint min);

/**
 * Whether it grows, and slots are to be waited for before anything else is done: gidd answers at once,
 * unless it hangs. Call with the lock held.
 */
gboolean gst_gid_allocator_is_awaited (GstGidAllocator *self);

/** Waits for a slot, or a moment. Call with the lock held, which is given up meanwhile. */
void gst_gid_allocator_wait (GstGidAllocator *self);

/**
 * Whether waiting could bring a slot back: consumers have one that they give back in time. Where
 * they have but the picture that is shown now, and upstream all others, it would wait for itself.
 * Call with the lock held.
 */
gboolean gst_gid_allocator_may_wait (GstGidAllocator *self);

/**
 * Lets the next gst_gid_allocator_grow() add slots beyond the limit, as readers hold what there is.
 * FALSE: there is no memory for that, or there are enough already. Call with the lock held.
 */
gboolean gst_gid_allocator_raise_limit (GstGidAllocator *self);

/** Posts once, as the element's warning, that frames wait for gidd's memory. Call without the lock. */
void gst_gid_allocator_post_without_gidd (GstGidAllocator *self, const GError *error);

/** Posts why there is no memory, as the element's error. Call without the lock. */
void gst_gid_allocator_post_error (GstGidAllocator *self, const GError *error);

/**
 * Posts once, as the element's warning, that upstream holds all the memory that there is, and waits
 * for more. Call without the lock.
 */
void gst_gid_allocator_post_stuck (GstGidAllocator *self);

/** Something changed that pools may wait for. Call with the lock held. */
void gst_gid_allocator_signal (GstGidAllocator *self);

/** A slot of ours is given out once more, by a pool. Call with the lock held. */
void gst_gid_allocator_take_again (GstGidAllocator *self, GstMemory *mem);

/** Slots of all slabs, and those in use. */
void gst_gid_allocator_get_slots (GstGidAllocator *self, guint *total, guint *used);

#define GST_GID_MEMORY_TYPE "GidMemory"

/**
 * The GstMemory of a slot of our own: the one that its producer fills, parts of it, and aliases.
 * That of a dma-buf is of GStreamer's own kind for these instead, so ask gst_gid_memory_get_slot().
 *
 * Aliases: a decoder keeps the frames it may refer to mapped for writing, and GStreamer copies
 * memory that is so mapped when it wants the buffer writable. For such memory `mem_copy` gives a
 * second, read-only GstMemory of the same slot instead of a copy. The pool in turn gives out a slot
 * again only when all of its memories are gone, and not already when its own buffer comes back.
 */
typedef struct
{
  GstMemory mem;
  GstGidSlot *slot;
} GstGidMemory;

/** Its slot; NULL where it is not ours. */
GstGidSlot *gst_gid_memory_get_slot (GstMemory *mem);

/** Whether frames in this memory of ours can be sent no more. A pool's lock may be held. */
gboolean gst_gid_memory_is_revoked (GstMemory *mem);

/** Whether memory is a slot of ours: of the domain given, or of any where that is NULL. */
gboolean gst_is_gid_memory (GstMemory *mem, GstGidDomain *domain);

/** Whether memory of ours is an alias: its frame was decoded in place. */
gboolean gst_gid_memory_is_alias (GstMemory *mem);

G_END_DECLS

#endif
