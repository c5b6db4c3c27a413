// SPDX-License-Identifier: MIT
/**
 * SECTION:element-gidsink
 * @title: gidsink
 * @short_description: sends video to other domains by its number, without a copy
 *
 * gidsink publishes a stream of its domain. Upstream is offered memory in slots of gidway's shared
 * slabs, so decoders, converters and sources write right into what consumers read; frames that are
 * in dma-bufs or sealed memfds already are exported as they are. Where neither is possible one copy
 * is made, and counted.
 *
 * ## Example
 * |[
 * gst-launch-1.0 filesrc location=film.mp4 ! decodebin3 ! gidsink domain=open stream=movie
 * ]|
 */
#include "gstgidsink.h"

#include <gst/video/video.h>

#include "common/gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

#define DEFAULT_SLOTS 32
#define DEFAULT_CREDIT 8
#define DEFAULT_LEASE_MS 1000
#define DEFAULT_STATS_INTERVAL_MS 1000

/* How long the end of the stream waits for consumers to read what was sent. */
#define EOS_WAIT_MS 1000

/* A wait looks again after this, for what nobody tells of: frames that were read. */
#define WAIT_STEP (5 * G_TIME_SPAN_MILLISECOND)

enum
{
  PROP_0,
  PROP_DOMAIN,
  PROP_STREAM,
  PROP_PEER,
  PROP_SLOTS,
  PROP_CREDIT,
  PROP_LEAKY,
  PROP_LEASE,
  PROP_COPY_POLICY,
  PROP_WAIT_FOR_CONNECTION,
  PROP_STATS,
  PROP_STATS_INTERVAL,
};

G_DEFINE_FINAL_TYPE (GstGidSink, gst_gid_sink, GST_TYPE_BASE_SINK);

/* --- the producer's callbacks: with the domain's lock held, on any thread ---------------------- */

static void
wake_waiters (GstGidSink * self)
{
  g_mutex_lock (&self->wait_lock);
  self->woken = TRUE;
  g_cond_broadcast (&self->wait_cond);
  g_mutex_unlock (&self->wait_lock);
}

static void
frame_released (void *data, gid_id gid)
{
  GstGidSink *self = data;

  gst_gid_domain_let_go (self->domain, gid);
  wake_waiters (self);
}

static void
post_consumers (GstElement * element, gpointer data)
{
  gst_element_post_message (element, gst_message_new_element (GST_OBJECT_CAST (element), data));
}

static void
subscriber_changed (void *data, uint32_t domain, bool joined, uint32_t consumers)
{
  GstGidSink *self = data;

  GST_INFO_OBJECT (self, "a consumer of domain %u %s, %u now", domain,
      joined ? "came" : "went", consumers);
  wake_waiters (self);
  /* not from here, where the domain is locked: handlers may well ask for the statistics */
  gst_element_call_async (GST_ELEMENT_CAST (self), post_consumers,
      gst_structure_new ("gid-consumers", "domain", G_TYPE_UINT, domain,
          "joined", G_TYPE_BOOLEAN, (gboolean) joined, "consumers", G_TYPE_UINT, consumers, NULL),
      NULL);
}

/* --- start and stop ---------------------------------------------------------------------------- */

static gboolean
publish (GstGidSink * self, GError ** error)
{
  struct gid_producer_options options = {
    .size = sizeof (options),
    .released = frame_released,
    .subscriber = subscriber_changed,
    .data = self,
    .quiet = true,
  };
  struct gid_producer *producer;
  gboolean leaky;
  gchar *stream;
  int ret;

  GST_OBJECT_LOCK (self);
  leaky = self->leaky;
  options.lease_ns = self->lease_ms * GST_MSECOND;
  options.credit_max = self->credit;
  stream = g_strdup (self->stream);
  GST_OBJECT_UNLOCK (self);

  ret = gid_producer_create (gst_gid_domain_lock (self->domain), stream, &options, &producer);
  if (ret == 0) {
    gst_gid_domain_add_producer (self->domain, producer, leaky);
    self->producer = producer;
  } else {
    gst_gid_domain_set_error (self->domain, error, ret,
        "Cannot publish the stream \"%s\" of domain \"%s\"", stream,
        gst_gid_domain_get_name (self->domain));
  }
  gst_gid_domain_unlock (self->domain);
  g_free (stream);
  return ret == 0;
}

