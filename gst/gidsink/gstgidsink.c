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
/*
 * It is a GstBaseSink and no GstVideoSink: that one makes no difference between a frame that is
 * prerolled and one that is due, drops frames that are late for a screen (max-lateness, QoS), and
 * centres rectangles. Here a late frame is still news to its consumers, and they have the screens.
 */
#include "gstgidsink.h"

#include <gst/video/video.h>

#include "common/gstgid.h"
#include "common/gstgidcaps.h"

#define GST_CAT_DEFAULT gst_gid_debug

G_DEFINE_FINAL_TYPE (GstGidSink, gst_gid_sink, GST_TYPE_BASE_SINK);

/* --- start and stop ---------------------------------------------------------------------------- */

static gboolean
gst_gid_sink_start (GstBaseSink *sink)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GError *error = NULL;
  gchar *name;

  GST_OBJECT_LOCK (self);
  name = g_strdup (self->domain_name);
  memset (&self->copies, 0, sizeof (self->copies));
  GST_OBJECT_UNLOCK (self);

  gst_gid_poster_start (&self->poster);
  self->display_refresh = self->display_latency = self->display_late = 0;
  self->deadline = (GstGidDeadline) { 0 };
  self->look_again = self->ask_again = 0;
  self->asked = 0;
  self->shown = (struct gid_shown) { 0 };
  self->knows_live = self->live = FALSE;
  g_hash_table_remove_all (self->told_of);
  g_atomic_int_set (&self->end_is_asked, FALSE);
  self->picture_is_due = TRUE;
  g_atomic_int_set (&self->only_raw, FALSE);
  if (self->stream == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("No stream to publish. Set stream=NAME, one that the cockpit's configuration "
         "lets others read."),
        (NULL));
    g_free (name);
    return FALSE;
  }
  self->domain = gst_gid_domain_get_shared (name, &error);
  g_free (name);
  if (self->domain == NULL || !gst_gid_sink_publish (self, &error)) {
    gst_gid_post_error (self, error);
    g_clear_pointer (&self->domain, gst_gid_domain_unref);
    return FALSE;
  }
  return TRUE;
}

static gboolean
gst_gid_sink_stop (GstBaseSink *sink)
{
  GstGidSink *self = GST_GID_SINK (sink);

  gst_gid_poster_post (&self->poster, self, gst_gid_sink_create_stats, TRUE);
  gst_clear_buffer (&self->prerolled);
  gst_gid_sink_unpublish (self);
  gst_gid_sink_clear_caps (self);
  g_clear_pointer (&self->domain, gst_gid_domain_unref);
  return TRUE;
}

static void
set_unlocked (GstGidSink *self, gboolean unlocked)
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
gst_gid_sink_unlock (GstBaseSink *sink)
{
  set_unlocked (GST_GID_SINK (sink), TRUE);
  return TRUE;
}

static gboolean
gst_gid_sink_unlock_stop (GstBaseSink *sink)
{
  set_unlocked (GST_GID_SINK (sink), FALSE);
  return TRUE;
}

/* --- caps and memory --------------------------------------------------------------------------- */

static GstCaps *
gst_gid_sink_get_caps (GstBaseSink *sink, GstCaps *filter)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstCaps *caps = gst_gid_sink_create_caps (self);
  GstCaps *result;

  if (filter == NULL)
    return caps;
  result = gst_gid_caps_intersect (filter, caps);
  gst_caps_unref (caps);
  return result;
}

static gboolean
gst_gid_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstGidFormat format;
  gchar *lost;

  if (!gst_gid_format_from_caps (&format, caps)) {
    GST_ERROR_OBJECT (self, "cannot lay out %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  if (self->caps && gst_caps_is_equal (self->caps, caps))
    return TRUE;
  gst_gid_sink_clear_caps (self);
  self->format = format;
  self->caps = gst_caps_ref (caps);
  self->description = gst_gid_caps_to_text (caps, GID_DESCRIPTION_MAX, &lost);
  if (lost)
    GST_ELEMENT_WARNING (self, STREAM, NOT_IMPLEMENTED,
        ("Readers do not get these fields of the caps: %s. Fields of simple types travel, %d bytes of "
         "them.",
            lost, GID_DESCRIPTION_MAX),
        ("%" GST_PTR_FORMAT, caps));
  g_free (lost);
  return TRUE;
}

static gboolean
gst_gid_sink_propose_allocation (GstBaseSink *sink, GstQuery *query)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstGidAllocator *allocator;
  GstGidFormat format;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || !gst_gid_format_from_caps (&format, caps))
    return FALSE;
  allocator = gst_gid_sink_get_allocator (self, caps);
  if (gst_gid_allocator_can_hold (allocator, &format))
    gst_gid_pool_propose (allocator, caps, query);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);

  self->settling = TRUE;
  self->suspects = 0;
  return TRUE;
}

