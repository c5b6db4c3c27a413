// SPDX-License-Identifier: MIT
/** Counts copied frames by their reason, and applies the `copy-policy` property. */
#ifndef GST_GID_COPIES_H
#define GST_GID_COPIES_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_GID_COPY_STARTUP, /* decoded before the allocation was negotiated */
  GST_GID_COPY_PADDED_WIDTH, /* the decoder's rows are wider than the picture */
  GST_GID_COPY_DECODER_MEMORY, /* the decoder could decode in place, but does not */
  GST_GID_COPY_UPSTREAM_MEMORY, /* upstream uses memory of its own */
  GST_GID_COPY_SPLIT_MEMORY, /* the frame is in several memories */
  GST_GID_COPY_UNSEALED_MEMORY, /* fd memory without the necessary seals */
  GST_GID_COPY_OTHER_MACHINE, /* a consumer on another machine cannot access the memory */
  GST_GID_COPY_PLAIN_LAYOUT, /* downstream does not support GstVideoMeta */
  GST_GID_COPY_HELD, /* downstream holds as many frames as it may, or is too slow */
  GST_GID_COPY_CANVAS_SLOTS, /* downstream holds all but two slots of an engine's canvas */
  GST_GID_N_COPY_REASONS
} GstGidCopyReason;

typedef enum
{
  GST_GID_COPY_POLICY_ALLOW,
  GST_GID_COPY_POLICY_WARN,
  GST_GID_COPY_POLICY_ERROR,
} GstGidCopyPolicy;

#define GST_TYPE_GID_COPY_POLICY (gst_gid_copy_policy_get_type ())
GType gst_gid_copy_policy_get_type (void);

/** All fields are protected by the object lock of the element. */
typedef struct
{
  GstGidCopyPolicy policy; /* property */
  guint64 frames, bytes;
  guint64 reasons[GST_GID_N_COPY_REASONS];
} GstGidCopies;

/** The reason in libgid's numbering, which other programs see. */
enum gid_copy_reason gst_gid_copy_reason_shared (GstGidCopyReason reason);

/** Sets the counters to 0. Call with the object lock held. */
void gst_gid_copies_start (GstGidCopies *copies);

/**
 * Counts a copied frame of `bytes` bytes. Depending on the policy, posts a warning for each new
 * reason, or an error. GST_GID_COPY_STARTUP is only counted, because no decoder can avoid it.
 * Returns FALSE after an error. Call without the object lock.
 */
gboolean gst_gid_copies_add (
    GstGidCopies *copies, GstElement *element, GstGidCopyReason reason, guint64 bytes);

/**
 * Sets the fields "copied-frames", "copied-bytes" and "copy-reasons" of a statistics structure. Call
 * with the object lock held.
 */
void gst_gid_copies_to_structure (const GstGidCopies *copies, GstStructure *structure);

G_END_DECLS

#endif
