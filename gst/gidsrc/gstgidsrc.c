// SPDX-License-Identifier: MIT
/**
 * SECTION:element-gidsrc
 * @title: gidsrc
 * @short_description: Receives video of other domains without a copy
 *
 * gidsrc subscribes to a stream of its own or of another domain. Elements downstream read frames
 * where their producer has written them, in memory that is mapped once. When the last reference of
 * a buffer is dropped, its memory returns to the producer. The producer may stop and start again.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 gidsrc domain=open stream=movie ! videoconvert ! waylandsink
 * ]|
 */
#include "gstgidsrc.h"

#include <errno.h>

#include "common/gstgidcrop.h"

G_DEFINE_FINAL_TYPE_WITH_CODE (GstGidSrc, gst_gid_src, GST_TYPE_PUSH_SRC,
    G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER, gst_gid_src_init_uri_handler));

/* --- start and stop --------------------------------------------------------------------------- */

/* Whether EOS was sent downstream, for whatever reason, and no flush has taken it back. */
static gboolean
is_at_end (GstGidSrc *self)
{
  GstPad *pad = GST_BASE_SRC_PAD (self);
  GstEvent *eos = gst_pad_get_sticky_event (pad, GST_EVENT_EOS, 0);
  gboolean told = eos != NULL;

  gst_clear_event (&eos);
  return told && gst_pad_get_task_state (pad) == GST_TASK_PAUSED;
}

/* The GstGidReaderFunc: called by the domain's thread. */
static void
reader_polled (GstGidReader *reader, GstElement *element, guint taken)
{
  GstGidSrc *self = GST_GID_SRC (element);

  gst_gid_domain_lock (reader->domain);
  self->taken += taken;
  if (gst_gid_reader_is_read (reader) && is_at_end (self)
      && gst_gid_backlog_release_all (&self->backlog, reader))
    gst_gid_subscription_unsubscribe (&self->subscription);
  gst_gid_domain_unlock (reader->domain);
  gst_gid_backlog_poll (&self->backlog, reader);
}

static gboolean
gst_gid_src_start (GstBaseSrc *src)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GError *error = NULL;
  gboolean drop_old;
  guint credit;

  self->live = gst_base_src_is_live (src);
  self->last_pts = GST_CLOCK_TIME_NONE;
  self->taken = 0;
  gst_gid_backlog_start (&self->backlog, self->live);
  gst_gid_sequence_start (&self->sequence);
  gst_gid_segments_start (&self->segments);
  gst_gid_orientation_start (&self->orientation);
  gst_gid_announcement_start (&self->announcement);
  gst_gid_extras_start (&self->extras);
  gst_gid_copier_start (&self->copier);
  gst_gid_poster_start (&self->poster);
  gst_gid_filler_start (&self->filler, self->live);
  GST_OBJECT_LOCK (self);
  credit = gst_gid_credit_start (&self->credit);
  drop_old = gst_gid_credit_drops_old (&self->credit);
  GST_OBJECT_UNLOCK (self);
  if (gst_gid_subscription_start (&self->subscription, credit, drop_old, reader_polled, &error))
    return TRUE;
  gst_gid_post_error (self, error);
  return FALSE;
}

static gboolean
gst_gid_src_stop (GstBaseSrc *src)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstGidReader *reader = gst_gid_subscription_get_reader (&self->subscription);

  gst_gid_src_tell_missing (self, TRUE);
  gst_gid_poster_post (&self->poster, self, gst_gid_src_create_stats, TRUE);
  gst_gid_filler_stop (&self->filler);
  gst_gid_imports_retire (self->imports, TRUE);
  gst_gid_copier_clear (&self->copier);
  gst_gid_extras_stop (&self->extras);
  gst_gid_domain_lock (reader->domain);
  gst_gid_backlog_stop (&self->backlog, reader);
  gst_gid_domain_unlock (reader->domain);
  gst_gid_subscription_stop (&self->subscription);
  gst_clear_caps (&self->caps);
  return TRUE;
}

