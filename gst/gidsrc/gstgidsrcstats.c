// SPDX-License-Identifier: MIT
#include "gstgidsrc.h"

GstStructure *
gst_gid_src_create_stats (gpointer src)
{
  GstGidSrc *self = src;
  struct gid_consumer_stats stats;
  GstStructure *structure;
  GstGidReader *reader;
  guint64 filled = 0;
  guint waiting = 0;

  GST_OBJECT_LOCK (self);
  gst_gid_subscription_get_stats (&self->subscription, &stats);
  reader = gst_gid_subscription_get_reader (&self->subscription);
  if (reader) {
    gst_gid_domain_lock (reader->domain);
    waiting = gst_gid_backlog_get_length (&self->backlog);
    filled = self->filler.frames;
    gst_gid_domain_unlock (reader->domain);
  }
  structure = gst_structure_new ("gid-src-stats", "stream", G_TYPE_STRING,
      gst_gid_subscription_get_stream (&self->subscription), "frames", G_TYPE_UINT64, stats.frames,
      "missed", G_TYPE_UINT64, stats.missed, "lost", G_TYPE_UINT64,
      gst_gid_sequence_get_lost (&self->sequence), "taken", G_TYPE_UINT64, self->taken, "held",
      G_TYPE_UINT, stats.held, "waiting", G_TYPE_UINT, waiting, "filled", G_TYPE_UINT64, filled,
      "credit", G_TYPE_UINT, stats.credit, "reconnects", G_TYPE_UINT64, stats.reconnects,
      "producer-copied-frames", G_TYPE_UINT64, stats.copied_frames, "producer-copied-bytes",
      G_TYPE_UINT64, stats.copied_bytes, "clock-offset", G_TYPE_INT64, stats.clock_offset_ns,
      "clock-error", G_TYPE_UINT64, stats.clock_error_ns, NULL);
  gst_gid_copier_add_stats (&self->copier, structure);
  GST_OBJECT_UNLOCK (self);
  return structure;
}
