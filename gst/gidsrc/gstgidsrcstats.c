// SPDX-License-Identifier: MIT
#include "common/gstgid.h"
#include "gstgidsrc.h"

#define GST_CAT_DEFAULT gst_gid_debug

GstStructure *
gst_gid_src_create_stats (gpointer src)
{
  GstGidSrc *self = src;
  struct gid_consumer_stats stats;
  GstStructure *structure;
  guint waiting = 0;

  GST_OBJECT_LOCK (self);
  if (self->reader) {
    gst_gid_domain_lock (self->reader->domain);
    waiting = g_queue_get_length (&self->waiting);
    gid_consumer_get_stats (self->reader->consumer, &self->last_stats);
    gst_gid_domain_unlock (self->reader->domain);
  }
  stats = self->last_stats;
  structure = gst_structure_new ("gid-src-stats", "stream", G_TYPE_STRING, self->stream, "frames",
      G_TYPE_UINT64, stats.frames, "missed", G_TYPE_UINT64, stats.missed, "lost", G_TYPE_UINT64,
      self->lost, "taken", G_TYPE_UINT64, self->taken, "held", G_TYPE_UINT, stats.held, "waiting",
      G_TYPE_UINT, waiting, "credit", G_TYPE_UINT, stats.credit, "reconnects", G_TYPE_UINT64,
      stats.reconnects, "producer-copied-frames", G_TYPE_UINT64, stats.copied_frames,
      "producer-copied-bytes", G_TYPE_UINT64, stats.copied_bytes, "clock-offset", G_TYPE_INT64,
      stats.clock_offset_ns, "clock-error", G_TYPE_UINT64, stats.clock_error_ns, NULL);
  gst_gid_copies_to_structure (&self->copies, structure);
  GST_OBJECT_UNLOCK (self);
  return structure;
}

void
gst_gid_src_post_state (GstGidSrc *self, enum gid_consumer_state state, int reason)
{
  static const gchar *names[] = {
    [GID_CONSUMER_WAITING] = "waiting",
    [GID_CONSUMER_LIVE] = "live",
    [GID_CONSUMER_ENDED] = "ended",
  };

  const gchar *why = reason ? gid_strerror (reason) : "";

  self->posted_state = state;
  if (state == GID_CONSUMER_WAITING && reason == 0)
    why = "nobody produces it now";
  GST_INFO_OBJECT (self, "the stream is %s%s%s", names[state], *why ? ": " : "", why);
  /* for people: gst-launch-1.0 shows it */
  if (state == GID_CONSUMER_WAITING)
    GST_ELEMENT_INFO (self, RESOURCE, NOT_FOUND,
        ("Waiting for the stream \"%s\": %s", self->stream, why),
        ("`gidctl list` shows the streams that there are"));
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self),
          gst_structure_new ("gid-state", "state", G_TYPE_STRING, names[state], "reason",
              G_TYPE_STRING, why, NULL)));
}