/* --- frames ------------------------------------------------------------------------------------ */

/* Before the wait for the time at which the frame is due. */
static GstFlowReturn
gst_gid_sink_prepare (GstBaseSink *sink, GstBuffer *buffer)
{
  GstGidSink *self = GST_GID_SINK (sink);

  self->arrived = g_get_monotonic_time () * GST_USECOND;
  /* sources that can be anything, as fakesrc and appsrc, push without caps */
  return self->caps ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

/*
 * Shows the picture already while the pipeline is paused, as after a seek or a step. Comes once more
 * for the same buffer where the pipeline is paused again before the buffer was due. What nobody got
 * here, though there are consumers, is left to render().
 */
static GstFlowReturn
gst_gid_sink_preroll (GstBaseSink *sink, GstBuffer *buffer)
{
  GstGidSink *self = GST_GID_SINK (sink);
  gboolean ready;
  GstFlowReturn ret;
  gboolean consumer;
  guint sent;

  if (self->prerolled == buffer || gst_buffer_n_memory (buffer) == 0)
    return GST_FLOW_OK;
  ret = gst_gid_sink_wait_to_preroll (self, &ready);
  if (ret != GST_FLOW_OK || !ready)
    return ret;
  consumer = gst_gid_sink_has_consumer (self);
  sent = 0;
  ret = gst_gid_sink_send (self, buffer, FALSE, &sent);
  if (ret == GST_FLOW_OK && (sent > 0 || !consumer))
    gst_buffer_replace (&self->prerolled, buffer);
  return ret;
}

static GstFlowReturn
gst_gid_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  GstGidSink *self = GST_GID_SINK (sink);
  gboolean was_prerolled = self->prerolled == buffer;
  GstFlowReturn ret;

  gst_clear_buffer (&self->prerolled);
  if (was_prerolled || gst_buffer_n_memory (buffer) == 0)
    return GST_FLOW_OK;
  ret = gst_gid_sink_wait_for_consumers (self);
  if (ret == GST_FLOW_OK)
    ret = gst_gid_sink_send (self, buffer, TRUE, NULL);
  gst_gid_sink_look_at_consumers (self);
  gst_gid_poster_post (&self->poster, self, gst_gid_sink_create_stats, FALSE);
  return ret;
}

/* --- events and queries ------------------------------------------------------------------------ */

/*
 * The end is one when its time has come. Before that, as in a pause, a seek can take it back, and
 * consumers have no way back.
 */
static GstFlowReturn
gst_gid_sink_wait_event (GstBaseSink *sink, GstEvent *event)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstFlowReturn ret = GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->wait_event (sink, event);

  if (ret == GST_FLOW_OK && GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    /* before the message of it on the bus, after which the application may stop everything */
    gst_gid_sink_send_mark (self, GID_FRAME_EOS);
    gst_gid_sink_wait_until_read (self);
    gst_gid_poster_post (&self->poster, self, gst_gid_sink_create_stats, TRUE);
  }
  return ret;
}

static gboolean
gst_gid_sink_event (GstBaseSink *sink, GstEvent *event)
{
  GstGidSink *self = GST_GID_SINK (sink);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      gst_gid_sink_take_back (self);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_clear_buffer (&self->prerolled);
      self->picture_is_due = TRUE;
      g_atomic_int_set (&self->end_is_asked, FALSE);
      gst_gid_sink_send_mark (self, GID_FRAME_FLUSH);
      break;
    default:
      break;
  }
  return GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->event (sink, event);
}

/*
 * Raw video of a format that DRM does not have is refused before it comes to us, and upstream says
 * only that it could not negotiate. Told once for each caps that are asked for.
 */
static void
tell_unknown_format (GstGidSink *self, const GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (structure, "format");
  GstGidFormat known;

  if (format && gst_structure_has_name (structure, "video/x-raw")
      && gst_video_format_from_string (format) != GST_VIDEO_FORMAT_UNKNOWN
      && !gst_gid_format_from_caps (&known, caps)
      && g_hash_table_add (self->told_of, (gpointer) g_intern_string (format)))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("Frames of the format %s cannot be sent, as DRM has no name for it. Put a videoconvert in "
         "front of gidsink.",
            format),
        (NULL));
}

