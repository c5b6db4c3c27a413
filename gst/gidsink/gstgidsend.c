// SPDX-License-Identifier: MIT
/* Frames on their way into the stream, and waiting for consumers where properties ask for it. */
#include "common/gstgid.h"
#include "gstgidsink.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* How long the end of the stream waits for consumers to read what was sent. */
#define EOS_WAIT_MS 1000

/* A wait looks again after this, for what nobody tells of: frames that were read. */
#define WAIT_STEP (5 * G_TIME_SPAN_MILLISECOND)

gboolean
gst_gid_sink_is_live (GstGidSink *self)
{
  /* before the first frame GstBaseSink does not ask yet */
  if (!self->knows_live)
    self->knows_live =
        gst_base_sink_query_latency (GST_BASE_SINK_CAST (self), NULL, &self->live, NULL, NULL)
        || !self->picture_is_due;
  return self->live;
}

gboolean
gst_gid_sink_waits_for_latency (GstGidSink *self)
{
  return self->wait_for_latency || !gst_gid_sink_is_live (self);
}

/*
 * By how much later than its running time a frame is shown. An offset (playbin's av-offset) delays
 * it; a negative one has it sent earlier, to be shown at the same time.
 */
static GstClockTime
delay (GstGidSink *self)
{
  GstBaseSink *sink = GST_BASE_SINK_CAST (self);
  GstClockTime latency =
      gst_gid_sink_waits_for_latency (self) ? gst_base_sink_get_latency (sink) : 0;

  return latency + MAX (gst_base_sink_get_ts_offset (sink), 0);
}

/*
 * When it is the frame's turn, by the times that GstBaseSink waits for: what began before the segment
 * is shown when that begins, and in reverse a frame's end comes first.
 */
static GstClockTime
running_time (const GstSegment *segment, GstBuffer *buffer)
{
  gboolean lasts = GST_BUFFER_DURATION_IS_VALID (buffer);
  guint64 start = GST_BUFFER_PTS (buffer), stop = GST_CLOCK_TIME_NONE;

  /* a segment of bytes says nothing of times */
  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (start))
    return GST_CLOCK_TIME_NONE;
  if (lasts)
    stop = start + GST_BUFFER_DURATION (buffer);
  if (!gst_segment_clip (segment, GST_FORMAT_TIME, start, stop, &start, &stop))
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time (
      segment, GST_FORMAT_TIME, segment->rate < 0 && lasts ? stop : start);
}

guint64
gst_gid_sink_due_time (GstGidSink *self, GstBuffer *buffer)
{
  GstBaseSink *sink = GST_BASE_SINK_CAST (self);
  GstClockTime running = running_time (&sink->segment, buffer), base;
  GstClockTimeDiff offset = 0;
  GstClock *clock = NULL;
  gboolean has_clock;

  GST_OBJECT_LOCK (self);
  base = GST_ELEMENT_CAST (self)->base_time;
  has_clock = GST_ELEMENT_CLOCK (self) != NULL;
  if (has_clock && !g_atomic_int_get (&self->monotonic))
    clock = gst_object_ref (GST_ELEMENT_CLOCK (self));
  GST_OBJECT_UNLOCK (self);

  if (clock)
    offset = gst_gid_clock_offset (clock);
  gst_clear_object (&clock);
  if (!has_clock || !GST_CLOCK_TIME_IS_VALID (running))
    return GID_TIME_NONE;
  return base + running + delay (self) + offset;
}

guint64
gst_gid_sink_present_time (GstGidSink *self, guint64 due)
{
  if (due == GID_TIME_NONE || gst_gid_sink_waits_for_latency (self))
    return due;
  return MAX (due, self->arrived);
}

/*
 * When the picture came to be, on CLOCK_MONOTONIC. Live sources (a camera) say it by their
 * timestamps. What is not live (a film) came to be when it came here, before the wait for its time.
 */
static guint64
capture_time (GstGidSink *self, guint64 due)
{
  if (due == GID_TIME_NONE || !gst_gid_sink_is_live (self))
    return self->arrived;
  return MIN (due - delay (self), self->arrived);
}

typedef gboolean (*IsReady) (GstGidSink *self);

gboolean
gst_gid_sink_has_consumer (GstGidSink *self)
{
  gboolean ready;

  gst_gid_domain_lock (self->domain);
  ready = gid_producer_consumers (self->producer) > 0;
  gst_gid_domain_unlock (self->domain);
  return ready;
}

/* Or the application wants the end: what came before it is for nobody. */
static gboolean
has_consumer_or_end (GstGidSink *self)
{
  return g_atomic_int_get (&self->end_is_asked) || gst_gid_sink_has_consumer (self);
}

