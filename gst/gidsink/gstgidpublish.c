// SPDX-License-Identifier: MIT
/** The sink as libgid's producer: from its publication to its end, and what libgid tells of it. */
#include "common/gstgid.h"
#include "common/gstgidtimeline.h"
#include "gstgidsink.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* --- the producer's callbacks: with the domain's lock held, on any thread ---------------------- */

static void
wake_waiters (GstGidSink *self)
{
  g_mutex_lock (&self->wait_lock);
  self->woken = TRUE;
  if (self->waiting) /* a signal to nobody would be a system call for each frame */
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

static bool
may_subscribe (void *data, uint32_t domain)
{
  GstGidSink *self = data;

  return domain <= GID_DOMAIN_MAX && self->access.allowed[domain];
}

static void
post_consumers (GstElement *element, gpointer data)
{
  gst_element_post_message (element, gst_message_new_element (GST_OBJECT_CAST (element), data));
}

static void
subscriber_changed (void *data, uint32_t domain, bool joined, uint32_t consumers)
{
  GstGidSink *self = data;

  GST_INFO_OBJECT (
      self, "a consumer of domain %u %s, %u now", domain, joined ? "came" : "went", consumers);
  wake_waiters (self);
  /* not from here, where the domain is locked: handlers may well ask for the statistics */
  gst_element_call_async (GST_ELEMENT_CAST (self), post_consumers,
      gst_structure_new ("gid-consumers", "domain", G_TYPE_UINT, domain, "joined", G_TYPE_BOOLEAN,
          (gboolean) joined, "consumers", G_TYPE_UINT, consumers, NULL),
      NULL);
}

/* Whose display counts. With the domain's lock held. */
static gboolean
find_display (GstGidSink *self, const gchar *name, GError **error)
{
  GstGidAccess named;

  self->display_number = 0;
  if (name == NULL)
    return TRUE;
  if (!gst_gid_access_parse (&named, self->domain, "display-domain", name, error))
    return FALSE;
  for (guint32 i = 1; i <= GID_DOMAIN_MAX && self->display_number == 0; i++)
    self->display_number = named.allowed[i] ? i : 0;
  return TRUE;
}

/* --- its life ------------------------------------------------------------------------------------ */

gboolean
gst_gid_sink_publish (GstGidSink *self, GError **error)
{
  struct gid_producer_options options = {
    .size = sizeof (options),
    .released = frame_released,
    .subscriber = subscriber_changed,
    .data = self,
    .quiet = true,
    .keeps_shown = true,
  };
  struct gid_producer *producer;
  gchar *stream, *readers, *display_domain, *timeline_path;
  gboolean leaky, good;
  int ret;

  GST_OBJECT_LOCK (self);
  leaky = self->leaky;
  options.lease_ns = self->lease_ms * GST_MSECOND;
  options.credit_max = self->credit;
  options.patient = !leaky;
  options.metadata_max = self->max_metadata;
  stream = g_strdup (self->stream);
  readers = g_strdup (self->readers);
  display_domain = g_strdup (self->display_domain);
  timeline_path = g_strdup (self->timeline_path);
  GST_OBJECT_UNLOCK (self);

  options.timeline = self->timeline =
      gst_gid_timeline_open (GST_ELEMENT_CAST (self), timeline_path);
  g_free (timeline_path);

  gst_gid_domain_lock (self->domain);
  good = (readers == NULL
             || gst_gid_access_parse (&self->access, self->domain, "readers", readers, error))
      && find_display (self, display_domain, error);
  if (good) {
    options.allow = readers ? may_subscribe : NULL;
    ret = gid_producer_create (gst_gid_domain_get (self->domain), stream, &options, &producer);
    good = ret == 0;
    if (good) {
      gst_gid_domain_add_producer (self->domain, producer, leaky);
      self->producer = producer;
    } else {
      gst_gid_domain_set_error (self->domain, error, ret,
          "Cannot publish the stream \"%s\" of domain \"%s\"", stream,
          gst_gid_domain_get_name (self->domain));
    }
  }
  gst_gid_domain_unlock (self->domain);
  if (!good)
    g_clear_pointer (&self->timeline, gid_timeline_unref);
  g_free (stream);
  g_free (readers);
  g_free (display_domain);
  return good;
}

void
gst_gid_sink_unpublish (GstGidSink *self)
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
  g_clear_pointer (&self->timeline, gid_timeline_unref);
}
