// SPDX-License-Identifier: MIT
/**
 * A sink's memory for the present caps: the allocator that is proposed to upstream, and the pool
 * for copies.
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

  /* streaming thread; pointers that other threads read are changed with the object lock held */
  GstCaps *caps;
  GstGidFormat format, format_before; /* of the present and of the previous caps */
  gchar *description; /* the caps as the slabs' description */
  GstGidAllocator *allocator; /* for the present caps; the object lock */
  GstGidAllocator *asked_allocator; /* for an ALLOCATION query with other caps */
  GstCaps *asked_caps;
  GstBufferPool *copy_pool; /* the object lock */
  gboolean copies_are_dmabufs;
} GstGidSlots;

void gst_gid_slots_init (GstGidSlots *self, GstBaseSink *sink, GstGidPublication *publication);

/** Frees everything that was made for the present caps. */
void gst_gid_slots_clear (GstGidSlots *self);

/** Sets the caps of the next frames. */
void gst_gid_slots_set_caps (GstGidSlots *self, GstCaps *caps, const GstGidFormat *format);

/** The present caps (NULL: none yet), their format, and their description. */
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

/** Whether a buffer does not match these caps, but the previous ones. */
gboolean gst_gid_slots_is_late (const GstGidSlots *self, GstBuffer *buffer);

/** Whether slots should be dma-bufs, by the property. */
static inline gboolean
gst_gid_slots_are_dmabufs (const GstGidSlots *self)
{
  return self->dmabuf;
}

/** The allocator for the present caps, or for those of an ALLOCATION query. */
GstGidAllocator *gst_gid_slots_get_allocator (GstGidSlots *self, GstCaps *caps);

/**
 * Acquires a buffer to copy a frame to. Like a flush, a pause interrupts the wait for one; if
 * `playing`, it continues after the pause.
 */
GstFlowReturn gst_gid_slots_acquire_copy (GstGidSlots *self, gboolean playing, GstBuffer **copy);

/** Interrupts the wait for such a buffer, or allows it again. */
void gst_gid_slots_set_flushing (GstGidSlots *self, gboolean flushing);

/** Number of slots, of used slots, and of waits for one. Call with the object lock held. */
void gst_gid_slots_get_stats (GstGidSlots *self, guint *slots, guint *used, guint64 *waits);

G_END_DECLS

#endif
