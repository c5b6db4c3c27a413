// SPDX-License-Identifier: MIT
#include "gstgidreader.h"

#include "common/gstgid.h"
#include "common/gstgidposter.h"

#define GST_CAT_DEFAULT gst_gid_debug

/*
 * Limits of the poll interval: leases shorter than three times the minimum cannot be renewed in
 * time.
 */
#define POLL_MIN (10 * GST_MSECOND)
#define POLL_MAX (250 * GST_MSECOND)

GstGidReader *
gst_gid_reader_new (GstGidDomain *domain, gboolean wants_dmabufs)
{
  GstGidReader *self = g_new0 (GstGidReader, 1);

  self->refcount = 1;
  self->domain = domain;
  self->wants_dmabufs = wants_dmabufs;
  self->holders = g_hash_table_new (NULL, NULL);
  return self;
}

GstGidReader *
gst_gid_reader_ref (GstGidReader *self)
{
  g_atomic_int_inc (&self->refcount);
  return self;
}

void
gst_gid_reader_unref (GstGidReader *self)
{
  if (g_atomic_int_dec_and_test (&self->refcount)) {
    gst_gid_domain_unref (self->domain);
    g_hash_table_unref (self->holders);
    g_free (self->stream);
    g_free (self);
  }
}

void
gst_gid_reader_add_holder (GstGidReader *self, GstGidTakenFunc taken, gpointer data)
{
  g_hash_table_insert (self->holders, data, (gpointer) taken);
}

void
gst_gid_reader_remove_holder (GstGidReader *self, gpointer data)
{
  g_hash_table_remove (self->holders, data);
}

static guint
count_taken (GstGidReader *self)
{
  GHashTableIter iter;
  gpointer data, taken;
  guint count = self->taken;

  self->taken = 0;
  g_hash_table_iter_init (&iter, self->holders);
  while (g_hash_table_iter_next (&iter, &data, &taken))
    count += ((GstGidTakenFunc) taken) (data);
  return count;
}

/* In ns. */
static guint64
poll_interval (const GstGidReader *self, const struct gid_consumer_stats *stats)
{
  guint64 pause = POLL_MAX;

  if (stats->credit > stats->held && self->interval > 0)
    pause = MIN (pause, (stats->credit - stats->held) * self->interval / 4);
  if (stats->held > 0 && stats->lease_ns > 0)
    pause = MIN (pause, stats->lease_ns / 3);
  return MAX (pause, POLL_MIN); /* whatever the producer says */
}

gboolean
gst_gid_reader_is_too_late (const struct gid_consumer_stats *stats)
{
  return stats->lease_ns > 0 && stats->lease_ns < 3 * POLL_MIN;
}

static void
schedule_poll (GstGidReader *self, guint64 time)
{
  self->poll_time = time;
  g_source_set_ready_time (self->timer, time / GST_USECOND);
}

void
gst_gid_reader_hurry (GstGidReader *self)
{
  struct gid_consumer_stats stats;
  guint64 now = g_get_monotonic_time () * GST_USECOND;
  guint64 pause;

  gid_consumer_get_stats (self->consumer, &stats);
  pause = poll_interval (self, &stats);
  if (self->poll_time > now + 2 * pause)
    schedule_poll (self, now + pause);
}

/* Posts a message for the application each time, and a warning for the user the first time. */
static void
post_taken (GstElement *element, const gchar *stream, guint taken, guint64 all)
{
  gst_element_post_message (element,
      gst_message_new_element (GST_OBJECT_CAST (element),
          gst_structure_new (
              "gid-taken", "frames", G_TYPE_UINT, taken, "all", G_TYPE_UINT64, all, NULL)));
  if (taken == all)
    gst_gid_post_loss (element,
        "This program stood still for longer than the lease of the stream's producer, or that had "
        "no other memory left: see lease=, slots= and credit= of its gidsink",
        "%u frames of the stream \"%s\" were taken back while downstream held them: they may show "
        "other pictures now.",
        taken, stream);
}

/*
 * Whether the element has stopped, and no memory holds a frame any more. Call with the lock held.
 */
