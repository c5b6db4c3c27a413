// SPDX-License-Identifier: MIT
/**
 * SECTION:element-gidsink
 * @title: gidsink
 * @short_description: Sends video to other domains without a copy
 *
 * gidsink publishes a stream of its domain. It proposes memory in slots of gidway's shared slabs to
 * upstream, so that decoders, converters and sources write directly to the memory that consumers
 * read. Frames that arrive in dma-bufs or sealed memfds are exported as they are. All other frames
 * are copied once, and counted.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=film.mp4 ! decodebin3 ! gidsink domain=open stream=movie
 * ]|
 */
/*
 * The base class is GstBaseSink, not GstVideoSink. GstVideoSink handles preroll and render alike,
 * drops late frames (max-lateness, QoS), and centres rectangles. A late frame is still useful to
 * consumers, and the display is theirs.
 */
#include "gstgidsink.h"

#include <errno.h>

#include <gst/video/video.h>

#include "common/gstgid.h"
#include "common/gstgidcaps.h"
#include "common/gstgidcrop.h"
#include "common/gstgidpool.h"

#define GST_CAT_DEFAULT gst_gid_debug

G_DEFINE_FINAL_TYPE (GstGidSink, gst_gid_sink, GST_TYPE_BASE_SINK);

/* --- start and stop --------------------------------------------------------------------------- */

static gboolean
gst_gid_sink_start (GstBaseSink *sink)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GError *error = NULL;
  gboolean good;
  gchar *name;

  GST_OBJECT_LOCK (self);
  name = g_strdup (self->domain_name);
  GST_OBJECT_UNLOCK (self);

  g_atomic_int_set (&self->changed, FALSE);
  self->told_empty = FALSE;
  gst_gid_poster_start (&self->poster);
  gst_gid_choice_start (&self->choice);
  gst_gid_sidecar_start (&self->sidecar);
  gst_gid_naming_start (&self->naming);
  gst_gid_refusals_start (&self->refusals);
  good = gst_gid_publication_open (&self->publication, name, &error)
      && gst_gid_display_start (&self->display, &error)
      && gst_gid_publication_publish (&self->publication, &error);
  if (!good) {
    gst_gid_publication_close (&self->publication);
    gst_gid_post_error (self, error);
  }
  g_free (name);
  return good;
}

/* If start() fails, GstBaseSink posts a second, generic error after ours, which is dropped here. */
static gboolean
gst_gid_sink_post_message (GstElement *element, GstMessage *message)
{
  GError *error = NULL;
  gboolean ours;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  ours = !g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_STATE_CHANGE);
  g_clear_error (&error);
  if (ours)
    return GST_ELEMENT_CLASS (gst_gid_sink_parent_class)->post_message (element, message);
  gst_message_unref (message);
  return TRUE;
}

static void
forget_caps (GstGidSink *self)
{
  gst_gid_slots_clear (&self->slots);
  gst_gid_naming_clear (&self->naming);
}

/* Reports totals, at the end of the stream. */
static void
sum_up (GstGidSink *self)
{
  gst_gid_publication_tell_lost (&self->publication, TRUE);
  gst_gid_refusals_sum_up (&self->refusals, gst_gid_publication_get_name (&self->publication));
  gst_gid_poster_post (&self->poster, self, gst_gid_sink_create_stats, TRUE);
}

static gboolean
gst_gid_sink_stop (GstBaseSink *sink)
{
  GstGidSink *self = GST_GID_SINK (sink);

  if (!gst_gid_publication_is_published (&self->publication))
    return TRUE; /* publishing had failed, with other property values */
  sum_up (self);
  gst_clear_buffer (&self->prerolled);
  gst_gid_publication_close (&self->publication);
  forget_caps (self);
  return TRUE;
}

/*
 * GstBaseSink calls start() in the transition to READY, and applications may set properties after
 * that, such as `readers`. Publishes again if one has changed.
 */
static gboolean
publish_as_it_is_now (GstGidSink *self)
{
  GstBaseSink *sink = GST_BASE_SINK_CAST (self);

  if (gst_gid_publication_is_published (&self->publication) && !g_atomic_int_get (&self->changed))
    return TRUE;
  gst_gid_sink_stop (sink);
  return gst_gid_sink_start (sink);
}

static void
gst_gid_sink_notify (GObject *object, GParamSpec *pspec)
{
  if (pspec->owner_type == GST_TYPE_GID_SINK && pspec->flags & GST_PARAM_MUTABLE_READY)
    g_atomic_int_set (&GST_GID_SINK (object)->changed, TRUE);
}

