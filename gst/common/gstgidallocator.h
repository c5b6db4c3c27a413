// SPDX-License-Identifier: MIT
/**
 * An allocator of GstMemory in slots of our own slabs, which gidsink can send without a copy.
 *
 * Each allocator serves one caps. It creates slabs on demand, for the layouts that are requested: a
 * few slots first, and more when they are needed. It keeps them until its last memory is freed. A
 * slot is in use as long as a GstMemory refers to it.
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
  gint users; /* number of GstMemory objects that refer to it; atomic */
  gint turn; /* when it was taken: the allocator's counter of takes */
  gboolean in_one_go; /* it was mapped for writing, and unmapped, before the next slot was taken */
};

struct _GstGidSlab
{
  GstGidAllocator *allocator;
  struct gid_slab *slab;
  struct gid_slab_info info;
  GstGidDmabuf dmabuf; /* for slabs of one slot; GST_GID_DMABUF_NONE for shared memory */
  gboolean revoked; /* its slots are not given out any more; like the next, under the lock */
  guint used; /* number of slots in use */
  guint64 emptied; /* last value of gid_slab_emptied() that the sink has seen; streaming thread */
  GstGidSlot slots[];
};

struct _GstGidAllocator
{
  GstAllocator parent;

  /* constant */
  GstGidDomain *domain;
  GstGidFormat format;
  gchar *description; /* the caps as the slabs' description; NULL: they are too long */
  gchar *stream; /* readers of this stream on other machines see the memory; NULL: of any stream */
  GWeakRef element; /* the element that proposes the memory, and posts errors */
  gboolean dmabuf; /* slabs are dma-bufs of one slot each */
  gboolean guard; /* the release guard of the pools; only a test switches it off */

  GMutex lock; /* also protects the pools that use the allocator */
  GCond cond; /* a slot or buffer was released, a pool flushes, or a slab was created */
  guint waiting; /* threads waiting for it: signalling nobody would still be a system call */
  GPtrArray *slabs; /* of GstGidSlab */
  GPtrArray *pools; /* GstGidPool that take slots from the allocator; not owned */
  guint limit; /* maximum number of slots; may be lowered or raised later */
  gboolean exhausted; /* the domain has no more memory: the limit is not raised any more */
  guint n_slots;
  gboolean growing; /* a slab has been requested */
  gint64 grows_since;
  GError *refusal; /* why the last request failed; taken by the thread that reports it */
  gboolean without_gidd; /* it failed because gidd does not answer: a later request may succeed */
  gint turn; /* number of times a slot was taken; atomic for readers */
  gint told_stuck; /* warned that upstream waits for buffers that it holds itself; atomic */
  gint told_without_gidd; /* warned that frames wait for memory until gidd answers; atomic */
  gint copying; /* why upstream copies into this memory: a GstGidCopyReason, or 0; atomic */
  guint64 waits; /* number of times a producer had to wait for a slot */
};

/**
 * The caps must be raw video, in memory that gst_gid_allocator_can_hold() accepts. The allocator
 * takes a reference of the domain, but not of the element, which may be NULL. `stream`: the stream
 * that the memory is for, or NULL if that is not known.
 */
GstGidAllocator *gst_gid_allocator_new (GstGidDomain *domain, const gchar *stream,
    const GstCaps *caps, guint limit, gboolean dmabuf, GstElement *element);

/**
 * Whether the allocator can provide memory for such caps: dma-bufs only if it was created for them.
 */
gboolean gst_gid_allocator_can_hold (GstGidAllocator *self, const GstGidFormat *format);

/**
 * Returns a free slot as a GstMemory of `size` bytes, or NULL if there is none. Call with the lock
 * held.
 */
GstMemory *gst_gid_allocator_take (
    GstGidAllocator *self, const struct gid_layout *layout, gsize size);

/**
 * Requests another slab; the first one has at least `min` slots. `growing` is set until the slab is
 * created or `refusal` says why not. Does nothing once the limit is reached, unless
 * gst_gid_allocator_may_wait() is FALSE: then the limit does not count. Call with the lock held,
 * and only if not `growing`. Releases the lock temporarily.
 */
void gst_gid_allocator_grow (
    GstGidAllocator *self, const struct gid_layout *layout, gsize size, guint min);

/**
 * Whether to wait for the requested slab before trying anything else. gidd usually answers at once,
 * so this becomes FALSE after a short time. Call with the lock held.
 */
gboolean gst_gid_allocator_is_awaited (GstGidAllocator *self);

/**
 * Waits until a slot may be free, or a short time has passed. Call with the lock held; waiting
 * releases it.
 */
void gst_gid_allocator_wait (GstGidAllocator *self);

/**
 * Whether waiting can bring back a slot: consumers hold one that they will release. FALSE if they
 * only hold the picture on display and upstream holds all other slots: upstream would wait for
 * itself. Call with the lock held.
 */
gboolean gst_gid_allocator_may_wait (GstGidAllocator *self);

/**
 * Raises the limit, because readers hold the existing slots: the next gst_gid_allocator_grow() can
 * add more. Returns FALSE if there is no memory, or there are enough slots already. Call with the
 * lock held.
 */
gboolean gst_gid_allocator_raise_limit (GstGidAllocator *self);

/**
 * Posts one warning of the element that frames wait for memory until gidd answers. Call without the
 * lock.
 */
void gst_gid_allocator_post_without_gidd (GstGidAllocator *self, const GError *error);

/** Posts the reason why there is no memory as an error of the element. Call without the lock. */
void gst_gid_allocator_post_error (GstGidAllocator *self, const GError *error);

/**
 * Posts one warning of the element that upstream holds all slots and waits for more. Call without
 * the lock.
 */
void gst_gid_allocator_post_stuck (GstGidAllocator *self);

/** Wakes the pools that wait. Call with the lock held. */
void gst_gid_allocator_signal (GstGidAllocator *self);

/** A pool gives out a slot again that it has kept. Call with the lock held. */
void gst_gid_allocator_take_again (GstGidAllocator *self, GstMemory *mem);

/** Returns the number of slots of all slabs, and how many are in use. */
void gst_gid_allocator_get_slots (GstGidAllocator *self, guint *total, guint *used);

#define GST_GID_MEMORY_TYPE "GidMemory"

/**
 * The GstMemory of a slot: as upstream gets it, a sub-memory of it, or an alias. Slots in dma-bufs
 * are GstFdMemory instead: use gst_gid_memory_get_slot().
 *
 * Aliases: decoders keep reference frames mapped for writing. When an element then needs a writable
 * buffer, GStreamer copies the memory. For memory that is mapped for writing, our mem_copy returns
 * a second, read-only GstMemory of the same slot instead of a copy. In return, the pool reuses a
 * slot only when all of its memories are freed, not already when its own buffer is released.
 */
typedef struct
{
  GstMemory mem;
  GstGidSlot *slot;
} GstGidMemory;

/** Returns the slot of the memory, or NULL if the memory is not ours. */
GstGidSlot *gst_gid_memory_get_slot (GstMemory *mem);

/**
 * Whether the slab was revoked, so that frames in this memory (ours) cannot be sent. A pool's lock
 * may be held.
 */
gboolean gst_gid_memory_is_revoked (GstMemory *mem);

/** Whether the memory is a slot of ours: of the given domain, or of any domain if that is NULL. */
gboolean gst_is_gid_memory (GstMemory *mem, GstGidDomain *domain);

/** Whether the memory (ours) is an alias, which means that the frame was decoded in place. */
gboolean gst_gid_memory_is_alias (GstMemory *mem);

G_END_DECLS

#endif