static gboolean
is_done (GstGidReader *self)
{
  struct gid_consumer_stats stats;
  struct gid_frame frame;

  if (self->element)
    return FALSE;
  for (guint i = 0; i < GID_CREDIT_MAX && gid_consumer_receive (self->consumer, &frame) == 1; i++)
    gid_consumer_release (self->consumer, &frame);
  gid_consumer_get_stats (self->consumer, &stats);
  return stats.held == 0;
}

static gboolean
poll_reader (gpointer data)
{
  GstGidReader *self = data;
  struct gid_consumer_stats stats;
  GstElement *element = NULL;
  guint64 all;
  guint taken;

  gst_gid_domain_lock (self->domain);
  if (self->consumer && is_done (self))
    gst_gid_reader_stop (self);
  if (self->consumer == NULL) {
    gst_gid_domain_unlock (self->domain);
    return G_SOURCE_REMOVE;
  }
  gid_consumer_get_stats (self->consumer, &stats);
  if (stats.held > 0)
    gid_consumer_renew (self->consumer);
  taken = count_taken (self);
  all = self->all_taken += taken;
  if (self->element && (self->polled || taken > 0))
    element = gst_object_ref (self->element);
  schedule_poll (self, g_get_monotonic_time () * GST_USECOND + poll_interval (self, &stats));
  gst_gid_domain_unlock (self->domain);

  if (element && taken > 0)
    post_taken (element, self->stream, taken, all);
  if (element && self->polled)
    self->polled (self, element, taken);
  gst_clear_object (&element);
  return G_SOURCE_CONTINUE;
}

/* --- waking the streaming thread -------------------------------------------------------------- */

/*
 * The source's ready time is reset before it is dispatched: a later wake-up that was requested just
 * now is set again.
 */
static gboolean
wake (gpointer data)
{
  GstGidReader *self = data;

  gst_gid_domain_lock (self->domain);
  if (self->consumer && self->wake_time > gid_clock_now ()) {
    g_source_set_ready_time (self->waker, (gint64) (self->wake_time / GST_USECOND + 1));
  } else if (self->consumer && self->wake_time > 0) {
    self->wake_time = 0;
    gid_consumer_interrupt (self->consumer);
  }
  gst_gid_domain_unlock (self->domain);
  return G_SOURCE_CONTINUE;
}

void
gst_gid_reader_wake_at (GstGidReader *self, guint64 time)
{
  self->wake_time = time;
  if (self->waker == NULL)
    self->waker = gst_gid_domain_add_timer (
        self->domain, wake, gst_gid_reader_ref (self), (GDestroyNotify) gst_gid_reader_unref);
  else
    g_source_set_ready_time (self->waker, (gint64) (time / GST_USECOND + 1));
}

/* --- start and stop --------------------------------------------------------------------------- */

static void
clear_timer (GSource **timer)
{
  if (*timer)
    g_source_destroy (*timer);
  g_clear_pointer (timer, g_source_unref);
}

void
gst_gid_reader_start (GstGidReader *self, struct gid_consumer *consumer, const gchar *stream,
    GstElement *element, GstGidReaderFunc func)
{
  if (self->stream == NULL)
    self->stream = g_strdup (stream);
  self->consumer = consumer;
  self->element = element;
  self->polled = func;
  self->timer = gst_gid_domain_add_timer (
      self->domain, poll_reader, gst_gid_reader_ref (self), (GDestroyNotify) gst_gid_reader_unref);
}

void
gst_gid_reader_stop (GstGidReader *self)
{
  if (self->consumer == NULL)
    return;
  gid_consumer_destroy (self->consumer);
  self->consumer = NULL;
  self->element = NULL;
  clear_timer (&self->timer);
  clear_timer (&self->waker);
}

void
gst_gid_reader_leave (GstGidReader *self)
{
  if (self->consumer == NULL)
    return;
  self->element = NULL;
  self->owner = NULL;
  clear_timer (&self->waker);
  if (is_done (self))
    gst_gid_reader_stop (self);
  else
    schedule_poll (self, g_get_monotonic_time () * GST_USECOND);
}
