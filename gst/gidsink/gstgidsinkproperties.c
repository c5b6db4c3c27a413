// SPDX-License-Identifier: MIT
#include "gstgidsink.h"

#include "common/gstgidtimeline.h"

#define DEFAULT_SLOTS 32
#define DEFAULT_CREDIT 24
#define DEFAULT_LEASE_MS 1000
#define DEFAULT_STATS_INTERVAL_MS 1000

enum
{
  PROP_0,
  PROP_DOMAIN,
  PROP_STREAM,
  PROP_READERS,
  PROP_PEER, /* its name until 0.2 */
  PROP_SLOTS,
  PROP_DMABUF,
  PROP_CREDIT,
  PROP_LEAKY,
  PROP_LEASE,
  PROP_COPY_POLICY,
  PROP_WAIT_FOR_CONNECTION,
  PROP_WAIT_FOR_LATENCY,
  PROP_STATS,
  PROP_STATS_INTERVAL,
  PROP_TIMELINE,
  PROP_DISPLAY_CLOCK,
  PROP_DISPLAY_DOMAIN,
  PROP_DISPLAY_SYNC,
};

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstGidSink *self = GST_GID_SINK (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_DOMAIN:
      g_free (self->domain_name);
      self->domain_name = g_value_dup_string (value);
      break;
    case PROP_STREAM:
      g_free (self->stream);
      self->stream = g_value_dup_string (value);
      break;
    case PROP_READERS:
    case PROP_PEER:
      g_free (self->readers);
      g_free (self->display_domain);
      self->readers = g_value_dup_string (value);
      break;
    case PROP_SLOTS:
      self->slots = g_value_get_uint (value);
      break;
    case PROP_DMABUF:
      self->dmabuf = g_value_get_boolean (value);
      break;
    case PROP_CREDIT:
      self->credit = g_value_get_uint (value);
      break;
    case PROP_LEAKY:
      self->leaky = g_value_get_boolean (value);
      break;
    case PROP_LEASE:
      self->lease_ms = g_value_get_uint (value);
      break;
    case PROP_COPY_POLICY:
      self->copy_policy = g_value_get_enum (value);
      break;
    case PROP_WAIT_FOR_CONNECTION:
      self->wait_for_connection = g_value_get_boolean (value);
      if (self->wait_for_connection)
        GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SOURCE);
      else
        GST_OBJECT_FLAG_UNSET (self, GST_ELEMENT_FLAG_SOURCE);
      break;
    case PROP_WAIT_FOR_LATENCY:
      self->wait_for_latency = g_value_get_boolean (value);
      break;
    case PROP_STATS_INTERVAL:
      self->stats_interval_ms = g_value_get_uint (value);
      break;
    case PROP_TIMELINE:
      g_free (self->timeline_path);
      self->timeline_path = g_value_dup_string (value);
      break;
    case PROP_DISPLAY_CLOCK:
      self->display_clock = g_value_get_boolean (value);
      if (self->display_clock)
        GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_PROVIDE_CLOCK);
      else
        GST_OBJECT_FLAG_UNSET (self, GST_ELEMENT_FLAG_PROVIDE_CLOCK);
      break;
    case PROP_DISPLAY_DOMAIN:
      g_free (self->display_domain);
      self->display_domain = g_value_dup_string (value);
      break;
    case PROP_DISPLAY_SYNC:
      self->display_sync = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstGidSink *self = GST_GID_SINK (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_gid_sink_create_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_DOMAIN:
      g_value_set_string (value, self->domain_name);
      break;
    case PROP_STREAM:
      g_value_set_string (value, self->stream);
      break;
    case PROP_READERS:
    case PROP_PEER:
      g_value_set_string (value, self->readers);
      break;
    case PROP_SLOTS:
      g_value_set_uint (value, self->slots);
      break;
    case PROP_DMABUF:
      g_value_set_boolean (value, self->dmabuf);
      break;
    case PROP_CREDIT:
      g_value_set_uint (value, self->credit);
      break;
    case PROP_LEAKY:
      g_value_set_boolean (value, self->leaky);
      break;
    case PROP_LEASE:
      g_value_set_uint (value, self->lease_ms);
      break;
    case PROP_COPY_POLICY:
      g_value_set_enum (value, self->copy_policy);
      break;
    case PROP_WAIT_FOR_CONNECTION:
      g_value_set_boolean (value, self->wait_for_connection);
      break;
    case PROP_WAIT_FOR_LATENCY:
      g_value_set_boolean (value, self->wait_for_latency);
      break;
    case PROP_STATS_INTERVAL:
      g_value_set_uint (value, self->stats_interval_ms);
      break;
    case PROP_TIMELINE:
      g_value_set_string (value, self->timeline_path);
      break;
    case PROP_DISPLAY_CLOCK:
      g_value_set_boolean (value, self->display_clock);
      break;
    case PROP_DISPLAY_DOMAIN:
      g_value_set_string (value, self->display_domain);
      break;
    case PROP_DISPLAY_SYNC:
      g_value_set_boolean (value, self->display_sync);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

void
gst_gid_sink_init_properties (GstGidSink *self)
{
  self->slots = DEFAULT_SLOTS;
  self->credit = DEFAULT_CREDIT;
  self->lease_ms = DEFAULT_LEASE_MS;
  self->leaky = TRUE;
  self->stats_interval_ms = DEFAULT_STATS_INTERVAL_MS;
}

void
gst_gid_sink_finish_properties (GstGidSink *self)
{
  g_free (self->domain_name);
  g_free (self->stream);
  g_free (self->readers);
  g_free (self->display_domain);
  g_free (self->timeline_path);
}

void
gst_gid_sink_install_properties (GObjectClass *klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  const GParamFlags ready = flags | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = flags | GST_PARAM_MUTABLE_PLAYING;

  klass->set_property = set_property;
  klass->get_property = get_property;
  g_object_class_install_property (klass, PROP_DOMAIN,
      g_param_spec_string ("domain", "Domain",
          "Domain that owns the stream: its name or the path of its gidd's socket "
          "(default: $GID_DOMAIN, or the only one here)",
          NULL, ready));
  g_object_class_install_property (klass, PROP_STREAM,
      g_param_spec_string ("stream", "Stream",
          "Name of the stream to publish, such as movie or camera/rear", NULL, ready));
  g_object_class_install_property (klass, PROP_READERS,
      g_param_spec_string ("readers", "Readers",
          "Domains that may read the stream, separated by commas (default: all that the cockpit's "
          "configuration allows)",
          NULL, ready));
  g_object_class_install_property (klass, PROP_PEER,
      g_param_spec_string (
          "peer", "Peer", "The old name of `readers`", NULL, ready | G_PARAM_DEPRECATED));
  g_object_class_install_property (klass, PROP_SLOTS,
      g_param_spec_uint ("slots", "Slots",
          "Largest number of frames in memory; slots are made as they are needed", 2, GID_SLOTS_MAX,
          DEFAULT_SLOTS, ready));
  g_object_class_install_property (klass, PROP_DMABUF,
      g_param_spec_boolean ("dmabuf", "Dma-buf",
          "Use dma-bufs as memory, which drivers write and renderers on a GPU take as they are. Needs "
          "/dev/udmabuf or gid_dmabuf. Consumers could write into them",
          FALSE, ready));
  g_object_class_install_property (klass, PROP_CREDIT,
      g_param_spec_uint ("credit", "Credit", "How many frames one consumer may hold", 1,
          GID_CREDIT_MAX, DEFAULT_CREDIT, ready));
  g_object_class_install_property (klass, PROP_LEAKY,
      g_param_spec_boolean ("leaky", "Leaky",
          "Never wait for a consumer that has no credit left: it misses frames. If false, wait for "
          "it, no longer than the lease",
          TRUE, ready));
  g_object_class_install_property (klass, PROP_LEASE,
      g_param_spec_uint ("lease", "Lease",
          "Milliseconds that a consumer may hold a frame after another picture was sent; then it is "
          "taken back by force",
          1, G_MAXUINT, DEFAULT_LEASE_MS, ready));
  g_object_class_install_property (klass, PROP_COPY_POLICY,
      g_param_spec_enum ("copy-policy", "Copy policy",
          "What to do about frames that cannot be sent without a copy", GST_TYPE_GID_COPY_POLICY,
          GST_GID_COPY_POLICY_ALLOW, playing));
  g_object_class_install_property (klass, PROP_WAIT_FOR_CONNECTION,
      g_param_spec_boolean ("wait-for-connection", "Wait for connection",
          "Send nothing before there is a consumer", FALSE, playing));
  g_object_class_install_property (klass, PROP_WAIT_FOR_LATENCY,
      g_param_spec_boolean ("wait-for-latency", "Wait for latency",
          "Send frames of live sources when the pipeline's latency is over, in step with its sound; "
          "if false, as soon as they are there",
          FALSE, playing));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Frames, drops, copies and their reasons, slots, consumers", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (klass, PROP_STATS_INTERVAL,
      g_param_spec_uint ("stats-interval", "Statistics interval",
          "Milliseconds between element messages with the statistics (0: none)", 0, G_MAXUINT,
          DEFAULT_STATS_INTERVAL_MS, playing));
  g_object_class_install_property (klass, PROP_DISPLAY_CLOCK,
      g_param_spec_boolean ("display-clock", "Display clock",
          "Offer the pipeline a clock that follows the display of the consumer: sources that follow "
          "it make their frames just before they are shown",
          FALSE, ready));
  g_object_class_install_property (klass, PROP_DISPLAY_DOMAIN,
      g_param_spec_string ("display-domain", "Display domain",
          "Domain whose display counts for display-clock and display-sync (default: that of the only "
          "consumer; none where there are several)",
          NULL, ready));
  g_object_class_install_property (klass, PROP_DISPLAY_SYNC,
      g_param_spec_boolean ("display-sync", "Display sync",
          "Send each frame just in time for the refresh nearest to its time, of the consumer's "
          "display",
          FALSE, ready));
  g_object_class_install_property (klass, PROP_TIMELINE, gst_gid_timeline_param_spec (ready));
}
