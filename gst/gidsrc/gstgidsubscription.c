// SPDX-License-Identifier: MIT
#include "gstgidsubscription.h"

#include <errno.h>

#include "common/gstgid.h"
#include "common/gstgidposter.h"
#include "common/gstgidtimeline.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* --- the consumer's callbacks: with the domain's lock held ------------------------------------- */

static void
state_changed (void *data, enum gid_consumer_state state, int reason)
{
  GstGidSubscription *self = data;

  if (state != GID_CONSUMER_LIVE)
    self->reader->epoch++;
  self->state = state;
  self->reason = reason;
}

/* Whether the reason may pass: nobody answers, or not yet. */
static gboolean
may_pass (int error)
{
  return error == -ENOTCONN || error == -ETIMEDOUT || error == -EAGAIN;
}

/* What became of asking for the stream. */
static void
answered (void *data, int error)
{
  GstGidSubscription *self = data;

  if (error == 0) {
    self->subscribed = TRUE;
  } else if (!self->subscribed && self->refusal == NULL) {
    self->reason = error;
    if (!self->waits || !may_pass (error))
      gst_gid_domain_set_error (self->reader->domain, &self->refusal, error,
          "Cannot subscribe to the stream %s", self->asked_for);
  }
  self->answered = TRUE;
  gid_consumer_interrupt (self->reader->consumer);
}

/* --- its life ----------------------------------------------------------------------------------- */

void
gst_gid_subscription_init (GstGidSubscription *self, GstElement *element)
{
  self->element = element;
}

static gboolean
subscribe (GstGidSubscription *self, const gchar *domain, const gchar *stream,
    struct gid_consumer_options *options, GstGidReaderFunc polled, GError **error)
{
  GstGidDomain *own = self->reader->domain;
  struct gid_consumer *consumer;
  int ret;

  self->asked_for = g_strdup_printf (
      "\"%s\" of domain \"%s\"", stream, domain ? domain : gst_gid_domain_get_name (own));
  ret = gid_consumer_create (gst_gid_domain_lock (own), domain, stream, options, &consumer);
  if (ret == 0) {
    gst_gid_reader_start (self->reader, consumer, stream, self->element, polled);
    self->state = gid_consumer_get_state (consumer);
  } else {
    gst_gid_domain_set_error (
        own, error, ret, "Cannot subscribe to the stream %s", self->asked_for);
    g_clear_pointer (&self->asked_for, g_free);
  }
  gst_gid_domain_unlock (own);
  return ret == 0;
}

gboolean
gst_gid_subscription_start (GstGidSubscription *self, guint credit, gboolean drop_old,
    GstGidReaderFunc polled, GError **error)
{
  struct gid_consumer_options options = {
    .size = sizeof (options),
    .sleeps = true,
    .state = state_changed,
    .data = self,
    .answered = answered, /* a change of state waits for no other program */
    .credit = credit,
    .drop_old = drop_old,
  };
  gchar *domain, *stream, *reader_name, *timeline_path;
  GstGidDomain *own;
  gboolean dmabuf, good = FALSE;

  GST_OBJECT_LOCK (self->element);
  domain = g_strdup (self->domain);
  stream = g_strdup (self->stream);
  reader_name = g_strdup (self->reader_name);
  timeline_path = g_strdup (self->timeline_path);
  dmabuf = self->dmabuf;
  self->waits = self->reconnect;
  options.reconnect = self->waits;
  GST_OBJECT_UNLOCK (self->element);

  self->posted_state = 0;
  self->reason = 0;
  self->answered = self->subscribed = FALSE;
  if (stream == NULL) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "No stream to read. Set stream=NAME; gidctl list shows those there are.");
  } else if ((own = gst_gid_domain_new (reader_name, error))) {
    self->reader = gst_gid_reader_new (own, dmabuf);
    options.timeline = self->timeline = gst_gid_timeline_open (self->element, timeline_path);
    good = subscribe (self, domain, stream, &options, polled, error);
    if (!good) {
      g_clear_pointer (&self->timeline, gid_timeline_unref);
      g_clear_pointer (&self->reader, gst_gid_reader_unref);
    }
  }
  g_free (domain);
  g_free (stream);
  g_free (reader_name);
  g_free (timeline_path);
  return good;
}

void
gst_gid_subscription_stop (GstGidSubscription *self)
{
  GstGidReader *reader = self->reader;

  GST_OBJECT_LOCK (self->element);
  gst_gid_domain_lock (reader->domain);
  gid_consumer_get_stats (reader->consumer, &self->last_stats);
  gst_gid_reader_stop (reader);
  gst_gid_domain_unlock (reader->domain);
  self->reader = NULL;
  GST_OBJECT_UNLOCK (self->element);
  gst_gid_reader_unref (reader);
  g_clear_pointer (&self->timeline, gid_timeline_unref);
  g_clear_pointer (&self->asked_for, g_free);
  g_clear_error (&self->refusal);
}

GstGidReader *
gst_gid_subscription_get_reader (const GstGidSubscription *self)
{
  return self->reader;
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
    gid_consumer_get_stats (self->reader->consumer, &self->last_stats);
    gst_gid_domain_unlock (self->reader->domain);
  }
  *stats = self->last_stats;
}

/* --- what became of it -------------------------------------------------------------------------- */

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
  if (outcome->state == GID_CONSUMER_WAITING && outcome->reason == 0)
    why = "nobody produces it now";
  GST_INFO_OBJECT (self->element, "the stream is %s%s%s", name, *why ? ": " : "", why);
  /* for people: gst-launch-1.0 shows it */
  if (outcome->state == GID_CONSUMER_WAITING)
    GST_ELEMENT_INFO (self->element, RESOURCE, NOT_FOUND,
        ("Waiting for the stream \"%s\": %s", self->stream, why),
        ("`gidctl list` shows the streams that there are"));
  gst_element_post_message (self->element,
      gst_message_new_element (GST_OBJECT_CAST (self->element),
          gst_structure_new (
              "gid-state", "state", G_TYPE_STRING, name, "reason", G_TYPE_STRING, why, NULL)));
  return TRUE;
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
      ("The stream \"%s\" ended unexpectedly: %s", self->stream,
          reason == -EPERM ? "this domain may not read it. See [share] in the cockpit's "
                             "configuration, and readers= of its gidsink"
                           : gid_strerror (reason)),
      ("reconnect=true waits for it to come back"));
  return TRUE;
}
