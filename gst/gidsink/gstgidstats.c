// SPDX-License-Identifier: MIT
#include "gstgidsink.h"

GstStructure *
gst_gid_sink_create_stats (gpointer sink)
{
  GstGidSink *self = sink;
  struct gid_producer_stats stats = { 0 };
  GstStructure *base, *structure;
  guint64 rendered = 0, waits = 0;
  guint slots = 0, used = 0;

  base = gst_base_sink_get_stats (GST_BASE_SINK_CAST (self));
  gst_structure_get_uint64 (base, "rendered", &rendered);
  gst_structure_free (base);

  GST_OBJECT_LOCK (self);
  if (self->producer) {
    gst_gid_domain_lock (self->domain);
    gid_producer_get_stats (self->producer, &stats);
    gst_gid_domain_unlock (self->domain);
    self->last_stats = stats;
  } else {
    stats = self->last_stats;
  }
  if (self->allocator) {
    gst_gid_allocator_get_slots (self->allocator, &slots, &used);
    g_mutex_lock (&self->allocator->lock);
    waits = self->allocator->waits;
    g_mutex_unlock (&self->allocator->lock);
  }
  structure = gst_structure_new ("gid-sink-stats", "stream", G_TYPE_STRING, self->stream,
      "rendered", G_TYPE_UINT64, rendered, "frames", G_TYPE_UINT64, stats.frames, "delivered",
      G_TYPE_UINT64, stats.delivered, "dropped", G_TYPE_UINT64, stats.dropped, "leases-expired",
      G_TYPE_UINT64, stats.leases_expired, "held", G_TYPE_UINT, stats.held, "consumers",
      G_TYPE_UINT, stats.consumers, "doorbells", G_TYPE_UINT64, stats.doorbells, "slots",
      G_TYPE_UINT, slots, "slots-used", G_TYPE_UINT, used, "waits", G_TYPE_UINT64, waits,
      "display-refresh", G_TYPE_UINT64, self->display_refresh, "display-latency", G_TYPE_UINT64,
      self->display_latency, "display-late", G_TYPE_UINT64, self->display_late, NULL);
  gst_gid_copies_to_structure (&self->copies, structure);
  GST_OBJECT_UNLOCK (self);
  return structure;
}