static void
unpublish (GstGidSink * self)
{
  struct gid_producer *producer;

  GST_OBJECT_LOCK (self);
  gst_gid_domain_lock (self->domain);
  producer = self->producer;
  self->producer = NULL;
  gid_producer_get_stats (producer, &self->last_stats);
  gst_gid_domain_remove_producer (self->domain, producer);
  gid_producer_destroy (producer);
  GST_OBJECT_UNLOCK (self);
  gst_gid_domain_unlock (self->domain);
}

static gboolean
gst_gid_sink_start (GstBaseSink * sink)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GError *error = NULL;
  gchar *name;

  GST_OBJECT_LOCK (self);
  name = g_strdup (self->domain_name);
  memset (&self->copies, 0, sizeof (self->copies));
  GST_OBJECT_UNLOCK (self);

  self->stats_posted = g_get_monotonic_time ();
  if (self->stream == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("No stream to publish. Set stream=NAME, one that the cockpit's configuration lets others "
            "read."), (NULL));
    g_free (name);
    return FALSE;
  }
  self->domain = gst_gid_domain_get_shared (name, &error);
  g_free (name);
  if (self->domain == NULL || !publish (self, &error)) {
    gst_element_message_full (GST_ELEMENT_CAST (self), GST_MESSAGE_ERROR, error->domain,
        error->code, g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
    g_clear_pointer (&self->domain, gst_gid_domain_unref);
    return FALSE;
  }
  return TRUE;
}

static gboolean
gst_gid_sink_stop (GstBaseSink * sink)
{
  GstGidSink *self = GST_GID_SINK (sink);

  gst_gid_sink_post_stats (self, TRUE);
  gst_clear_buffer (&self->prerolled);
  unpublish (self);
  gst_gid_sink_clear_caps (self);
  g_clear_pointer (&self->domain, gst_gid_domain_unref);
  return TRUE;
}

static void
set_unlocked (GstGidSink * self, gboolean unlocked)
{
  GstBufferPool *pool;

  g_mutex_lock (&self->wait_lock);
  self->unlocked = unlocked;
  g_cond_broadcast (&self->wait_cond);
  g_mutex_unlock (&self->wait_lock);

  GST_OBJECT_LOCK (self);
  pool = self->copy_pool ? gst_object_ref (self->copy_pool) : NULL;
  GST_OBJECT_UNLOCK (self);
  if (pool) {
    gst_buffer_pool_set_flushing (pool, unlocked);
    gst_object_unref (pool);
  }
}

static gboolean
gst_gid_sink_unlock (GstBaseSink * sink)
{
  set_unlocked (GST_GID_SINK (sink), TRUE);
  return TRUE;
}

static gboolean
gst_gid_sink_unlock_stop (GstBaseSink * sink)
{
  set_unlocked (GST_GID_SINK (sink), FALSE);
  return TRUE;
}

/* --- caps and memory --------------------------------------------------------------------------- */

static gboolean
gst_gid_sink_set_caps (GstBaseSink * sink, GstCaps * caps)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstGidFormat format;

  if (!gst_gid_format_from_caps (&format, caps)) {
    GST_ERROR_OBJECT (self, "cannot lay out %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  if (self->caps && gst_caps_is_equal (self->caps, caps))
    return TRUE;
  gst_gid_sink_clear_caps (self);
  self->format = format;
  self->caps = gst_caps_ref (caps);
  self->description = gst_gid_description_from_caps (caps);
  return TRUE;
}

static gboolean
gst_gid_sink_propose_allocation (GstBaseSink * sink, GstQuery * query)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstGidFormat format;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || !gst_gid_format_from_caps (&format, caps))
    return FALSE;
  /* who has dma-bufs keeps them */
  if (!format.dmabuf)
    gst_gid_pool_propose (gst_gid_sink_get_allocator (self, caps), caps, query);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);

  self->settling = TRUE;
  self->suspects = 0;
  return TRUE;
}

/* --- frames ------------------------------------------------------------------------------------ */