static gboolean
gst_gid_src_unlock (GstBaseSrc *src)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstGidReader *reader;

  gst_gid_backlog_set_flushing (&self->backlog, TRUE);
  gst_gid_sequence_note_flush (&self->sequence);
  /* an application may also flush an element that is not started */
  GST_OBJECT_LOCK (self);
  reader = gst_gid_subscription_get_reader (&self->subscription);
  if (reader) {
    gst_gid_domain_lock (reader->domain);
    if (reader->consumer)
      gid_consumer_interrupt (reader->consumer);
    gst_gid_backlog_pause (&self->backlog);
    gst_gid_domain_unlock (reader->domain);
  }
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_gid_src_unlock_stop (GstBaseSrc *src)
{
  gst_gid_backlog_set_flushing (&GST_GID_SRC (src)->backlog, FALSE);
  return TRUE;
}

/* --- caps and allocation ---------------------------------------------------------------------- */

/* The caps are the producer's, and known with its first frame. */
static gboolean
gst_gid_src_negotiate (GstBaseSrc *src)
{
  GstGidSrc *self = GST_GID_SRC (src);

  return self->caps == NULL || gst_base_src_set_caps (src, self->caps);
}

static GstCaps *
gst_gid_src_get_caps (GstBaseSrc *src, GstCaps *filter)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstCaps *caps, *result;

  /* also once the producer's caps are known, because they may change with any frame */
  caps = gst_pad_get_pad_template_caps (GST_BASE_SRC_PAD (self));
  if (filter == NULL)
    return caps;
  result = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  return result;
}

/* The number of buffers that downstream needs at once. */
static guint
buffers_asked_for (GstQuery *query)
{
  guint most = 0, least;

  for (guint i = 0; i < gst_query_get_n_allocation_pools (query); i++) {
    gst_query_parse_nth_allocation_pool (query, i, NULL, NULL, &least, NULL);
    most = MAX (most, least);
  }
  return most;
}

static gboolean
gst_gid_src_decide_allocation (GstBaseSrc *src, GstQuery *query)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstGidReader *reader = gst_gid_subscription_get_reader (&self->subscription);
  guint needed = buffers_asked_for (query);
  gboolean fd_memory;
  GstGidView kind;

  GST_OBJECT_LOCK (self);
  fd_memory = self->fd_memory;
  GST_OBJECT_UNLOCK (self);

  kind = gst_gid_view_decide (query);
  gst_gid_domain_lock (reader->domain);
  gst_gid_copier_set_kind (&self->copier, fd_memory ? kind : GST_GID_VIEW_PLAIN);
  gst_gid_credit_set_needed (&self->credit, needed);
  gst_gid_domain_unlock (reader->domain);
  self->has_video_meta = gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  self->has_crop_meta = gst_gid_crop_is_taken (GST_BASE_SRC_PAD (self), query);
  return TRUE;
}

/* --- frames ----------------------------------------------------------------------------------- */

/*
 * Receives the next frame. Returns 1; -EAGAIN: there is none; -ECANCELED: flushing; -ENODATA: the
 * end that the application has asked for; -EPIPE: the stream has ended, or is refused. Posts state
 * changes of the stream.
 */
static int
receive (GstGidSrc *self, GstGidReader *reader, GstGidArrival *arrival)
{
  GstGidOutcome outcome;
  gboolean waited;
  int ret;

  gst_gid_domain_lock (reader->domain);
  waited = gst_gid_backlog_get_length (&self->backlog) > 0;
  ret = gst_gid_subscription_subscribe (&self->subscription)
      ? gst_gid_backlog_receive (&self->backlog, reader, arrival)
      : -EPIPE;
  outcome = gst_gid_subscription_get_outcome (&self->subscription);
  gst_gid_domain_unlock (reader->domain);
  if (ret == -ECANCELED || ret == -ENODATA)
    return ret;
  if (outcome.refused)
    return -EPIPE;
  /* report the new state after the frames that were sent before it */
  if (outcome.known && !waited && gst_gid_subscription_post_state (&self->subscription, &outcome)
      && outcome.state != GID_CONSUMER_LIVE) {
    gst_gid_sequence_note_away (&self->sequence);
    gst_gid_imports_retire (self->imports, TRUE);
    gst_gid_filler_set_away (&self->filler);
  }
  if (ret < 0 && outcome.state == GID_CONSUMER_ENDED)
    return -EPIPE;
  if (ret == -EAGAIN)
    gst_gid_subscription_note_waiting (&self->subscription, &outcome);
  return ret;
}

/* The final statistics, before EOS or an error, after which the application may stop the pipeline. */
static void
post_final_stats (GstGidSrc *self)
{
  gst_gid_poster_post (&self->poster, self, gst_gid_src_create_stats, TRUE);
}