static gboolean
has_room (GstGidSink *self)
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
all_is_read (GstGidSink *self)
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
wait_until (GstGidSink *self, IsReady is_ready, guint timeout_ms, gboolean rendering)
{
  gint64 end = g_get_monotonic_time () + timeout_ms * G_TIME_SPAN_MILLISECOND;
  GstFlowReturn ret = GST_FLOW_OK;

  while (ret == GST_FLOW_OK && !is_ready (self)) {
    gint64 now = g_get_monotonic_time ();
    gboolean unlocked;

    if (timeout_ms && now >= end)
      break;
    g_mutex_lock (&self->wait_lock);
    self->waiting = TRUE;
    if (!self->unlocked && !self->woken)
      g_cond_wait_until (&self->wait_cond, &self->wait_lock, now + WAIT_STEP);
    self->waiting = self->woken = FALSE;
    unlocked = self->unlocked;
    g_mutex_unlock (&self->wait_lock);
    if (unlocked && !rendering)
      break;
    if (unlocked)
      ret = gst_base_sink_wait_preroll (GST_BASE_SINK_CAST (self));
  }
  return ret;
}

/* --- the wait for the first consumer ----------------------------------------------------------- */

/* How long the pipeline has played: without its pauses. NONE: it has no clock yet. */
static GstClockTime
played (GstGidSink *self)
{
  GstClock *clock = gst_element_get_clock (GST_ELEMENT_CAST (self));
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (clock)
    time = gst_clock_get_time (clock) - gst_element_get_base_time (GST_ELEMENT_CAST (self));
  gst_clear_object (&clock);
  return time;
}

static void
set_base_time (const GValue *item, gpointer base)
{
  gst_element_set_base_time (g_value_get_object (item), *(const GstClockTime *) base);
}

/*
 * A film waits as it does in a pause, with its sound: otherwise all frames that are late by then
 * would go at once. Who moves base times by itself knows better, and what is live waits for nobody.
 */
static void
make_up_for (GstGidSink *self, GstClockTime waited)
{
  GstObject *top = gst_object_ref (self), *parent;
  GstClockTime base = gst_element_get_base_time (GST_ELEMENT_CAST (self)) + waited;
  GstIterator *elements;

  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top) && gst_element_get_start_time (GST_ELEMENT_CAST (top)) != GST_CLOCK_TIME_NONE
      && !gst_gid_sink_is_live (self)) {
    gst_element_set_base_time (GST_ELEMENT_CAST (top), base);
    elements = gst_bin_iterate_recurse (GST_BIN_CAST (top));
    while (gst_iterator_foreach (elements, set_base_time, &base) == GST_ITERATOR_RESYNC)
      gst_iterator_resync (elements);
    gst_iterator_free (elements);
  }
  gst_object_unref (top);
}

static GstFlowReturn
wait_for_connection (GstGidSink *self)
{
  GstClockTime before = played (self), after;
  GstFlowReturn ret;

  if (has_consumer_or_end (self))
    return GST_FLOW_OK;
  ret = wait_until (self, has_consumer_or_end, 0, TRUE);
  after = played (self);
  if (ret == GST_FLOW_OK && GST_CLOCK_TIME_IS_VALID (before) && GST_CLOCK_TIME_IS_VALID (after)
      && after > before && !g_atomic_int_get (&self->end_is_asked)
      && gst_base_sink_get_sync (GST_BASE_SINK_CAST (self)))
    make_up_for (self, after - before);
  return ret;
}

GstFlowReturn
gst_gid_sink_wait_for_consumers (GstGidSink *self)
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
    ret = wait_for_connection (self);
  if (!leaky && ret == GST_FLOW_OK)
    ret = wait_until (self, has_room, lease_ms, TRUE);
  return ret;
}

GstFlowReturn
gst_gid_sink_wait_to_preroll (GstGidSink *self, gboolean *ready)
{
  GstBaseSink *sink = GST_BASE_SINK_CAST (self);
  gint64 end;
  gboolean leaky, connection;

  GST_OBJECT_LOCK (self);
  leaky = self->leaky;
  connection = self->wait_for_connection;
  end = g_get_monotonic_time () + self->lease_ms * G_TIME_SPAN_MILLISECOND;
  GST_OBJECT_UNLOCK (self);

  while (TRUE) {
    gint64 now = g_get_monotonic_time ();
    gboolean consumer = gst_gid_sink_has_consumer (self);

    /* with nobody there, for who comes during the pause */
    *ready = consumer ? leaky || has_room (self) : !connection;
    if (*ready || !consumer || !self->picture_is_due || now >= end)
      return GST_FLOW_OK;
    GST_BASE_SINK_PREROLL_WAIT_UNTIL (sink, now + WAIT_STEP);
    if (GST_PAD_IS_FLUSHING (GST_BASE_SINK_PAD (sink)))
      return GST_FLOW_FLUSHING;
  }
}

