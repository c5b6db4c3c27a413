// SPDX-License-Identifier: MIT
#include "gstgidcopies.h"

#include <string.h>

#include "gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

static const struct
{
  enum gid_copy_reason shared;
  const gchar *why;
  const gchar *advice;
} reasons[GST_GID_N_COPY_REASONS] = {
  [GST_GID_COPY_STARTUP] = { GID_COPY_STARTUP, "was decoded before its memory was negotiated", "" },
  [GST_GID_COPY_PADDED_WIDTH] = { GID_COPY_PADDED_WIDTH,
      "was copied by its decoder, which decodes into wider rows than the picture has",
      "Widths that are a multiple of 16 avoid it." },
  [GST_GID_COPY_DECODER_MEMORY] = { GID_COPY_DECODER_MEMORY,
      "was copied by its decoder, which decodes into memory of its own",
      "From GStreamer 1.28 on libav's decoders of H.264, H.265 and H.266 do so." },
  [GST_GID_COPY_UPSTREAM_MEMORY] = { GID_COPY_UPSTREAM_MEMORY, "came in memory of upstream's own",
      "Use elements that take the offered memory (for example avdec_vp9 instead of vp9dec), and "
      "put gidalloc before a tee." },
  [GST_GID_COPY_SPLIT_MEMORY] = { GID_COPY_SPLIT_MEMORY, "came in several pieces of memory",
      "Ask upstream for frames in one piece, as with v4l2's single-planar formats." },
  [GST_GID_COPY_UNSEALED_MEMORY] = { GID_COPY_UNSEALED_MEMORY,
      "came in a file that is not sealed, so that its readers could write it or its "
      "owner truncate it",
      "Seal the memfd with F_SEAL_SHRINK and F_SEAL_FUTURE_WRITE, or use dma-bufs." },
  [GST_GID_COPY_OTHER_MACHINE] = { GID_COPY_OTHER_MACHINE,
      "came in memory that a consumer on another machine cannot see",
      "Use elements that take the offered memory." },
  [GST_GID_COPY_PLAIN_LAYOUT] = { GID_COPY_PLAIN_LAYOUT,
      "has rows that are not laid out as downstream assumes without GstVideoMeta",
      "Use a downstream element that supports GstVideoMeta, or a videoconvert before the sink." },
  [GST_GID_COPY_HELD] = { GID_COPY_HELD,
      "came while downstream held nearly all that it may hold, or was not ready for it",
      "Give it more with credit= of gidsrc and of the producer's gidsink." },
  [GST_GID_COPY_CANVAS_SLOTS] = { GID_COPY_CANVAS_SLOTS,
      "came while downstream held the canvas's other slots",
      "Give the canvas more with slots= in the engine's configuration." },
};

enum gid_copy_reason
gst_gid_copy_reason_shared (GstGidCopyReason reason)
{
  return reasons[reason].shared;
}

G_DEFINE_ENUM_TYPE (GstGidCopyPolicy, gst_gid_copy_policy,
    { GST_GID_COPY_POLICY_ALLOW, "Copy and count them", "allow" },
    { GST_GID_COPY_POLICY_WARN, "Copy and count them, and post a warning for each new reason",
        "warn" },
    { GST_GID_COPY_POLICY_ERROR, "Post an error instead of copying", "error" })

void
gst_gid_copies_start (GstGidCopies *copies)
{
  copies->frames = copies->bytes = 0;
  memset (copies->reasons, 0, sizeof (copies->reasons));
}

gboolean
gst_gid_copies_add (
    GstGidCopies *copies, GstElement *element, GstGidCopyReason reason, guint64 bytes)
{
  GstGidCopyPolicy policy;
  gboolean first;

  GST_OBJECT_LOCK (element);
  policy = copies->policy;
  first = copies->reasons[reason]++ == 0;
  copies->frames++;
  copies->bytes += bytes;
  GST_OBJECT_UNLOCK (element);
  GST_DEBUG_OBJECT (
      element, "copied %" G_GUINT64_FORMAT " bytes: the frame %s", bytes, reasons[reason].why);
  if (reason == GST_GID_COPY_STARTUP || policy == GST_GID_COPY_POLICY_ALLOW)
    return TRUE;

  if (policy == GST_GID_COPY_POLICY_ERROR) {
    GST_ELEMENT_ERROR (element, STREAM, FAILED,
        ("A frame %s, and copy-policy=error does not allow a copy. %s", reasons[reason].why,
            reasons[reason].advice),
        ("reason: %s", gid_copy_reason_name (reasons[reason].shared)));
    return FALSE;
  }
  if (first)
    GST_ELEMENT_WARNING (element, STREAM, FAILED,
        ("Frames are copied: one %s. %s", reasons[reason].why, reasons[reason].advice),
        ("reason: %s", gid_copy_reason_name (reasons[reason].shared)));
  return TRUE;
}

void
gst_gid_copies_to_structure (const GstGidCopies *copies, GstStructure *structure)
{
  GstStructure *why = gst_structure_new_empty ("copy-reasons");

  for (guint i = 0; i < GST_GID_N_COPY_REASONS; i++) {
    if (copies->reasons[i])
      gst_structure_set (
          why, gid_copy_reason_name (reasons[i].shared), G_TYPE_UINT64, copies->reasons[i], NULL);
  }
  gst_structure_set (structure, "copied-frames", G_TYPE_UINT64, copies->frames, "copied-bytes",
      G_TYPE_UINT64, copies->bytes, "copy-reasons", GST_TYPE_STRUCTURE, why, NULL);
  gst_structure_free (why);
}