static GstFlowReturn
end_stream (GstGidSrc *self, int error)
{
  post_final_stats (self);
  return gst_gid_subscription_post_end (&self->subscription, error) ? GST_FLOW_ERROR : GST_FLOW_EOS;
}

/* A picture to fill in; or waits, if none is due. */
static GstFlowReturn
fill_in (GstGidSrc *self, GstGidReader *reader, GstBuffer **buffer)
{
  *buffer = gst_gid_src_make_filler (self);
  if (*buffer == NULL)
    gid_consumer_sleep (reader->consumer);
  return GST_FLOW_OK;
}

/* An entry without a picture, which needs no release. */
static GstFlowReturn
handle_mark (GstGidSrc *self, const struct gid_frame *frame)
{
  gboolean forward_eos = FALSE;

  gst_gid_sequence_note_mark (&self->sequence, frame);
  if (frame->flags & GID_FRAME_EOS) {
    gst_gid_src_tell_missing (self, TRUE);
    GST_OBJECT_LOCK (self);
    forward_eos = self->forward_eos;
    GST_OBJECT_UNLOCK (self);
  }
  if (forward_eos) {
    post_final_stats (self);
    return GST_FLOW_EOS;
  }
  if (frame->flags & (GID_FRAME_EOS | GID_FRAME_FLUSH))
    gst_gid_segments_interrupt (&self->segments);
  return GST_FLOW_OK;
}

/* GST_FLOW_OK with `*buffer` NULL: there is no buffer yet. */
static GstFlowReturn
create_next (GstGidSrc *self, GstGidReader *reader, GstBuffer **buffer)
{
  GstGidArrival arrival;
  int got = receive (self, reader, &arrival);

  if (got == -EAGAIN)
    return fill_in (self, reader, buffer);
  if (got == -ECANCELED)
    return GST_FLOW_FLUSHING;
  if (got == -ENODATA) {
    post_final_stats (self);
    return GST_FLOW_EOS;
  }
  if (got < 0)
    return end_stream (self, got);
  if (arrival.frame.gid == GID_NONE)
    return handle_mark (self, &arrival.frame);
  return gst_gid_src_make_buffer (self, &arrival, buffer);
}

static GstFlowReturn
gst_gid_src_create (GstPushSrc *src, GstBuffer **buffer)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstGidReader *reader = gst_gid_subscription_get_reader (&self->subscription);
  GstFlowReturn ret;

  *buffer = NULL;
  gst_gid_announcement_make (&self->announcement);
  do {
    ret = create_next (self, reader, buffer);
  } while (ret == GST_FLOW_OK && *buffer == NULL);
  if (ret == GST_FLOW_OK)
    gst_gid_poster_post (&self->poster, self, gst_gid_src_create_stats, FALSE);
  return ret;
}

static gboolean
gst_gid_src_query (GstBaseSrc *src, GstQuery *query)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstClockTime latency;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return GST_BASE_SRC_CLASS (gst_gid_src_parent_class)->query (src, query);
  GST_OBJECT_LOCK (self);
  latency = gst_gid_credit_get_latency (&self->credit);
  GST_OBJECT_UNLOCK (self);
  gst_query_set_latency (query, gst_base_src_is_live (src), latency, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static gboolean
gst_gid_src_event (GstBaseSrc *src, GstEvent *event)
{
  GstGidSrc *self = GST_GID_SRC (src);
  GstGidReader *reader;
  GstClockTime latency;

  if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY) {
    gst_event_parse_latency (event, &latency);
    GST_OBJECT_LOCK (self); /* so that stop() does not run meanwhile */
    reader = gst_gid_subscription_get_reader (&self->subscription);
    if (reader) {
      gst_gid_domain_lock (reader->domain);
      gst_gid_credit_set_latency (&self->credit, GST_CLOCK_TIME_IS_VALID (latency) ? latency : 0);
      gst_gid_domain_unlock (reader->domain);
    }
    GST_OBJECT_UNLOCK (self);
  }
  return GST_BASE_SRC_CLASS (gst_gid_src_parent_class)->event (src, event);
}

static gboolean
gst_gid_src_is_seekable (GstBaseSrc *src)
{
  return FALSE;
}

/* --- the object ------------------------------------------------------------------------------- */

