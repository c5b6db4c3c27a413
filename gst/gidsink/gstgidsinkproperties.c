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
      "Domain that owns the stream: its name or the path of its gidd's socket (default: "
      "$GID_DOMAIN, or the only domain on this system)",
      GST_GID_STRING (GstGidSink, domain_name), .flags = GST_GID_READY },
  { "stream", "Stream", "Name of the stream to publish, such as movie or camera/rear",
      GST_GID_STRING (GstGidSink, publication.stream), .flags = GST_GID_READY },
  { "readers", "Readers",
      "Comma-separated list of domains that may read the stream (default: all that the "
      "configuration allows)",
      GST_GID_STRING (GstGidSink, publication.readers), .flags = GST_GID_READY },
  { "peer", "Peer", "Deprecated name of readers", GST_GID_STRING (GstGidSink, publication.readers),
      .flags = GST_GID_READY | G_PARAM_DEPRECATED },
  { "slots", "Slots", "Maximum number of frames in memory; memory is allocated on demand",
      GST_GID_UINT (GstGidSink, slots.limit, 2, GID_SLOTS_MAX, 32), .flags = GST_GID_READY },
  { "dmabuf", "Dma-buf",
      "Allocate dma-bufs, which device drivers can write to and GPU renderers can import. Needs "
      "/dev/udmabuf or the kernel module gid_dmabuf. Consumers could write to them",
      GST_GID_BOOLEAN (GstGidSink, slots.dmabuf, FALSE), .flags = GST_GID_READY },
  { "credit", "Credit", "Maximum number of frames that each consumer may hold",
      GST_GID_UINT (GstGidSink, publication.credit, 1, GID_CREDIT_MAX, 24),
      .flags = GST_GID_READY },
  { "leaky", "Leaky",
      "Drop frames for a consumer that has no credit left. If false, wait for it, at most as long "
      "as the lease for each frame, and only once if it takes none",
      GST_GID_BOOLEAN (GstGidSink, publication.leaky, TRUE), .flags = GST_GID_READY },
  { "lease", "Lease",
      "How long a consumer may hold a frame after the next one was sent, in milliseconds; then "
      "the memory is reclaimed (0 = 1000, or 10000 if leaky=false)",
      GST_GID_UINT (GstGidSink, publication.lease_ms, 0, G_MAXUINT, 0), .flags = GST_GID_READY },
  { "max-metadata-bytes", "Max. metadata (bytes)",
      "Maximum size of a frame's metadata; metas for which there is no room are not sent",
      GST_GID_UINT (
          GstGidSink, publication.max_metadata, 0, GID_METADATA_MAX, GID_METADATA_DEFAULT),
      .flags = GST_GID_READY },
  { "protection", "Protection",
      "End-to-end protection: check value of each frame, computed over its pixels and its "
      "description",
      GST_GID_ENUM (GstGidSink, publication.protection_profile, gst_gid_protection_profile_get_type,
          GID_PROTECTION_NONE),
      .flags = GST_GID_READY },
  { "protection-key", "Protection key",
      "File with the key for protection=cmac (32 hexadecimal digits)",
      GST_GID_STRING (GstGidSink, publication.protection_key), .flags = GST_GID_READY },
  { "copy-policy", "Copy policy", "What to do with frames that cannot be sent without a copy",
      GST_GID_ENUM (GstGidSink, naming.copies.policy, gst_gid_copy_policy_get_type,
          GST_GID_COPY_POLICY_ALLOW),
      .flags = GST_GID_PLAYING },
  { "wait-for-connection", "Wait for connection",
      "Wait for the first consumer before sending frames",
      GST_GID_BOOLEAN (GstGidSink, wait.for_connection, FALSE), .flags = GST_GID_PLAYING,
      .set = set_wait_for_connection },
  { "wait-for-latency", "Wait for latency",
      "Send frames of live sources after the pipeline's latency, in sync with its audio. If "
      "false, send them as soon as they arrive",
      GST_GID_BOOLEAN (GstGidSink, timing.wait_for_latency, FALSE), .flags = GST_GID_PLAYING },
  GST_GID_STATS_ROW (
      "Statistics of frames, drops, copies and their reasons, slots, consumers", get_stats),
  GST_GID_STATS_INTERVAL_ROW (GstGidSink, poster),
  GST_GID_TIMELINE_ROW (GstGidSink, publication.timeline_path),
  { "display-domain", "Display domain",
      "Domain whose display is followed by display-sync (default: that of the only consumer; none "
      "if there are several)",
      GST_GID_STRING (GstGidSink, display.domain), .flags = GST_GID_READY },
  { "display-sync", "Display sync",
      "Send each frame just in time for the refresh of the consumer's display that is nearest to "
      "its timestamp",
      GST_GID_BOOLEAN (GstGidSink, display.sync, FALSE), .flags = GST_GID_READY },
  { "display-clock", "Display clock", "Deprecated name of display-sync",
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
