// SPDX-License-Identifier: MIT
/** A source's copies: memory to copy to that is used again and again, and how many there were. */
#ifndef GST_GID_COPIER_H
#define GST_GID_COPIER_H

#include "common/gstgidcopies.h"
#include "gstgidreader.h"
#include "gstgidview.h"

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;
  GstGidCopyPolicy policy; /* property; the object lock */
  GstGidView kind; /* of memory that downstream gets; the domain's lock */

  /* the streaming thread's */
  GstBufferPool *held_pool; /* for frames that downstream would hold too many of */
  gsize held_size; /* of its buffers */
  GstBufferPool *plain_pool; /* where downstream needs copies of the present caps; else NULL */
  GstGidCopies copies;
} GstGidCopier;

void gst_gid_copier_init (GstGidCopier *self, GstElement *element);
void gst_gid_copier_start (GstGidCopier *self);

/** Lets go of the memory: the caps are others, or it is the end. */
void gst_gid_copier_clear (GstGidCopier *self);

/** What downstream takes. With the domain's lock held. */
void gst_gid_copier_set_kind (GstGidCopier *self, GstGidView kind);
GstGidView gst_gid_copier_get_kind (const GstGidCopier *self);

/** Of a slot, what elements may look at: not all of it, for its owner chooses how large it is. */
gsize gst_gid_copier_size_of (const struct gid_slab_info *info);

/** Memory of such a size, as downstream finds it in a slot. Any thread. */
GstBuffer *gst_gid_copier_allocate (GstGidCopier *self, gsize size);

/** The same, used again and again: fresh pages cost more than the copy. The streaming thread. */
GstBuffer *gst_gid_copier_acquire (GstGidCopier *self, gsize size);

/** Likewise plain memory, of a picture with such caps. */
GstBuffer *gst_gid_copier_acquire_plain (GstGidCopier *self, GstCaps *caps, gsize size);

/**
 * Copies the frame into the buffer, which has gst_gid_copier_size_of() bytes, and gives the frame
 * back. With the domain's lock held, which is given up meanwhile. FALSE: it could not be read, or,
 * with `*stale`, was taken back meanwhile.
 */
gboolean gst_gid_copier_copy_slot (GstGidReader *reader, struct gid_slab *slab,
    const struct gid_frame *frame, GstBuffer *to, gboolean *stale);

/** Counts a copy. Returns FALSE after an error, where the policy allows none. */
gboolean gst_gid_copier_count (GstGidCopier *self, GstGidCopyReason reason, gsize size);

/** The same of a frame that downstream has no credit or no time for: says so once. */
gboolean gst_gid_copier_count_held (GstGidCopier *self, GstGidReader *reader, gsize size);

/** Adds the copies and their reasons. */
void gst_gid_copier_add_stats (const GstGidCopier *self, GstStructure *structure);

G_END_DECLS

#endif