/* When the frame is to be shown, on CLOCK_MONOTONIC. */
static guint64
present_time (GstGidSink * self, GstBuffer * buffer)
{
  GstBaseSink *sink = GST_BASE_SINK_CAST (self);
  GstClockTime running, base = gst_element_get_base_time (GST_ELEMENT_CAST (self));
  GstClockTimeDiff offset = 0;
  GstClock *clock;

  running = gst_segment_to_running_time (&sink->segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (buffer));
  clock = gst_element_get_clock (GST_ELEMENT_CAST (self));
  if (clock == NULL || !GST_CLOCK_TIME_IS_VALID (running)) {
    gst_clear_object (&clock);
    return GID_TIME_NONE;
  }
  offset = gst_gid_clock_offset (clock);
  gst_object_unref (clock);
  return base + running + gst_base_sink_get_latency (sink) + offset;
}

typedef gboolean (*IsReady) (GstGidSink * self);

static gboolean
has_consumer (GstGidSink * self)
{
  gboolean ready;

  gst_gid_domain_lock (self->domain);
  ready = gid_producer_consumers (self->producer) > 0;
  gst_gid_domain_unlock (self->domain);
  return ready;
}

static gboolean
has_room (GstGidSink * self)
{
  gboolean ready;

  gst_gid_domain_lock (self->domain);
  ready = gid_producer_room (self->producer) > 0;
  if (!ready) {
    gid_producer_want_release (self->producer);
    ready = gid_producer_room (self->producer) > 0;
  }
  gst_gid_domain_unlock (self->domain);
  return ready;
}

static gboolean
all_is_read (GstGidSink * self)
{
  gboolean ready;

  gst_gid_domain_lock (self->domain);
  ready = gid_producer_unread (self->producer) == 0;
  gst_gid_domain_unlock (self->domain);
  return ready;
}

/*
 * Waits until consumers are as far, until `timeout_ms` (0: no end) is over, or until the element is
 * told to stop: then goes on when it plays again, where `rendering`.
 */
static GstFlowReturn
wait_until (GstGidSink * self, IsReady is_ready, guint timeout_ms, gboolean rendering)
{
  gint64 end = g_get_monotonic_time () + timeout_ms * G_TIME_SPAN_MILLISECOND;
  GstFlowReturn ret = GST_FLOW_OK;

  while (ret == GST_FLOW_OK && !is_ready (self)) {
    gint64 now = g_get_monotonic_time ();
    gboolean unlocked;

    if (timeout_ms && now >= end)
      break;
    g_mutex_lock (&self->wait_lock);
    if (!self->unlocked && !self->woken)
      g_cond_wait_until (&self->wait_cond, &self->wait_lock, now + WAIT_STEP);
    self->woken = FALSE;
    unlocked = self->unlocked;
    g_mutex_unlock (&self->wait_lock);
    if (unlocked && !rendering)
      break;
    if (unlocked)
      ret = gst_base_sink_wait_preroll (GST_BASE_SINK_CAST (self));
  }
  return ret;
}

/* Waits until the frame can be sent without loss, as far as properties ask for that. */
static GstFlowReturn
wait_for_consumers (GstGidSink * self)
{
  GstFlowReturn ret = GST_FLOW_OK;
  gboolean connection, leaky;
  guint lease_ms;

  GST_OBJECT_LOCK (self);
  connection = self->wait_for_connection;
  leaky = self->leaky;
  lease_ms = self->lease_ms;
  GST_OBJECT_UNLOCK (self);

  if (connection)
    ret = wait_until (self, has_consumer, 0, TRUE);
  if (!leaky && ret == GST_FLOW_OK)
    ret = wait_until (self, has_room, lease_ms, TRUE);
  return ret;
}

static GstFlowReturn
send_frame (GstGidSink * self, GstBuffer * buffer, gboolean playing)
{
  struct gid_frame frame;
  GstGidExport *export;
  GstFlowReturn ret;
  int sent;

  gst_buffer_ref (buffer);
  ret = gst_gid_sink_name_frame (self, &buffer, &frame, &export);
  if (ret != GST_FLOW_OK)
    goto done;
  /* before the pipeline plays its clock says nothing */
  if (playing)
    frame.present_time = present_time (self, buffer);

  gst_gid_domain_lock (self->domain);
  sent = gid_producer_send (self->producer, &frame);
  if (sent > 0)
    gst_gid_domain_keep (self->domain, frame.gid, buffer, (GstMiniObject *) export);
  gst_gid_domain_unlock (self->domain);
  if (export)
    gst_mini_object_unref (GST_MINI_OBJECT_CAST (export));
  if (sent < 0) {
    /* the slot was taken back by force, or the slab was revoked: the next frame has another */
    GST_WARNING_OBJECT (self, "frame not sent: %s", gid_strerror (sent));
  }
  GST_LOG_OBJECT (self, "sent %" GST_PTR_FORMAT " to %d consumers", buffer, sent);
done:
  gst_buffer_unref (buffer);
  return ret;
}