static gboolean
gst_gid_src_set_clock (GstElement *element, GstClock *clock)
{
  g_atomic_int_set (&GST_GID_SRC (element)->monotonic, gst_gid_clock_is_monotonic (clock));
  return GST_ELEMENT_CLASS (gst_gid_src_parent_class)->set_clock (element, clock);
}

/*
 * EOS of the application takes effect after the frames that have arrived: GstBaseSrc would drop
 * frames that wait here, which can be seconds of video if an encoder is slow.
 */
static gboolean
gst_gid_src_send_event (GstElement *element, GstEvent *event)
{
  GstGidSrc *self = GST_GID_SRC (element);
  GstGidReader *reader = NULL;

  if (GST_EVENT_TYPE (event) != GST_EVENT_EOS)
    return GST_ELEMENT_CLASS (gst_gid_src_parent_class)->send_event (element, event);
  GST_OBJECT_LOCK (self); /* so that stop() does not run meanwhile */
  if (!self->live || GST_STATE (self) == GST_STATE_PLAYING) /* else there is no streaming thread */
    reader = gst_gid_subscription_get_reader (&self->subscription);
  if (reader) {
    gst_gid_domain_lock (reader->domain);
    gst_gid_backlog_end (&self->backlog, reader);
    if (reader->consumer)
      gid_consumer_interrupt (reader->consumer);
    gst_gid_domain_unlock (reader->domain);
  }
  GST_OBJECT_UNLOCK (self);
  if (reader == NULL)
    return GST_ELEMENT_CLASS (gst_gid_src_parent_class)->send_event (element, event);
  gst_event_unref (event);
  return TRUE;
}

static void
gst_gid_src_finalize (GObject *object)
{
  GstGidSrc *self = GST_GID_SRC (object);

  g_hash_table_unref (self->imports);
  gst_gid_backlog_finish (&self->backlog);
  gst_gid_extras_finish (&self->extras);
  gst_gid_announcement_finish (&self->announcement);
  gst_gid_src_finish_properties (self);
  G_OBJECT_CLASS (gst_gid_src_parent_class)->finalize (object);
}

static void
gst_gid_src_class_init (GstGidSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  GstCaps *caps = gst_gid_caps_template (TRUE);

  object_class->finalize = gst_gid_src_finalize;
  element_class->set_clock = gst_gid_src_set_clock;
  element_class->send_event = gst_gid_src_send_event;
  gst_gid_src_install_properties (object_class);

  gst_element_class_add_pad_template (
      element_class, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_element_class_set_static_metadata (element_class, "gidway source", "Source/Video",
      "Receives video of other domains through shared memory, without a copy",
      "The gidway authors");
  gst_type_mark_as_plugin_api (GST_TYPE_GID_COPY_POLICY, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_GID_FILL, 0);

  src_class->start = gst_gid_src_start;
  src_class->stop = gst_gid_src_stop;
  src_class->unlock = gst_gid_src_unlock;
  src_class->unlock_stop = gst_gid_src_unlock_stop;
  src_class->negotiate = gst_gid_src_negotiate;
  src_class->get_caps = gst_gid_src_get_caps;
  src_class->decide_allocation = gst_gid_src_decide_allocation;
  src_class->query = gst_gid_src_query;
  src_class->event = gst_gid_src_event;
  src_class->is_seekable = gst_gid_src_is_seekable;
  GST_PUSH_SRC_CLASS (klass)->create = gst_gid_src_create;
}

static void
gst_gid_src_init (GstGidSrc *self)
{
  GstElement *element = GST_ELEMENT_CAST (self);
  GstBaseSrc *src = GST_BASE_SRC_CAST (self);

  gst_gid_src_init_properties (self);
  self->imports = gst_gid_imports_new ();
  gst_gid_subscription_init (&self->subscription, element);
  gst_gid_copier_init (&self->copier, element);
  gst_gid_extras_init (&self->extras, element);
  gst_gid_sequence_init (&self->sequence, element);
  gst_gid_segments_init (&self->segments, src);
  gst_gid_orientation_init (&self->orientation, src);
  gst_gid_filler_init (&self->filler, element);
  gst_gid_backlog_init (
      &self->backlog, src, &self->credit, &self->copier, &self->extras, &self->sequence);
  gst_gid_announcement_init (&self->announcement, src);
  gst_base_src_set_format (src, GST_FORMAT_TIME);
  gst_base_src_set_live (src, TRUE);
}