static void
set_unlocked (GstGidSink *self, gboolean unlocked)
{
  gst_gid_wait_set_unlocked (&self->wait, unlocked);
  gst_gid_slots_set_flushing (&self->slots, unlocked);
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

/* --- caps and memory -------------------------------------------------------------------------- */

static GstCaps *
gst_gid_sink_get_caps (GstBaseSink *sink, GstCaps *filter)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstCaps *caps = gst_gid_choice_create_caps (&self->choice);
  GstCaps *result;

  if (filter == NULL)
    return caps;
  result = gst_gid_caps_intersect (filter, caps);
  gst_caps_unref (caps);
  return result;
}

/* Each view would need a frame of its own: all but the first one would be lost. */
static gboolean
has_separate_views (const GstGidFormat *format)
{
  return GST_VIDEO_INFO_MULTIVIEW_MODE (&format->info) == GST_VIDEO_MULTIVIEW_MODE_SEPARATED
      && GST_VIDEO_INFO_VIEWS (&format->info) > 1;
}

static gboolean
gst_gid_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstCaps *present = gst_gid_slots_get_caps (&self->slots);
  GstGidFormat format;

  if (!gst_gid_format_from_caps (&format, caps)) {
    GST_ERROR_OBJECT (self, "cannot lay out %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  if (has_separate_views (&format)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Buffers of several pictures (multiview-mode=separated) cannot be sent. Put the views into "
         "one picture, as glviewconvert does, in front of gidsink."),
        ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (present && gst_caps_is_equal (present, caps))
    return TRUE;
  gst_gid_slots_set_caps (&self->slots, caps, &format);
  gst_gid_naming_clear (&self->naming);
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
  allocator = gst_gid_slots_get_allocator (&self->slots, caps);
  if (gst_gid_allocator_can_hold (allocator, &format))
    gst_gid_pool_propose (allocator, caps, query);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_gid_crop_offer (GST_BASE_SINK_PAD (sink), query);
  gst_gid_naming_expect_copies (&self->naming);
  return TRUE;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Called before GstBaseSink waits for the buffer's time. */
static GstFlowReturn
gst_gid_sink_prepare (GstBaseSink *sink, GstBuffer *buffer)
{
  GstGidSink *self = GST_GID_SINK (sink);

  gst_gid_timing_note_arrival (&self->timing);
  /* sources with ANY caps, such as fakesrc and appsrc, may push buffers without caps */
  return gst_gid_slots_get_caps (&self->slots) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

/* Whether the buffer is empty. Posts a warning for the first one. */
static gboolean
has_no_picture (GstGidSink *self, GstBuffer *buffer)
{
  if (gst_buffer_n_memory (buffer) > 0)
    return FALSE;
  if (!self->told_empty)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("A buffer without memory came: nothing is sent for such ones."),
        ("In the statistics `rendered` counts them, and `frames` does not"));
  self->told_empty = TRUE;
  return TRUE;
}

/*
 * Sends the frame, waiting for gidd to grant access to readers that have none yet. The domain's
 * lock is not held meanwhile, so no other stream of the process waits. `*sent` is the result of
 * gst_gid_publication_send().
 */
static GstFlowReturn
send_when_granted (GstGidSink *self, GstBuffer *buffer, struct gid_frame *frame,
    GstGidExport *export, gboolean playing, int *sent)
{
  const GByteArray *metadata = gst_gid_sidecar_get_metadata (&self->sidecar);
  GstFlowReturn ret = GST_FLOW_OK;
  int metadata_error;

  do {
    *sent = gst_gid_publication_send (
        &self->publication, frame, metadata, buffer, export, &metadata_error);
    if (*sent == -EINPROGRESS)
      ret = gst_gid_wait_for_gidd (&self->wait, playing);
  } while (*sent == -EINPROGRESS && ret == GST_FLOW_OK);
  if (metadata_error < 0 && ret == GST_FLOW_OK)
    gst_gid_sidecar_report_missing (&self->sidecar, metadata_error);
  return ret;
}

/* Takes the export. */
static GstFlowReturn
send_named (GstGidSink *self, GstBuffer *buffer, struct gid_frame *frame, GstGidExport *export,
    gboolean playing, guint *consumers)
{
  GstGidTimes times = gst_gid_timing_of (&self->timing, buffer, playing);
  GstFlowReturn ret;
  int sent;

  frame->present_time = times.present;
  frame->capture_time = times.capture;
  ret = send_when_granted (self, buffer, frame, export, playing, &sent);
  if (export)
    gst_mini_object_unref (GST_MINI_OBJECT_CAST (export));
  if (ret != GST_FLOW_OK)
    return ret;
  if (sent < 0) {
    /* upstream continues: the next frame may be valid */
    GST_INFO_OBJECT (self, "not sent: %" GST_PTR_FORMAT ": %s", buffer, gid_strerror (sent));
    gst_gid_refusals_note (
        &self->refusals, gst_gid_publication_get_name (&self->publication), sent);
    return GST_FLOW_OK;
  }
  gst_gid_display_follow (&self->display, frame);
  GST_LOG_OBJECT (self, "sent %" GST_PTR_FORMAT " to %d consumers", buffer, sent);
  gst_gid_timing_note_sent (&self->timing);
  if (consumers)
    *consumers = sent;
  return GST_FLOW_OK;
}

/*
 * Sends the frame. `playing`: the pipeline's clock runs, so the frame has a time. `*consumers` (may
 * be NULL) is the number of consumers that got it; unchanged after an error.
 */
static GstFlowReturn
send_buffer (GstGidSink *self, GstBuffer *buffer, gboolean playing, guint *consumers)
{
  struct gid_frame frame;
  GstGidExport *export;
  GstFlowReturn ret;

  gst_buffer_ref (buffer);
  ret = gst_gid_naming_name (&self->naming, playing, &buffer, &frame, &export);
  if (ret == GST_FLOW_OK)
    ret = send_named (self, buffer, &frame, export, playing, consumers);
  if (ret == GST_GID_FLOW_NOT_THIS_ONE || (ret == GST_FLOW_FLUSHING && !playing))
    ret = GST_FLOW_OK; /* other results would stop upstream; a flush ends the preroll by itself */
  gst_buffer_unref (buffer);
  return ret;
}

/*
 * Sends the frame already in PAUSED, as video sinks show it, for example after a seek or a step.
 * Called again for the same buffer if the pipeline is paused again before the buffer was rendered.
 * If there are consumers, but none got it here, render() sends it.
 */
static GstFlowReturn
gst_gid_sink_preroll (GstBaseSink *sink, GstBuffer *buffer)
{
  GstGidSink *self = GST_GID_SINK (sink);
  gboolean ready;
  GstFlowReturn ret;
  gboolean consumer;
  guint sent;

  if (self->prerolled == buffer || has_no_picture (self, buffer))
    return GST_FLOW_OK;
  ret = gst_gid_wait_to_preroll (&self->wait, &ready);
  if (ret != GST_FLOW_OK || !ready)
    return ret;
  consumer = gst_gid_publication_has_consumer (&self->publication);
  sent = 0;
  ret = send_buffer (self, buffer, FALSE, &sent);
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
  if (was_prerolled || has_no_picture (self, buffer))
    return GST_FLOW_OK;
  ret = gst_gid_wait_to_render (&self->wait);
  if (ret == GST_FLOW_OK)
    ret = send_buffer (self, buffer, TRUE, NULL);
  gst_gid_publication_tell_lost (&self->publication, FALSE);
  gst_gid_choice_check (&self->choice, gst_gid_timing_get_arrival (&self->timing));
  gst_gid_poster_post (&self->poster, self, gst_gid_sink_create_stats, FALSE);
  return ret;
}

/* --- events and queries ----------------------------------------------------------------------- */

/*
 * Sends the end of the stream when it is rendered. Before that, for example in PAUSED, a seek may
 * still discard the event, and consumers cannot go back.
 */
static GstFlowReturn
gst_gid_sink_wait_event (GstBaseSink *sink, GstEvent *event)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstFlowReturn ret = GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->wait_event (sink, event);

  if (ret == GST_FLOW_OK && GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    /*
     * before GstBaseSink posts the EOS message, after which the application may stop the pipeline
     */
    gst_gid_publication_send_mark (&self->publication, GID_FRAME_EOS);
    gst_gid_wait_until_read (&self->wait);
    sum_up (self);
  }
  return ret;
}

