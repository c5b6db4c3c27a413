// SPDX-License-Identifier: MIT
/** Counts every copy of a frame, with its reason, and does about it what `copy-policy` says. */
#ifndef GST_GID_COPIES_H
#define GST_GID_COPIES_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_GID_COPY_STARTUP, /* decoded before the memory was negotiated */
  GST_GID_COPY_PADDED_WIDTH, /* the decoder's rows are wider than the picture's */
  GST_GID_COPY_DECODER_MEMORY, /* the decoder could decode in place, and does not */
  GST_GID_COPY_UPSTREAM_MEMORY, /* upstream writes into memory of its own */
  GST_GID_COPY_SPLIT_MEMORY, /* a frame in several memories */
  GST_GID_COPY_UNSEALED_MEMORY, /* fd memory without the seals that it needs */
  GST_GID_COPY_OTHER_MACHINE, /* a consumer on another machine cannot see the memory */
  GST_GID_COPY_PLAIN_LAYOUT, /* downstream does not know GstVideoMeta */
  GST_GID_COPY_HELD, /* downstream holds as many frames as it may, or is slower than they come */
  GST_GID_COPY_CANVAS_SLOTS, /* downstream holds as many of an engine's pictures as it has slots */
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

typedef struct
{
  guint64 frames, bytes;
  guint64 reasons[GST_GID_N_COPY_REASONS];
} GstGidCopies;

/** The reason as libgid has it, which shows it to others. */
enum gid_copy_reason gst_gid_copy_reason_shared (GstGidCopyReason reason);

/**
 * Counts one frame of `bytes`. Posts a warning the first time that a reason comes up, or an error,
 * as the policy says; copies at start-up are only counted, for no decoder is without them.
 * Returns FALSE after an error. The caller holds what protects `copies`, but for posting.
 */
gboolean gst_gid_copies_add (GstGidCopies *copies, GstElement *element, GstGidCopyPolicy policy,
    GstGidCopyReason reason, guint64 bytes);

/** Adds "copied-frames", "copied-bytes" and "copy-reasons" to a structure of statistics. */
void gst_gid_copies_to_structure (const GstGidCopies *copies, GstStructure *structure);

G_END_DECLS

#endif