static gboolean
gst_gid_sink_query (GstBaseSink *sink, GstQuery *query)
{
  GstGidSink *self = GST_GID_SINK (sink);

  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    GstCaps *caps;

    gst_query_parse_accept_caps (query, &caps);
    if (gst_caps_is_fixed (caps))
      tell_unknown_format (self, caps);
  }
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN && self->producer) {
    gst_clear_buffer (&self->prerolled);
    gst_gid_sink_drain (self);
  }
  return GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->query (sink, query);
}

static void
gst_gid_sink_get_times (
    GstBaseSink *sink, GstBuffer *buffer, GstClockTime *start, GstClockTime *end)
{
  GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->get_times (sink, buffer, start, end);
  gst_gid_sink_sync_times (GST_GID_SINK (sink), buffer, start, end);
}

/* --- the object -------------------------------------------------------------------------------- */

static gboolean
gst_gid_sink_set_clock (GstElement *element, GstClock *clock)
{
  g_atomic_int_set (&GST_GID_SINK (element)->monotonic, gst_gid_clock_is_monotonic (clock));
  return GST_ELEMENT_CLASS (gst_gid_sink_parent_class)->set_clock (element, clock);
}

/*
 * A bin gives an application's EOS to its sources, whose streaming thread may be waiting here for a
 * consumer: see `wait-for-connection`, which has the bin take us for a source, too.
 */
static gboolean
gst_gid_sink_send_event (GstElement *element, GstEvent *event)
{
  GstGidSink *self = GST_GID_SINK (element);

  if (GST_EVENT_TYPE (event) != GST_EVENT_EOS)
    return GST_ELEMENT_CLASS (gst_gid_sink_parent_class)->send_event (element, event);
  g_atomic_int_set (&self->end_is_asked, TRUE);
  g_mutex_lock (&self->wait_lock);
  g_cond_broadcast (&self->wait_cond);
  g_mutex_unlock (&self->wait_lock);
  gst_event_unref (event);
  return TRUE;
}

static void
gst_gid_sink_finalize (GObject *object)
{
  GstGidSink *self = GST_GID_SINK (object);

  g_hash_table_unref (self->told_of);
  g_byte_array_unref (self->metadata);
  gst_gid_sink_finish_properties (self);
  g_mutex_clear (&self->wait_lock);
  g_cond_clear (&self->wait_cond);
  G_OBJECT_CLASS (gst_gid_sink_parent_class)->finalize (object);
}

static void
gst_gid_sink_class_init (GstGidSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);
  GstCaps *caps = gst_gid_caps_template (TRUE);

  object_class->finalize = gst_gid_sink_finalize;
  element_class->set_clock = gst_gid_sink_set_clock;
  element_class->send_event = gst_gid_sink_send_event;
  gst_gid_sink_install_properties (object_class);

  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_element_class_set_static_metadata (element_class, "gidway sink", "Sink/Video",
      "Sends video to other domains without a copy: frames cross by their numbers",
      "The gidway authors");
  gst_type_mark_as_plugin_api (GST_TYPE_GID_COPY_POLICY, 0);

  sink_class->start = gst_gid_sink_start;
  sink_class->stop = gst_gid_sink_stop;
  sink_class->unlock = gst_gid_sink_unlock;
  sink_class->unlock_stop = gst_gid_sink_unlock_stop;
  sink_class->get_caps = gst_gid_sink_get_caps;
  sink_class->set_caps = gst_gid_sink_set_caps;
  sink_class->propose_allocation = gst_gid_sink_propose_allocation;
  sink_class->prepare = gst_gid_sink_prepare;
  sink_class->preroll = gst_gid_sink_preroll;
  sink_class->get_times = gst_gid_sink_get_times;
  sink_class->render = gst_gid_sink_render;
  sink_class->wait_event = gst_gid_sink_wait_event;
  sink_class->event = gst_gid_sink_event;
  sink_class->query = gst_gid_sink_query;
}

static void
gst_gid_sink_init (GstGidSink *self)
{
  gst_gid_sink_init_properties (self);
  self->told_of = g_hash_table_new (NULL, NULL);
  self->metadata = g_byte_array_new ();
  g_mutex_init (&self->wait_lock);
  g_cond_init (&self->wait_cond);
  /* the last sample would pin a slot for nothing */
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK_CAST (self), FALSE);
  /* to send a number takes no time that others would have to wait for */
  gst_base_sink_set_processing_deadline (GST_BASE_SINK_CAST (self), 0);
}