static gboolean
gst_gid_sink_event (GstBaseSink *sink, GstEvent *event)
{
  GstGidSink *self = GST_GID_SINK (sink);
  GstTagList *tags;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_TAG:
      gst_event_parse_tag (event, &tags);
      gst_gid_sidecar_report_tags (&self->sidecar, tags);
      break;
    case GST_EVENT_FLUSH_START:
      gst_gid_publication_take_back (&self->publication);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_clear_buffer (&self->prerolled);
      gst_gid_timing_flush (&self->timing);
      gst_gid_wait_start (&self->wait);
      gst_gid_publication_send_mark (&self->publication, GID_FRAME_FLUSH);
      break;
    default:
      break;
  }
  return GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->event (sink, event);
}

static gboolean
gst_gid_sink_query (GstBaseSink *sink, GstQuery *query)
{
  GstGidSink *self = GST_GID_SINK (sink);

  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    GstCaps *caps;

    gst_query_parse_accept_caps (query, &caps);
    if (gst_caps_is_fixed (caps))
      gst_gid_choice_warn_unknown (&self->choice, caps);
  }
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN
      && gst_gid_publication_is_published (&self->publication)) {
    gst_clear_buffer (&self->prerolled);
    gst_gid_wait_until_read (&self->wait);
    gst_gid_publication_take_back (&self->publication);
  }
  return GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->query (sink, query);
}

