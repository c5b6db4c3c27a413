// SPDX-License-Identifier: MIT
#include "gstgidwait.h"

/* Minimum time to wait, at the end and for a DRAIN query, until consumers have read everything. */
#define READ_WAIT_MS 1000

/* Interval at which a wait checks its condition: nothing signals that a frame was read. */
#define WAIT_STEP (5 * G_TIME_SPAN_MILLISECOND)

void
gst_gid_wait_init (
    GstGidWait *self, GstBaseSink *sink, GstGidPublication *publication, GstGidTiming *timing)
{
  self->sink = sink;
  self->publication = publication;
  self->timing = timing;
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
}

void
gst_gid_wait_finish (GstGidWait *self)
{
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
}

void
gst_gid_wait_start (GstGidWait *self)
{
  g_atomic_int_set (&self->end_is_asked, FALSE);
}

void
gst_gid_wait_wake (gpointer data)
{
  GstGidWait *self = data;

  g_mutex_lock (&self->lock);
  self->woken = TRUE;
  if (self->waiting) /* signalling nobody would still be a system call per frame */
    g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

void
gst_gid_wait_set_unlocked (GstGidWait *self, gboolean unlocked)
{
  g_mutex_lock (&self->lock);
  self->unlocked = unlocked;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

void
gst_gid_wait_ask_end (GstGidWait *self)
{
  g_atomic_int_set (&self->end_is_asked, TRUE);
  g_mutex_lock (&self->lock);
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

typedef gboolean (*IsReady) (GstGidWait *self);

/* Or the application has sent EOS: frames before it have no consumer. */
static gboolean
has_consumer_or_end (GstGidWait *self)
{
  return g_atomic_int_get (&self->end_is_asked)
      || gst_gid_publication_has_consumer (self->publication);
}

static gboolean
has_room (GstGidWait *self)
{
  return gst_gid_publication_has_room (self->publication);
}

static gboolean
all_is_read (GstGidWait *self)
{
  return gst_gid_publication_count_unread (self->publication) == 0;
}

static gboolean
more_is_read (GstGidWait *self)
{
  return gst_gid_publication_count_unread (self->publication) < self->unread;
}

/* One step of a wait. Returns whether unlock() was called. */
static gboolean
wait_a_step (GstGidWait *self)
{
  gboolean unlocked;

  g_mutex_lock (&self->lock);
  self->waiting = TRUE;
  if (!self->unlocked && !self->woken)
    g_cond_wait_until (&self->cond, &self->lock, g_get_monotonic_time () + WAIT_STEP);
  self->waiting = self->woken = FALSE;
  unlocked = self->unlocked;
  g_mutex_unlock (&self->lock);
  return unlocked;
}

/*
 * Waits until `is_ready`, until `timeout_ms` is over (0: no timeout), or until unlock(). After
 * that, if `rendering`, continues when the pipeline plays again.
 */
static GstFlowReturn
wait_until (GstGidWait *self, IsReady is_ready, guint timeout_ms, gboolean rendering)
{
  gint64 end = g_get_monotonic_time () + timeout_ms * G_TIME_SPAN_MILLISECOND;
  GstFlowReturn ret = GST_FLOW_OK;

  while (ret == GST_FLOW_OK && !is_ready (self)) {
    gboolean unlocked;

    if (timeout_ms && g_get_monotonic_time () >= end)
      break;
    unlocked = wait_a_step (self);
    if (unlocked && !rendering)
      break;
    if (unlocked)
      ret = gst_base_sink_wait_preroll (self->sink);
  }
  return ret;
}

/* --- waiting for the first consumer ----------------------------------------------------------- */

/*
 * The pipeline's running time, which does not run in a pause; GST_CLOCK_TIME_NONE without a clock.
 */
static GstClockTime
played (GstElement *element)
{
  GstClock *clock = gst_element_get_clock (element);
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (clock)
    time = gst_clock_get_time (clock) - gst_element_get_base_time (element);
  gst_clear_object (&clock);
  return time;
}

static void
set_base_time (const GValue *item, gpointer base)
{
  gst_element_set_base_time (g_value_get_object (item), *(const GstClockTime *) base);
}

/*
 * Moves the base time of the whole pipeline by the time waited, as a pause does, so that the frames
 * of the film are not all late. Not if the application manages base times itself, or if the source
 * is live.
 */
static void
make_up_for (GstGidWait *self, GstClockTime waited)
{
  GstObject *top = gst_object_ref (self->sink), *parent;
  GstClockTime base = gst_element_get_base_time (GST_ELEMENT_CAST (self->sink)) + waited;
  GstIterator *elements;

  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top) && gst_element_get_start_time (GST_ELEMENT_CAST (top)) != GST_CLOCK_TIME_NONE
      && !gst_gid_timing_is_live (self->timing)) {
    gst_element_set_base_time (GST_ELEMENT_CAST (top), base);
    elements = gst_bin_iterate_recurse (GST_BIN_CAST (top));
    while (gst_iterator_foreach (elements, set_base_time, &base) == GST_ITERATOR_RESYNC)
      gst_iterator_resync (elements);
    gst_iterator_free (elements);
  }
  gst_object_unref (top);
}

static GstFlowReturn
wait_for_connection (GstGidWait *self)
{
  GstElement *element = GST_ELEMENT_CAST (self->sink);
  GstClockTime before, after;
  GstFlowReturn ret;

  if (has_consumer_or_end (self))
    return GST_FLOW_OK;
  before = played (element);
  ret = wait_until (self, has_consumer_or_end, 0, TRUE);
  after = played (element);
  if (ret == GST_FLOW_OK && GST_CLOCK_TIME_IS_VALID (before) && GST_CLOCK_TIME_IS_VALID (after)
      && after > before && !g_atomic_int_get (&self->end_is_asked)
      && gst_base_sink_get_sync (self->sink))
    make_up_for (self, after - before);
  return ret;
}

static gboolean
is_for_connection (GstGidWait *self)
{
  gboolean connection;

  GST_OBJECT_LOCK (self->sink);
  connection = self->for_connection;
  GST_OBJECT_UNLOCK (self->sink);
  return connection;
}

/* --- waiting to send -------------------------------------------------------------------------- */

GstFlowReturn
gst_gid_wait_for_gidd (GstGidWait *self, gboolean rendering)
{
  if (!wait_a_step (self))
    return GST_FLOW_OK;
  return rendering ? gst_base_sink_wait_preroll (self->sink) : GST_FLOW_FLUSHING;
}

GstFlowReturn
gst_gid_wait_to_render (GstGidWait *self)
{
  guint patience = gst_gid_publication_get_patience (self->publication);
  GstFlowReturn ret = GST_FLOW_OK;

  if (is_for_connection (self))
    ret = wait_for_connection (self);
  if (patience > 0 && ret == GST_FLOW_OK)
    ret = wait_until (self, has_room, patience, TRUE);
  return ret;
}

GstFlowReturn
gst_gid_wait_to_preroll (GstGidWait *self, gboolean *ready)
{
  gboolean leaky = gst_gid_publication_get_patience (self->publication) == 0;
  gboolean connection = is_for_connection (self);
  gint64 end = g_get_monotonic_time ()
      + gst_gid_publication_get_lease (self->publication) * G_TIME_SPAN_MILLISECOND;

  while (TRUE) {
    gint64 now = g_get_monotonic_time ();
    gboolean consumer = gst_gid_publication_has_consumer (self->publication);

    /* with no consumer, it is sent for those that join during the pause */
    *ready = consumer ? leaky || has_room (self) : !connection;
    if (*ready || !consumer || !gst_gid_timing_is_picture_due (self->timing) || now >= end)
      return GST_FLOW_OK;
    GST_BASE_SINK_PREROLL_WAIT_UNTIL (self->sink, now + WAIT_STEP);
    if (GST_PAD_IS_FLUSHING (GST_BASE_SINK_PAD (self->sink)))
      return GST_FLOW_FLUSHING;
  }
}

void
gst_gid_wait_until_read (GstGidWait *self)
{
  guint patience = gst_gid_publication_get_patience (self->publication), unread;

  if (patience == 0 || !gst_gid_publication_waits (self->publication)) {
    wait_until (self, all_is_read, READ_WAIT_MS, FALSE);
    return;
  }
  unread = gst_gid_publication_count_unread (self->publication);
  while (unread > 0) {
    self->unread = unread;
    wait_until (self, more_is_read, MAX (READ_WAIT_MS, patience), FALSE);
    unread = gst_gid_publication_count_unread (self->publication);
    if (unread >= self->unread)
      break;
  }
}
