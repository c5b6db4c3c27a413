// SPDX-License-Identifier: MIT
#include "common/gstgidtimeline.h"
#include "gstgidprotection.h"
#include "gstgidsink.h"

static void
set_wait_for_connection (gpointer object, const GValue *value)
{
  if (g_value_get_boolean (value))
    GST_OBJECT_FLAG_SET (object, GST_ELEMENT_FLAG_SOURCE);
  else
    GST_OBJECT_FLAG_UNSET (object, GST_ELEMENT_FLAG_SOURCE);
}

static void
get_stats (gpointer object, GValue *value)
{
  g_value_take_boxed (value, gst_gid_sink_create_stats (object));
}

static const GstGidProperty properties[] = {
  { "domain", "Domain",
      "Domain that owns the stream: its name or the path of its gidd's socket "
      "(default: $GID_DOMAIN, or the only one here)",
      GST_GID_STRING (GstGidSink, domain_name), .flags = GST_GID_READY },
  { "stream", "Stream", "Name of the stream to publish, such as movie or camera/rear",
      GST_GID_STRING (GstGidSink, publication.stream), .flags = GST_GID_READY },
  { "readers", "Readers",
      "Domains that may read the stream, separated by commas (default: all that the cockpit's "
      "configuration allows)",
      GST_GID_STRING (GstGidSink, publication.readers), .flags = GST_GID_READY },
  { "peer", "Peer", "The old name of `readers`", GST_GID_STRING (GstGidSink, publication.readers),
      .flags = GST_GID_READY | G_PARAM_DEPRECATED },
  { "slots", "Slots", "Largest number of frames in memory; slots are made as they are needed",
      GST_GID_UINT (GstGidSink, slots.limit, 2, GID_SLOTS_MAX, 32), .flags = GST_GID_READY },
  { "dmabuf", "Dma-buf",
      "Use dma-bufs as memory, which drivers write and renderers on a GPU take as they are. Needs "
      "/dev/udmabuf or gid_dmabuf. Consumers could write into them",
      GST_GID_BOOLEAN (GstGidSink, slots.dmabuf, FALSE), .flags = GST_GID_READY },
  { "credit", "Credit", "How many frames one consumer may hold",
      GST_GID_UINT (GstGidSink, publication.credit, 1, GID_CREDIT_MAX, 24),
      .flags = GST_GID_READY },
  { "leaky", "Leaky",
      "Never wait for a consumer that has no credit left: it misses frames. If false, wait for it, "
      "no longer than the lease for each frame, and once where it takes none",
      GST_GID_BOOLEAN (GstGidSink, publication.leaky, TRUE), .flags = GST_GID_READY },
  { "lease", "Lease",
      "Milliseconds that a consumer may hold a frame after another picture was sent; then it is "
      "taken back by force (0: 1000, or 10000 with leaky=false)",
      GST_GID_UINT (GstGidSink, publication.lease_ms, 0, G_MAXUINT, 0), .flags = GST_GID_READY },
  { "max-metadata-bytes", "Max. metadata (bytes)",
      "How many bytes of metadata a frame may have, beside its picture; what is more is left out",
      GST_GID_UINT (
          GstGidSink, publication.max_metadata, 0, GID_METADATA_MAX, GID_METADATA_DEFAULT),
      .flags = GST_GID_READY },
  { "protection", "Protection",
      "Check that each picture carries from end to end, over its pixels and all that is said of it",
      GST_GID_ENUM (GstGidSink, publication.protection_profile, gst_gid_protection_profile_get_type,
          GID_PROTECTION_NONE),
      .flags = GST_GID_READY },
  { "protection-key", "Protection key", "File with the key of protection=cmac: 32 hex digits",
      GST_GID_STRING (GstGidSink, publication.protection_key), .flags = GST_GID_READY },
  { "copy-policy", "Copy policy", "What to do about frames that cannot be sent without a copy",
      GST_GID_ENUM (
          GstGidSink, naming.copy_policy, gst_gid_copy_policy_get_type, GST_GID_COPY_POLICY_ALLOW),
      .flags = GST_GID_PLAYING },
  { "wait-for-connection", "Wait for connection", "Send nothing before there is a consumer",
      GST_GID_BOOLEAN (GstGidSink, wait.for_connection, FALSE), .flags = GST_GID_PLAYING,
      .set = set_wait_for_connection },
  { "wait-for-latency", "Wait for latency",
      "Send frames of live sources when the pipeline's latency is over, in step with its sound; "
      "if false, as soon as they are there",
      GST_GID_BOOLEAN (GstGidSink, timing.wait_for_latency, FALSE), .flags = GST_GID_PLAYING },
  GST_GID_STATS_ROW ("Frames, drops, copies and their reasons, slots, consumers", get_stats),
  GST_GID_STATS_INTERVAL_ROW (GstGidSink, poster),
  GST_GID_TIMELINE_ROW (GstGidSink, publication.timeline_path),
  { "display-domain", "Display domain",
      "Domain whose display counts for display-sync (default: that of the only "
      "consumer; none where there are several)",
      GST_GID_STRING (GstGidSink, display.domain), .flags = GST_GID_READY },
  { "display-sync", "Display sync",
      "Send each frame just in time for the refresh nearest to its time, of the consumer's display",
      GST_GID_BOOLEAN (GstGidSink, display.sync, FALSE), .flags = GST_GID_READY },
  { "display-clock", "Display clock", "The same as `display-sync`, for pipelines of before 1.0",
      GST_GID_BOOLEAN (GstGidSink, display.sync, FALSE),
      .flags = GST_GID_READY | G_PARAM_DEPRECATED },
};

void
gst_gid_sink_init_properties (GstGidSink *self)
{
  gst_gid_properties_init (self, properties, G_N_ELEMENTS (properties));
}

void
gst_gid_sink_finish_properties (GstGidSink *self)
{
  gst_gid_properties_finish (self, properties, G_N_ELEMENTS (properties));
}

void
gst_gid_sink_install_properties (GObjectClass *klass)
{
  gst_gid_properties_install (klass, properties, G_N_ELEMENTS (properties));
}
