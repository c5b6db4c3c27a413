// SPDX-License-Identifier: MIT
#include "gstgidsink.h"

GstStructure *
gst_gid_sink_create_stats (gpointer sink)
{
  GstGidSink *self = sink;
  struct gid_producer_stats stats;
  GstStructure *base, *structure;
  guint64 rendered = 0, waits, refresh, latency, late;
  guint slots, used;

  base = gst_base_sink_get_stats (GST_BASE_SINK_CAST (self));
  gst_structure_get_uint64 (base, "rendered", &rendered);
  gst_structure_free (base);

  GST_OBJECT_LOCK (self);
  gst_gid_publication_get_stats (&self->publication, &stats);
  gst_gid_slots_get_stats (&self->slots, &slots, &used, &waits);
  gst_gid_display_get_stats (&self->display, &refresh, &latency, &late);
  structure = gst_structure_new ("gid-sink-stats", "stream", G_TYPE_STRING,
      gst_gid_publication_get_stream (&self->publication), "rendered", G_TYPE_UINT64, rendered,
      "frames", G_TYPE_UINT64, stats.frames, "refused", G_TYPE_UINT64,
      gst_gid_refusals_get_count (&self->refusals), "delivered", G_TYPE_UINT64, stats.delivered,
      "dropped", G_TYPE_UINT64, stats.dropped, "leases-expired", G_TYPE_UINT64,
      stats.leases_expired, "held", G_TYPE_UINT, stats.held, "consumers", G_TYPE_UINT,
      stats.consumers, "doorbells", G_TYPE_UINT64, stats.doorbells, "slots", G_TYPE_UINT, slots,
      "slots-used", G_TYPE_UINT, used, "waits", G_TYPE_UINT64, waits, "display-refresh",
      G_TYPE_UINT64, refresh, "display-latency", G_TYPE_UINT64, latency, "display-late",
      G_TYPE_UINT64, late, NULL);
  gst_gid_naming_add_stats (&self->naming, structure);
  GST_OBJECT_UNLOCK (self);
  return structure;
}