/* With the domain's lock held. */
static int
put_metadata (GstGidSink *self, struct gid_frame *frame)
{
  return gid_producer_put_metadata (
      self->producer, frame, self->metadata->data, self->metadata->len);
}

/* Once for each reason: readers get the picture all the same. */
static void
tell_no_metadata (GstGidSink *self, int error)
{
  const gchar *why = g_intern_string (gid_strerror (error));

  if (g_hash_table_add (self->told_of, (gpointer) why))
    GST_ELEMENT_INFO (self, RESOURCE, NO_SPACE_LEFT,
        ("Readers do not get the metadata of some frames: %s", why), (NULL));
}

/* Takes the export. */
static void
send_named (GstGidSink *self, GstBuffer *buffer, struct gid_frame *frame, GstGidExport *export,
    gboolean playing, guint *consumers)
{
  /* before the pipeline plays its clock says nothing */
  guint64 due = playing ? gst_gid_sink_due_time (self, buffer) : GID_TIME_NONE;
  int sent, error;

  frame->present_time = gst_gid_sink_present_time (self, due);
  frame->capture_time = capture_time (self, due);

  gst_gid_domain_lock (self->domain);
  error = put_metadata (self, frame);
  sent = gid_producer_send (self->producer, frame);
  if (sent >= 0)
    gst_gid_domain_keep (
        self->domain, self->producer, frame->gid, buffer, (GstMiniObject *) export);
  /* upstream may have but few buffers of its own, and no pool of ours that asks for them */
  if (export)
    gid_producer_want_release (self->producer);
  gst_gid_domain_unlock (self->domain);
  if (export)
    gst_mini_object_unref (GST_MINI_OBJECT_CAST (export));
  if (error < 0)
    tell_no_metadata (self, error);
  if (sent < 0) {
    /* the slot was taken back by force, or the slab was revoked: the next frame has another */
    GST_WARNING_OBJECT (self, "frame not sent: %s", gid_strerror (sent));
    return;
  }
  gst_gid_sink_follow_display (self, frame);
  GST_LOG_OBJECT (self, "sent %" GST_PTR_FORMAT " to %d consumers", buffer, sent);
  self->picture_is_due = FALSE;
  if (consumers)
    *consumers = sent;
}

GstFlowReturn
gst_gid_sink_send (GstGidSink *self, GstBuffer *buffer, gboolean playing, guint *consumers)
{
  struct gid_frame frame;
  GstGidExport *export;
  GstFlowReturn ret;

  gst_buffer_ref (buffer);
  ret = gst_gid_sink_name_frame (self, playing, &buffer, &frame, &export);
  if (ret == GST_FLOW_OK)
    send_named (self, buffer, &frame, export, playing, consumers);
  else if (ret == GST_GID_FLOW_NOT_THIS_ONE || (ret == GST_FLOW_FLUSHING && !playing))
    ret = GST_FLOW_OK; /* upstream would end; what flushes ends the preroll itself */
  gst_buffer_unref (buffer);
  return ret;
}

void
gst_gid_sink_send_mark (GstGidSink *self, guint32 flags)
{
  struct gid_frame frame = GID_FRAME_INIT;

  frame.flags = flags;
  gst_gid_domain_lock (self->domain);
  gid_producer_send (self->producer, &frame);
  gst_gid_domain_unlock (self->domain);
}

void
gst_gid_sink_take_back (GstGidSink *self)
{
  gst_gid_domain_lock (self->domain);
  while (gid_producer_reclaim (self->producer, false) > 0)
    ;
  gst_gid_domain_unlock (self->domain);
}

/* How long a consumer's next frame may take, in ms; 0: nobody is waited for. */
static guint
get_patience (GstGidSink *self)
{
  guint patience;

  GST_OBJECT_LOCK (self);
  patience = self->leaky ? 0 : self->lease_ms;
  GST_OBJECT_UNLOCK (self);
  return patience;
}

void
gst_gid_sink_wait_until_read (GstGidSink *self)
{
  wait_until (self, all_is_read, MAX (EOS_WAIT_MS, get_patience (self)), FALSE);
}

void
gst_gid_sink_drain (GstGidSink *self)
{
  guint patience = get_patience (self);

  if (patience > 0)
    wait_until (self, all_is_read, patience, FALSE);
  gst_gid_sink_take_back (self);
}