/* Shows the picture already while the pipeline is paused, as after a seek. */
static GstFlowReturn
gst_gid_sink_preroll (GstBaseSink * sink, GstBuffer * buffer)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstFlowReturn ret = GST_FLOW_OK;

  if (has_consumer (self) && gst_buffer_n_memory (buffer) > 0) {
    ret = send_frame (self, buffer, FALSE);
    gst_buffer_replace (&self->prerolled, buffer);
  }
  return ret;
}

static GstFlowReturn
gst_gid_sink_render (GstBaseSink * sink, GstBuffer * buffer)
{
  GstGidSink *self = GST_GID_SINK (sink);
  gboolean was_prerolled = self->prerolled == buffer;
  GstFlowReturn ret;

  gst_clear_buffer (&self->prerolled);
  if (was_prerolled || gst_buffer_n_memory (buffer) == 0)
    return GST_FLOW_OK;
  ret = wait_for_consumers (self);
  if (ret == GST_FLOW_OK)
    ret = send_frame (self, buffer, TRUE);
  gst_gid_sink_post_stats (self, FALSE);
  return ret;
}

/* --- events and queries ------------------------------------------------------------------------ */

static void
send_mark (GstGidSink * self, guint32 flags)
{
  struct gid_frame frame = {
    .flags = flags,
    .capture_time = GID_TIME_NONE,
    .present_time = GID_TIME_NONE,
    .pts = GID_TIME_NONE,
    .dts = GID_TIME_NONE,
    .duration = GID_TIME_NONE,
  };

  gst_gid_domain_lock (self->domain);
  gid_producer_send (self->producer, &frame);
  gst_gid_domain_unlock (self->domain);
}

/* Takes back what no consumer has read. */
static void
take_back (GstGidSink * self)
{
  gst_gid_domain_lock (self->domain);
  while (gid_producer_reclaim (self->producer, false) > 0);
  gst_gid_domain_unlock (self->domain);
}

static gboolean
gst_gid_sink_event (GstBaseSink * sink, GstEvent * event)
{
  GstGidSink *self = GST_GID_SINK (sink);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_EOS:
      /* before the message of it on the bus, after which the application may stop everything */
      send_mark (self, GID_FRAME_EOS);
      /* what was not read by then would be lost */
      wait_until (self, all_is_read, EOS_WAIT_MS, FALSE);
      gst_gid_sink_post_stats (self, TRUE);
      break;
    case GST_EVENT_FLUSH_START:
      take_back (self);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_clear_buffer (&self->prerolled);
      send_mark (self, GID_FRAME_FLUSH);
      break;
    default:
      break;
  }
  return GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->event (sink, event);
}

static gboolean
gst_gid_sink_query (GstBaseSink * sink, GstQuery * query)
{
  GstGidSink *self = GST_GID_SINK (sink);

  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN && self->producer) {
    gst_clear_buffer (&self->prerolled);
    take_back (self);
  }
  return GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->query (sink, query);
}

/* --- the object -------------------------------------------------------------------------------- */

