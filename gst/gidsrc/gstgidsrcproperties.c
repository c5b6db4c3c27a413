// SPDX-License-Identifier: MIT
#include "common/gstgidtimeline.h"
#include "gstgidsrc.h"

static void
set_is_live (gpointer object, const GValue *value)
{
  gst_base_src_set_live (object, g_value_get_boolean (value));
}

static void
get_is_live (gpointer object, GValue *value)
{
  g_value_set_boolean (value, gst_base_src_is_live (object));
}

/* Sinks query the latency when they begin to play, and after this message. */
static void
set_latency (gpointer object, const GValue *value)
{
  gst_element_post_message (object, gst_message_new_latency (object));
}

static void
get_stats (gpointer object, GValue *value)
{
  g_value_take_boxed (value, gst_gid_src_create_stats (object));
}

static const GstGidProperty properties[] = {
  { "domain", "Domain", "Name or number of the domain that owns the stream (default: this domain)",
      GST_GID_STRING (GstGidSrc, subscription.domain), .flags = GST_GID_READY },
  { "stream", "Stream", "Name of the stream to read, such as movie or camera/rear",
      GST_GID_STRING (GstGidSrc, subscription.stream), .flags = GST_GID_READY },
  { "reader", "Reader",
      "Domain that this program runs in: its name or the path of its gidd's socket (default: "
      "$GID_DOMAIN, or the only domain on this system)",
      GST_GID_STRING (GstGidSrc, subscription.reader_name), .flags = GST_GID_READY },
  { "peer", "Peer", "Deprecated name of reader",
      GST_GID_STRING (GstGidSrc, subscription.reader_name),
      .flags = GST_GID_READY | G_PARAM_DEPRECATED },
  { "credit", "Credit",
      "Maximum number of frames held without a copy: unread ones, and those in use here and "
      "downstream (0 = automatic, by latency and drop-old)",
      GST_GID_UINT (GstGidSrc, credit.credit, 0, GID_CREDIT_MAX, 0), .flags = GST_GID_READY },
  { "drop-old", "Drop old frames",
      "Drop the oldest unread frames when the credit is used up. If false, copies of them are "
      "queued",
      GST_GID_BOOLEAN (GstGidSrc, credit.drop_old, FALSE), .flags = GST_GID_READY },
  { "max-size-bytes", "Max. size (bytes)",
      "Without drop-old: maximum amount of data to queue for downstream (in bytes); new frames "
      "are missed when it is reached",
      GST_GID_UINT (GstGidSrc, backlog.max_size_bytes, 0, G_MAXUINT, 256 * 1024 * 1024),
      .flags = GST_GID_PLAYING },
  { "max-metadata-bytes", "Max. metadata (bytes)",
      "Maximum size of a frame's metadata (0 = ignore metadata); larger metadata is not read",
      GST_GID_UINT (GstGidSrc, extras.max, 0, GID_METADATA_MAX, GID_METADATA_DEFAULT),
      .flags = GST_GID_READY },
  { "reconnect", "Reconnect",
      "Wait for the stream to appear, and wait again when its producer goes away. If false, a "
      "missing stream is an error, and its end is EOS",
      GST_GID_BOOLEAN (GstGidSrc, subscription.reconnect, TRUE), .flags = GST_GID_READY },
  { "forward-eos", "Forward EOS",
      "Send EOS when the producer's video ends. If false, wait for its next one",
      GST_GID_BOOLEAN (GstGidSrc, forward_eos, TRUE), .flags = GST_GID_PLAYING },
  { "is-live", "Is live",
      "Timestamps are the running time at which the producer wants the frame to be shown. If "
      "false, they are the producer's own, as needed for recording",
      .type = G_TYPE_BOOLEAN, .normal = TRUE, .flags = GST_GID_READY, .get = get_is_live,
      .set = set_is_live },
  { "fill", "Fill",
      "What to show while the stream has no producer, at the stream's rate, once it has had a "
      "picture. Needs is-live",
      GST_GID_ENUM (GstGidSrc, filler.wanted, gst_gid_fill_get_type, GST_GID_FILL_NONE),
      .flags = GST_GID_READY },
  { "fill-location", "Fill location",
      "Image file to show with fill=file: PNG, JPEG, or any format that decodebin supports",
      GST_GID_STRING (GstGidSrc, filler.wanted_file), .flags = GST_GID_READY },
  { "latency", "Latency", "Additional latency at which sinks show the frames, in milliseconds",
      GST_GID_UINT (GstGidSrc, credit.latency_ms, 0, G_MAXINT, 0), .flags = GST_GID_PLAYING,
      .set = set_latency },
  { "fd-memory", "Descriptor memory",
      "Provide memory with its file descriptor, which is read-only. Sinks that use wl_shm cannot "
      "use it and get system memory; if one is behind a tee, set this to false",
      GST_GID_BOOLEAN (GstGidSrc, fd_memory, TRUE), .flags = GST_GID_READY },
  { "dmabuf", "dma-bufs",
      "Provide frames of other machines as dma-bufs, for GL and for devices. Needs the kernel "
      "module gid_dmabuf, and RLIMIT_MEMLOCK for all slots of the stream; without them the "
      "property has no effect",
      GST_GID_BOOLEAN (GstGidSrc, subscription.dmabuf, FALSE), .flags = GST_GID_READY },
  { "copy-policy", "Copy policy",
      "What to do with frames that downstream cannot use without a copy",
      GST_GID_ENUM (
          GstGidSrc, copier.copies.policy, gst_gid_copy_policy_get_type, GST_GID_COPY_POLICY_ALLOW),
      .flags = GST_GID_PLAYING },
  GST_GID_STATS_ROW (
      "Statistics of frames, gaps, copies and their reasons, reconnections", get_stats),
  GST_GID_STATS_INTERVAL_ROW (GstGidSrc, poster),
  GST_GID_TIMELINE_ROW (GstGidSrc, subscription.timeline_path),
};

void
gst_gid_src_init_properties (GstGidSrc *self)
{
  gst_gid_properties_init (self, properties, G_N_ELEMENTS (properties));
}

void
gst_gid_src_finish_properties (GstGidSrc *self)
{
  gst_gid_properties_finish (self, properties, G_N_ELEMENTS (properties));
}

void
gst_gid_src_install_properties (GObjectClass *klass)
{
  gst_gid_properties_install (klass, properties, G_N_ELEMENTS (properties));
}
