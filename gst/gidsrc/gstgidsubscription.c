// SPDX-License-Identifier: MIT
#include "gstgidsubscription.h"

#include <errno.h>

#include "common/gstgid.h"
#include "common/gstgidposter.h"
#include "common/gstgidtimeline.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* A producer that is started at about the same time has published its stream by then. */
#define LONG_WAIT (5 * GST_SECOND)

/* --- callbacks of the consumer: with the domain's lock held ----------------------------------- */

static void
state_changed (void *data, enum gid_consumer_state state, int reason)
{
  GstGidReader *reader = data;
  GstGidSubscription *self = reader->owner;

  if (state != GID_CONSUMER_LIVE)
    reader->epoch++;
  if (self == NULL)
    return;
  self->state = state;
  self->reason = reason;
}

/* Whether the error may be temporary: there is no answer, or not yet. */
static gboolean
may_pass (int error)
{
  return error == -ENOTCONN || error == -ETIMEDOUT || error == -EAGAIN;
}

static void
refuse (GstGidSubscription *self, int error)
{
  GstGidDomain *own = self->reader->domain;

  gst_gid_domain_set_error (own, &self->refusal, error,
      "Cannot subscribe to the stream \"%s\" of domain \"%s\"", self->asked_stream,
      self->asked_domain ? self->asked_domain : gst_gid_domain_get_name (own));
}

/* gidd has answered the subscription. */
static void
answered (void *data, int error)
{
  GstGidReader *reader = data;
  GstGidSubscription *self = reader->owner;

  if (self == NULL)
    return;
  if (error == 0) {
    self->subscribed = TRUE;
  } else if (!self->subscribed && self->refusal == NULL) {
    self->reason = error;
    if (!self->waits || !may_pass (error))
      refuse (self, error);
  }
  self->answered = TRUE;
  gid_consumer_interrupt (self->reader->consumer);
}

/* --- start and stop --------------------------------------------------------------------------- */

void
gst_gid_subscription_init (GstGidSubscription *self, GstElement *element)
{
  self->element = element;
}

gboolean
gst_gid_subscription_start (GstGidSubscription *self, guint credit, gboolean drop_old,
    GstGidReaderFunc polled, GError **error)
{
  gchar *reader_name, *timeline_path;
  GstGidDomain *own = NULL;
  gboolean dmabuf;

  GST_OBJECT_LOCK (self->element);
  self->asked_domain = g_strdup (self->domain);
  self->asked_stream = g_strdup (self->stream);
  reader_name = g_strdup (self->reader_name);
  timeline_path = g_strdup (self->timeline_path);
  dmabuf = self->dmabuf;
  self->waits = self->reconnect;
  GST_OBJECT_UNLOCK (self->element);

  self->credit = credit;
  self->drop_old = drop_old;
  self->polled = polled;
  self->posted_state = self->state = 0;
  self->reason = 0;
  self->answered = self->subscribed = self->told_waiting = FALSE;
  self->waits_since = 0;
  memset (&self->last_stats, 0, sizeof (self->last_stats));
  if (self->asked_stream == NULL)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "No stream to read. Set stream=NAME; gidctl list shows those there are.");
  else
    own = gst_gid_domain_new (reader_name, error);
  if (own) {
    self->reader = gst_gid_reader_new (own, dmabuf);
    self->timeline = gst_gid_timeline_open (self->element, timeline_path);
  } else {
    g_clear_pointer (&self->asked_domain, g_free);
    g_clear_pointer (&self->asked_stream, g_free);
  }
  g_free (reader_name);
  g_free (timeline_path);
  return own != NULL;
}

gboolean
gst_gid_subscription_subscribe (GstGidSubscription *self)
{
  GstGidReader *reader = self->reader;
  struct gid_consumer_options options = {
    .size = sizeof (options),
    .sleeps = true,
    .state = state_changed,
    .data = reader,
    .answered = answered, /* so that the streaming thread does not wait for other programs */
    .credit = self->credit,
    .drop_old = self->drop_old,
    .reconnect = self->waits,
    .timeline = self->timeline,
  };
  struct gid_consumer *consumer;
  int ret;

  if (reader->consumer || self->refusal)
    return reader->consumer != NULL;
  self->answered = FALSE;
  reader->owner = self;
  ret = gid_consumer_create (gst_gid_domain_get (reader->domain), self->asked_domain,
      self->asked_stream, &options, &consumer);
  if (ret < 0) {
    refuse (self, ret);
    return FALSE;
  }
  gst_gid_reader_start (reader, consumer, self->asked_stream, self->element, self->polled);
  self->state = gid_consumer_get_state (consumer);
  return TRUE;
}

static void
keep_stats (GstGidSubscription *self)
{
  if (self->reader->consumer)
    gid_consumer_get_stats (self->reader->consumer, &self->last_stats);
}

void
gst_gid_subscription_unsubscribe (GstGidSubscription *self)
{
  keep_stats (self);
  gst_gid_reader_stop (self->reader);
}

