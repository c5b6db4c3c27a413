// SPDX-License-Identifier: MIT
#include "gstgidsrc.h"

#include "common/gstgidtimeline.h"

#define DEFAULT_CREDIT 0
#define DEFAULT_MAX_SIZE_BYTES (256 * 1024 * 1024)
#define DEFAULT_STATS_INTERVAL_MS 1000

enum
{
  PROP_0,
  PROP_DOMAIN,
  PROP_STREAM,
  PROP_READER,
  PROP_PEER, /* its name until 0.2 */
  PROP_CREDIT,
  PROP_DROP_OLD,
  PROP_MAX_SIZE_BYTES,
  PROP_RECONNECT,
  PROP_FORWARD_EOS,
  PROP_IS_LIVE,
  PROP_LATENCY,
  PROP_FD_MEMORY,
  PROP_DMABUF,
  PROP_COPY_POLICY,
  PROP_STATS,
  PROP_STATS_INTERVAL,
  PROP_TIMELINE,
};

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstGidSrc *self = GST_GID_SRC (object);

  if (id == PROP_IS_LIVE) {
    gst_base_src_set_live (GST_BASE_SRC_CAST (self), g_value_get_boolean (value));
    return;
  }
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
    case PROP_READER:
    case PROP_PEER:
      g_free (self->reader_name);
      self->reader_name = g_value_dup_string (value);
      break;
    case PROP_CREDIT:
      self->credit = g_value_get_uint (value);
      break;
    case PROP_DROP_OLD:
      self->drop_old = g_value_get_boolean (value);
      break;
    case PROP_MAX_SIZE_BYTES:
      self->max_size_bytes = g_value_get_uint (value);
      break;
    case PROP_RECONNECT:
      self->reconnect = g_value_get_boolean (value);
      break;
    case PROP_FORWARD_EOS:
      self->forward_eos = g_value_get_boolean (value);
      break;
    case PROP_LATENCY:
      self->latency_ms = g_value_get_uint (value);
      break;
    case PROP_FD_MEMORY:
      self->fd_memory = g_value_get_boolean (value);
      break;
    case PROP_DMABUF:
      self->dmabuf = g_value_get_boolean (value);
      break;
    case PROP_COPY_POLICY:
      self->copy_policy = g_value_get_enum (value);
      break;
    case PROP_STATS_INTERVAL:
      self->stats_interval_ms = g_value_get_uint (value);
      break;
    case PROP_TIMELINE:
      g_free (self->timeline_path);
      self->timeline_path = g_value_dup_string (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
  /* sinks ask for it when they begin to play, and when they are told */
  if (id == PROP_LATENCY)
    gst_element_post_message (
        GST_ELEMENT_CAST (self), gst_message_new_latency (GST_OBJECT_CAST (self)));
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstGidSrc *self = GST_GID_SRC (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_gid_src_create_stats (self));
    return;
  }
  if (id == PROP_IS_LIVE) {
    g_value_set_boolean (value, gst_base_src_is_live (GST_BASE_SRC_CAST (self)));
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
    case PROP_READER:
    case PROP_PEER:
      g_value_set_string (value, self->reader_name);
      break;
    case PROP_CREDIT:
      g_value_set_uint (value, self->credit);
      break;
    case PROP_DROP_OLD:
      g_value_set_boolean (value, self->drop_old);
      break;
    case PROP_MAX_SIZE_BYTES:
      g_value_set_uint (value, self->max_size_bytes);
      break;
    case PROP_RECONNECT:
      g_value_set_boolean (value, self->reconnect);
      break;
    case PROP_FORWARD_EOS:
      g_value_set_boolean (value, self->forward_eos);
      break;
    case PROP_LATENCY:
      g_value_set_uint (value, self->latency_ms);
      break;
    case PROP_FD_MEMORY:
      g_value_set_boolean (value, self->fd_memory);
      break;
    case PROP_DMABUF:
      g_value_set_boolean (value, self->dmabuf);
      break;
    case PROP_COPY_POLICY:
      g_value_set_enum (value, self->copy_policy);
      break;
    case PROP_STATS_INTERVAL:
      g_value_set_uint (value, self->stats_interval_ms);
      break;
    case PROP_TIMELINE:
      g_value_set_string (value, self->timeline_path);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

void
gst_gid_src_init_properties (GstGidSrc *self)
{
  self->credit = DEFAULT_CREDIT;
  self->max_size_bytes = DEFAULT_MAX_SIZE_BYTES;
  self->reconnect = TRUE;
  self->forward_eos = TRUE;
  self->fd_memory = TRUE;
  self->stats_interval_ms = DEFAULT_STATS_INTERVAL_MS;
}

void
gst_gid_src_finish_properties (GstGidSrc *self)
{
  g_free (self->domain_name);
  g_free (self->stream);
  g_free (self->reader_name);
  g_free (self->timeline_path);
}

void
gst_gid_src_install_properties (GObjectClass *klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  const GParamFlags ready = flags | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = flags | GST_PARAM_MUTABLE_PLAYING;

  klass->set_property = set_property;
  klass->get_property = get_property;
  g_object_class_install_property (klass, PROP_DOMAIN,
      g_param_spec_string ("domain", "Domain",
          "Name or number of the domain that owns the stream (default: our own)", NULL, ready));
  g_object_class_install_property (klass, PROP_STREAM,
      g_param_spec_string ("stream", "Stream",
          "Name of the stream to read, such as movie or camera/rear", NULL, ready));
  g_object_class_install_property (klass, PROP_READER,
      g_param_spec_string ("reader", "Reader",
          "Domain that reads the stream, which is the one that the program runs in: its name or "
          "the path of its gidd's socket (default: $GID_DOMAIN, or the only one here)",
          NULL, ready));
  g_object_class_install_property (klass, PROP_PEER,
      g_param_spec_string (
          "peer", "Peer", "The old name of `reader`", NULL, ready | G_PARAM_DEPRECATED));
  g_object_class_install_property (klass, PROP_CREDIT,
      g_param_spec_uint ("credit", "Credit",
          "How many frames may be held at once without a copy: unread ones, and those here and "
          "downstream (0: as many as latency= and drop-old= need)",
          0, GID_CREDIT_MAX, DEFAULT_CREDIT, ready));
  g_object_class_install_property (klass, PROP_DROP_OLD,
      g_param_spec_boolean ("drop-old", "Drop old frames",
          "When the credit is used up, drop old frames that were not read; if false, they wait here",
          FALSE, ready));
  g_object_class_install_property (klass, PROP_MAX_SIZE_BYTES,
      g_param_spec_uint ("max-size-bytes", "Max. size (bytes)",
          "Without drop-old: how many bytes of frames may wait here for downstream; then new ones "
          "are missed",
          0, G_MAXUINT, DEFAULT_MAX_SIZE_BYTES, playing));
  g_object_class_install_property (klass, PROP_RECONNECT,
      g_param_spec_boolean ("reconnect", "Reconnect",
          "Wait for the stream to appear, and wait again when its producer goes away. If false, a "
          "missing stream is an error, and its end is the end",
          TRUE, ready));
  g_object_class_install_property (klass, PROP_FORWARD_EOS,
      g_param_spec_boolean ("forward-eos", "Forward EOS",
          "End when the producer's film ends; if false, wait for its next one", TRUE, playing));
  g_object_class_install_property (klass, PROP_IS_LIVE,
      g_param_spec_boolean ("is-live", "Is live",
          "Timestamps are the running time at which the producer wants the frame to be shown; if "
          "false, they are the producer's own, as needed for recording",
          TRUE, ready));
  g_object_class_install_property (klass, PROP_LATENCY,
      g_param_spec_uint ("latency", "Latency",
          "How many milliseconds later than the producer's time sinks show the frames", 0, G_MAXINT,
          0, playing));
  g_object_class_install_property (klass, PROP_FD_MEMORY,
      g_param_spec_boolean ("fd-memory", "Descriptor memory",
          "Give downstream memory with its descriptor, which is read-only. Sinks that use wl_shm "
          "cannot use it and get plain memory; if one is behind a tee, set this to false",
          TRUE, ready));
  g_object_class_install_property (klass, PROP_DMABUF,
      g_param_spec_boolean ("dmabuf", "dma-bufs",
          "Give downstream frames of other machines as dma-bufs, for GL and for devices. Needs the "
          "kernel module gid_dmabuf, and RLIMIT_MEMLOCK for all slots of the stream; without them "
          "the memory is as before",
          FALSE, ready));
  g_object_class_install_property (klass, PROP_COPY_POLICY,
      g_param_spec_enum ("copy-policy", "Copy policy",
          "What to do about frames that downstream does not take without a copy",
          GST_TYPE_GID_COPY_POLICY, GST_GID_COPY_POLICY_ALLOW, playing));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Frames, gaps, copies and their reasons, reconnections", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (klass, PROP_STATS_INTERVAL,
      g_param_spec_uint ("stats-interval", "Statistics interval",
          "Milliseconds between element messages with the statistics (0: none)", 0, G_MAXUINT,
          DEFAULT_STATS_INTERVAL_MS, playing));
  g_object_class_install_property (klass, PROP_TIMELINE, gst_gid_timeline_param_spec (ready));
}
