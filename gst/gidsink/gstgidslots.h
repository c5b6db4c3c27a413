// SPDX-License-Identifier: MIT
/**
 * The memory of a sink, for the caps that it has: what upstream is offered to write into, and what
 * frames are copied to that came in other memory.
 */
#ifndef GST_GID_SLOTS_H
#define GST_GID_SLOTS_H

#include <gst/base/gstbasesink.h>

#include "common/gstgidallocator.h"
#include "gstgidpublication.h"

G_BEGIN_DECLS

typedef struct
{
  GstBaseSink *sink;
  GstGidPublication *publication;

  /* properties; the object lock */
  guint limit;
  gboolean dmabuf;

  /* the streaming thread's; pointers that others look at change with the object lock */
  GstCaps *caps;
  GstGidFormat format, format_before; /* of these caps, and of those before them */
  gchar *description; /* of slabs for these caps */
  GstGidAllocator *allocator; /* for these caps; object lock */
  GstGidAllocator *asked_allocator; /* for an ALLOCATION query with other caps than these */
  GstCaps *asked_caps;
  GstBufferPool *copy_pool; /* object lock */
  gboolean copies_are_dmabufs;
} GstGidSlots;

void gst_gid_slots_init (GstGidSlots *self, GstBaseSink *sink, GstGidPublication *publication);

/** Frees what was made for the caps until now, and forgets them. */
void gst_gid_slots_clear (GstGidSlots *self);

/** Frames come with these caps from now on. */
void gst_gid_slots_set_caps (GstGidSlots *self, GstCaps *caps, const GstGidFormat *format);

/** The present caps, NULL: none yet; what they mean, and their text as slabs carry it. */
static inline GstCaps *
gst_gid_slots_get_caps (const GstGidSlots *self)
{
  return self->caps;
}

static inline const GstGidFormat *
gst_gid_slots_get_format (const GstGidSlots *self)
{
  return &self->format;
}

static inline const gchar *
gst_gid_slots_get_description (const GstGidSlots *self)
{
  return self->description;
}

/** Whether a buffer is not of these caps, but of those before them. */
gboolean gst_gid_slots_is_late (const GstGidSlots *self, GstBuffer *buffer);

/** Whether slots are to be dma-bufs, as the property says. */
static inline gboolean
gst_gid_slots_are_dmabufs (const GstGidSlots *self)
{
  return self->dmabuf;
}

/** The allocator for the present caps, or for those of an ALLOCATION query. */
GstGidAllocator *gst_gid_slots_get_allocator (GstGidSlots *self, GstCaps *caps);

/**
 * A buffer to copy a frame to. A pause wakes who waits for one, as a flush does: what is `playing`
 * goes on when the pause is over.
 */
GstFlowReturn gst_gid_slots_acquire_copy (GstGidSlots *self, gboolean playing, GstBuffer **copy);

/** Who waits for a buffer to copy to is to stop, or may wait again. */
void gst_gid_slots_set_flushing (GstGidSlots *self, gboolean flushing);

/** How many slots there are, how many are used, and how often one was waited for. Object lock. */
void gst_gid_slots_get_stats (GstGidSlots *self, guint *slots, guint *used, guint64 *waits);

G_END_DECLS

#endif