void
gst_gid_subscription_stop (GstGidSubscription *self)
{
  GstGidReader *reader = self->reader;

  GST_OBJECT_LOCK (self->element);
  gst_gid_domain_lock (reader->domain);
  keep_stats (self);
  gst_gid_reader_leave (reader);
  gst_gid_domain_unlock (reader->domain);
  self->reader = NULL;
  GST_OBJECT_UNLOCK (self->element);
  gst_gid_reader_unref (reader);
  g_clear_pointer (&self->timeline, gid_timeline_unref);
  g_clear_pointer (&self->asked_domain, g_free);
  g_clear_pointer (&self->asked_stream, g_free);
  g_clear_error (&self->refusal);
}

GstGidReader *
gst_gid_subscription_get_reader (const GstGidSubscription *self)
{
  return self->reader;
}

const gchar *
gst_gid_subscription_get_name (const GstGidSubscription *self)
{
  return self->asked_stream;
}

const gchar *
gst_gid_subscription_get_domain (const GstGidSubscription *self)
{
  return self->domain;
}

const gchar *
gst_gid_subscription_get_stream (const GstGidSubscription *self)
{
  return self->stream;
}

void
gst_gid_subscription_get_stats (GstGidSubscription *self, struct gid_consumer_stats *stats)
{
  if (self->reader) {
    gst_gid_domain_lock (self->reader->domain);
    if (self->reader->consumer)
      gid_consumer_get_stats (self->reader->consumer, &self->last_stats);
    gst_gid_domain_unlock (self->reader->domain);
  }
  *stats = self->last_stats;
}

/* --- reports ---------------------------------------------------------------------------------- */

GstGidOutcome
gst_gid_subscription_get_outcome (const GstGidSubscription *self)
{
  return (GstGidOutcome) {
    .state = self->state,
    .reason = self->reason,
    .known = self->answered || self->state == GID_CONSUMER_ENDED,
    .refused = self->refusal != NULL,
  };
}

static const gchar *
explain_waiting (const GstGidOutcome *outcome)
{
  if (outcome->reason)
    return gid_strerror (outcome->reason);
  return outcome->known ? "nobody produces it now" : "gidd has not answered yet";
}

gboolean
gst_gid_subscription_post_state (GstGidSubscription *self, const GstGidOutcome *outcome)
{
  static const gchar *names[] = {
    [GID_CONSUMER_WAITING] = "waiting",
    [GID_CONSUMER_LIVE] = "live",
    [GID_CONSUMER_ENDED] = "ended",
  };
  const gchar *name = names[outcome->state];
  const gchar *why = outcome->reason ? gid_strerror (outcome->reason) : "";

  if (outcome->state == self->posted_state)
    return FALSE;
  self->posted_state = outcome->state;
  if (outcome->state == GID_CONSUMER_WAITING)
    why = explain_waiting (outcome);
  GST_INFO_OBJECT (self->element, "the stream is %s%s%s", name, *why ? ": " : "", why);
  if (outcome->state == GID_CONSUMER_WAITING)
    gst_gid_post_info (self->element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "Waiting for the stream \"%s\": %s. `gidctl list` shows the streams that there are",
        self->asked_stream, why);
  gst_element_post_message (self->element,
      gst_message_new_element (GST_OBJECT_CAST (self->element),
          gst_structure_new (
              "gid-state", "state", G_TYPE_STRING, name, "reason", G_TYPE_STRING, why, NULL)));
  return TRUE;
}

void
gst_gid_subscription_note_waiting (GstGidSubscription *self, const GstGidOutcome *outcome)
{
  guint64 now = gid_clock_now ();

  if (outcome->state != GID_CONSUMER_WAITING || self->told_waiting) {
    self->waits_since = 0;
    return;
  }
  if (self->waits_since == 0)
    self->waits_since = now;
  if (now - self->waits_since < LONG_WAIT) {
    gst_gid_domain_lock (self->reader->domain);
    gst_gid_reader_wake_at (self->reader, self->waits_since + LONG_WAIT);
    gst_gid_domain_unlock (self->reader->domain);
    return;
  }
  self->told_waiting = TRUE;
  gst_gid_post_notice (self->element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "Still waiting for the stream \"%s\" of domain \"%s\": %s. `gidctl list` shows the streams "
      "that there are; reconnect=false does not wait",
      self->asked_stream,
      self->asked_domain ? self->asked_domain : gst_gid_domain_get_name (self->reader->domain),
      explain_waiting (outcome));
}

gboolean
gst_gid_subscription_post_end (GstGidSubscription *self, int error)
{
  int reason = error != -EPIPE ? error : self->reason;

  if (self->refusal) {
    gst_gid_post_error (self->element, g_error_copy (self->refusal));
    return TRUE;
  }
  if (reason >= 0)
    return FALSE;
  GST_ELEMENT_ERROR (self->element, RESOURCE, READ,
      ("The stream \"%s\" ended unexpectedly: %s", self->asked_stream,
          reason == -EPERM ? "this domain may not read it. See [share] in the cockpit's "
                             "configuration, and readers= of its gidsink"
                           : gid_strerror (reason)),
      ("reconnect=true waits for it to come back"));
  return TRUE;
}
