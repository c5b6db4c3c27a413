// SPDX-License-Identifier: MIT
/** Copies frames of a source to memory from pools, and counts these copies. */
#ifndef GST_GID_COPIER_H
#define GST_GID_COPIER_H

#include "common/gstgidcopies.h"
#include "gstgidreader.h"
#include "gstgidview.h"

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;
  GstGidCopies copies; /* the object lock */
  GstGidView kind; /* of memory that downstream gets; the domain's lock */

  /* streaming thread */
  GstBufferPool *held_pool; /* for frames that exceed what downstream may hold */
  gsize held_size; /* of its buffers */
  GstGidView held_kind; /* of their memory */
  GstBufferPool *plain_pool; /* if downstream needs copies of the present caps; else NULL */
} GstGidCopier;

void gst_gid_copier_init (GstGidCopier *self, GstElement *element);
void gst_gid_copier_start (GstGidCopier *self);

/** Frees the pools: at new caps, or at the end. */
void gst_gid_copier_clear (GstGidCopier *self);

/** The kind of memory that downstream accepts. Call with the domain's lock held. */
void gst_gid_copier_set_kind (GstGidCopier *self, GstGidView kind);
GstGidView gst_gid_copier_get_kind (const GstGidCopier *self);

/**
 * How many bytes of a slot elements may access. Not all of it, because the slab's owner chooses its
 * size.
 */
gsize gst_gid_copier_size_of (const struct gid_slab_info *info);

/** Allocates a buffer of this size, with the kind of memory that downstream accepts. Any thread. */
GstBuffer *gst_gid_copier_allocate (GstGidCopier *self, gsize size);

/**
 * Takes a copy that was allocated some time ago, and returns it, or a copy of it if downstream no
 * longer accepts its kind of memory. Streaming thread.
 */
GstBuffer *gst_gid_copier_refit (GstGidCopier *self, GstBuffer *copy);

/** The same from a pool: page faults of new memory cost more than the copy. Streaming thread. */
GstBuffer *gst_gid_copier_acquire (GstGidCopier *self, gsize size);

/** The same with system memory, for pictures of these caps. */
GstBuffer *gst_gid_copier_acquire_plain (GstGidCopier *self, GstCaps *caps, gsize size);

/**
 * Copies the frame to the buffer, which has gst_gid_copier_size_of() bytes, and releases the frame.
 * Call with the domain's lock held; releases it temporarily. Returns FALSE if the frame could not
 * be read, or, with `*stale` set, was reclaimed meanwhile.
 */
gboolean gst_gid_copier_copy_slot (GstGidReader *reader, struct gid_slab *slab,
    const struct gid_frame *frame, GstBuffer *to, gboolean *stale);

/** Counts a copy. Returns FALSE after an error, if the policy allows none. */
gboolean gst_gid_copier_count (GstGidCopier *self, GstGidCopyReason reason, gsize size);

/** The same for GST_GID_COPY_HELD; informs the user once. */
gboolean gst_gid_copier_count_held (GstGidCopier *self, GstGidReader *reader, gsize size);

/** Adds the copies and their reasons to the statistics. Call with the object lock held. */
void gst_gid_copier_add_stats (const GstGidCopier *self, GstStructure *structure);

G_END_DECLS

#endif