static void
gst_gid_sink_get_times (
    GstBaseSink *sink, GstBuffer *buffer, GstClockTime *start, GstClockTime *end)
{
  GST_BASE_SINK_CLASS (gst_gid_sink_parent_class)->get_times (sink, buffer, start, end);
  gst_gid_display_sync_times (&GST_GID_SINK (sink)->display, buffer, start, end);
}

/* --- the object ------------------------------------------------------------------------------- */

static gboolean
gst_gid_sink_set_clock (GstElement *element, GstClock *clock)
{
  gst_gid_timing_set_clock (&GST_GID_SINK (element)->timing, clock);
  return GST_ELEMENT_CLASS (gst_gid_sink_parent_class)->set_clock (element, clock);
}

/* From READY the stream starts again, but GstBaseSink does not call start(). */
static GstStateChangeReturn
gst_gid_sink_change_state (GstElement *element, GstStateChange transition)
{
  GstGidSink *self = GST_GID_SINK (element);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    if (!publish_as_it_is_now (self))
      return GST_STATE_CHANGE_FAILURE;
    gst_clear_buffer (&self->prerolled);
    gst_gid_timing_start (&self->timing);
    gst_gid_wait_start (&self->wait);
  }
  return GST_ELEMENT_CLASS (gst_gid_sink_parent_class)->change_state (element, transition);
}

/*
 * A bin sends EOS of the application to its sources, whose streaming thread may be waiting here for
 * a consumer. With `wait-for-connection` this element has GST_ELEMENT_FLAG_SOURCE, so the bin sends
 * EOS here, too, and the wait ends.
 */
static gboolean
gst_gid_sink_send_event (GstElement *element, GstEvent *event)
{
  GstGidSink *self = GST_GID_SINK (element);

  if (GST_EVENT_TYPE (event) != GST_EVENT_EOS)
    return GST_ELEMENT_CLASS (gst_gid_sink_parent_class)->send_event (element, event);
  gst_gid_wait_ask_end (&self->wait);
  gst_event_unref (event);
  return TRUE;
}

static void
gst_gid_sink_finalize (GObject *object)
{
  GstGidSink *self = GST_GID_SINK (object);

  gst_gid_sidecar_finish (&self->sidecar);
  gst_gid_choice_finish (&self->choice);
  gst_gid_wait_finish (&self->wait);
  gst_gid_sink_finish_properties (self);
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
  object_class->notify = gst_gid_sink_notify;
  element_class->post_message = gst_gid_sink_post_message;
  element_class->change_state = gst_gid_sink_change_state;
  element_class->set_clock = gst_gid_sink_set_clock;
  element_class->send_event = gst_gid_sink_send_event;
  gst_gid_sink_install_properties (object_class);

  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_element_class_set_static_metadata (element_class, "gidway sink", "Sink/Video",
      "Sends video to other domains through shared memory, without a copy", "The gidway authors");
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
  GstBaseSink *sink = GST_BASE_SINK_CAST (self);
  GstElement *element = GST_ELEMENT_CAST (self);

  gst_gid_sink_init_properties (self);
  gst_gid_publication_init (&self->publication, element, gst_gid_wait_wake, &self->wait);
  gst_gid_timing_init (&self->timing, sink);
  gst_gid_wait_init (&self->wait, sink, &self->publication, &self->timing);
  gst_gid_slots_init (&self->slots, sink, &self->publication);
  gst_gid_choice_init (&self->choice, sink, &self->publication, &self->slots);
  gst_gid_sidecar_init (&self->sidecar, element, &self->publication);
  gst_gid_naming_init (
      &self->naming, element, &self->publication, &self->slots, &self->choice, &self->sidecar);
  gst_gid_display_init (&self->display, sink, &self->publication, &self->timing, &self->slots);
  gst_gid_refusals_init (&self->refusals, element);
  /* the last sample would keep a slot in use */
  gst_base_sink_set_last_sample_enabled (sink, FALSE);
  /* sending takes no time that other sinks would have to wait for */
  gst_base_sink_set_processing_deadline (sink, 0);
}