static void
gst_gid_sink_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
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
    case PROP_PEER:
      g_free (self->peer);
      self->peer = g_value_dup_string (value);
      break;
    case PROP_SLOTS:
      self->slots = g_value_get_uint (value);
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
      break;
    case PROP_STATS_INTERVAL:
      self->stats_interval_ms = g_value_get_uint (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_gid_sink_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
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
    case PROP_PEER:
      g_value_set_string (value, self->peer);
      break;
    case PROP_SLOTS:
      g_value_set_uint (value, self->slots);
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
    case PROP_STATS_INTERVAL:
      g_value_set_uint (value, self->stats_interval_ms);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_gid_sink_finalize (GObject * object)
{
  GstGidSink *self = GST_GID_SINK (object);

  g_free (self->domain_name);
  g_free (self->stream);
  g_free (self->peer);
  g_mutex_clear (&self->wait_lock);
  g_cond_clear (&self->wait_cond);
  G_OBJECT_CLASS (gst_gid_sink_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  const GParamFlags ready = flags | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = flags | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, PROP_DOMAIN,
      g_param_spec_string ("domain", "Domain",
          "Domain that owns the stream: its name or the path of its gidd's socket "
          "(default: $GID_DOMAIN, or the only one here)", NULL, ready));
  g_object_class_install_property (klass, PROP_STREAM,
      g_param_spec_string ("stream", "Stream",
          "Name of the stream to publish, such as movie or camera/rear", NULL, ready));
  g_object_class_install_property (klass, PROP_PEER,
      g_param_spec_string ("peer", "Peer",
          "Domains that may read the stream, with commas (default: all that the cockpit's "
          "configuration lets)", NULL, ready));
  g_object_class_install_property (klass, PROP_SLOTS,
      g_param_spec_uint ("slots", "Slots",
          "Most frames that there is memory for; it grows as they are needed",
          2, GID_SLOTS_MAX, DEFAULT_SLOTS, ready));
  g_object_class_install_property (klass, PROP_CREDIT,
      g_param_spec_uint ("credit", "Credit", "Most frames that one consumer may hold",
          1, GID_CREDIT_MAX, DEFAULT_CREDIT, ready));
  g_object_class_install_property (klass, PROP_LEAKY,
      g_param_spec_boolean ("leaky", "Leaky",
          "Never wait for a consumer that has no credit left: it misses frames. Else wait, for "
          "no longer than the lease", TRUE, ready));
  g_object_class_install_property (klass, PROP_LEASE,
      g_param_spec_uint ("lease", "Lease",
          "Milliseconds that a consumer may hold a frame before it is taken back by force",
          1, G_MAXUINT, DEFAULT_LEASE_MS, ready));
  g_object_class_install_property (klass, PROP_COPY_POLICY,
      g_param_spec_enum ("copy-policy", "Copy policy",
          "What to do about frames that cannot be sent without a copy",
          GST_TYPE_GID_COPY_POLICY, GST_GID_COPY_POLICY_ALLOW, playing));
  g_object_class_install_property (klass, PROP_WAIT_FOR_CONNECTION,
      g_param_spec_boolean ("wait-for-connection", "Wait for connection",
          "Send nothing before there is a consumer", FALSE, playing));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Frames, drops, copies and their reasons, slots, consumers",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (klass, PROP_STATS_INTERVAL,
      g_param_spec_uint ("stats-interval", "Statistics interval",
          "Milliseconds between element messages with the statistics (0: none)",
          0, G_MAXUINT, DEFAULT_STATS_INTERVAL_MS, playing));
}

static void
gst_gid_sink_class_init (GstGidSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);
  GstCaps *caps = gst_gid_caps_template ();

  object_class->set_property = gst_gid_sink_set_property;
  object_class->get_property = gst_gid_sink_get_property;
  object_class->finalize = gst_gid_sink_finalize;
  install_properties (object_class);

  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_element_class_set_static_metadata (element_class, "gidway sink", "Sink/Video",
      "Sends video to other domains by its number, without a copy", "The gidway authors");
  gst_type_mark_as_plugin_api (GST_TYPE_GID_COPY_POLICY, 0);

  sink_class->start = gst_gid_sink_start;
  sink_class->stop = gst_gid_sink_stop;
  sink_class->unlock = gst_gid_sink_unlock;
  sink_class->unlock_stop = gst_gid_sink_unlock_stop;
  sink_class->set_caps = gst_gid_sink_set_caps;
  sink_class->propose_allocation = gst_gid_sink_propose_allocation;
  sink_class->preroll = gst_gid_sink_preroll;
  sink_class->render = gst_gid_sink_render;
  sink_class->event = gst_gid_sink_event;
  sink_class->query = gst_gid_sink_query;
}

static void
gst_gid_sink_init (GstGidSink * self)
{
  self->slots = DEFAULT_SLOTS;
  self->credit = DEFAULT_CREDIT;
  self->lease_ms = DEFAULT_LEASE_MS;
  self->leaky = TRUE;
  self->stats_interval_ms = DEFAULT_STATS_INTERVAL_MS;
  g_mutex_init (&self->wait_lock);
  g_cond_init (&self->wait_cond);
  /* the last sample would pin a slot for nothing */
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK_CAST (self), FALSE);
}
