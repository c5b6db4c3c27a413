// SPDX-License-Identifier: MIT
#include "gstgidpublication.h"

#include <errno.h>

#include "common/gstgid.h"
#include "common/gstgidposter.h"
#include "common/gstgidtimeline.h"
#include "gstgidprotection.h"

#define GST_CAT_DEFAULT gst_gid_debug

/*
 * Defaults of `lease`. With leaky=false, a reader is also waited for if a busy machine does not
 * schedule it for seconds. Otherwise, late frames are useless to it.
 */
#define LEASE_MS 1000
#define LEASE_PATIENT_MS 10000

/* How often lost frames are counted: counting costs more than sending. */
#define LOOK_LOST G_TIME_SPAN_SECOND

/* --- callbacks of the producer: any thread, with the domain's lock held ----------------------- */

static void
frame_released (void *data, gid_id gid)
{
  GstGidPublication *self = data;

  gst_gid_domain_unhold (self->domain, gid);
  self->wake (self->wake_data);
}

/*
 * gidd has answered a request for a grant: the streaming thread waits for that, without the lock.
 */
static void
frame_granted (void *data, gid_id gid, int error)
{
  GstGidPublication *self = data;

  if (error < 0)
    GST_INFO_OBJECT (self->element, "a reader gets no grant: %s", gid_strerror (error));
  self->wake (self->wake_data);
}

static bool
may_subscribe (void *data, uint32_t domain)
{
  GstGidPublication *self = data;

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
  GstGidPublication *self = data;

  GST_INFO_OBJECT (self->element, "a consumer of domain %u %s, %u now", domain,
      joined ? "came" : "went", consumers);
  self->wake (self->wake_data);
  /* asynchronously, because the domain is locked here, and handlers may read the statistics */
  gst_element_call_async (self->element, post_consumers,
      gst_structure_new ("gid-consumers", "domain", G_TYPE_UINT, domain, "joined", G_TYPE_BOOLEAN,
          (gboolean) joined, "consumers", G_TYPE_UINT, consumers, NULL),
      NULL);
}

/* --- opening and closing ---------------------------------------------------------------------- */

/* In ms. Call with the object lock held. */
static guint
get_lease (const GstGidPublication *self)
{
  if (self->lease_ms > 0)
    return self->lease_ms;
  return self->leaky ? LEASE_MS : LEASE_PATIENT_MS;
}

void
gst_gid_publication_init (
    GstGidPublication *self, GstElement *element, GstGidWakeFunc wake, gpointer data)
{
  self->element = element;
  self->wake = wake;
  self->wake_data = data;
}

gboolean
gst_gid_publication_open (GstGidPublication *self, const gchar *domain_name, GError **error)
{
  if (self->stream == NULL) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "No stream to publish. Set stream=NAME, one that the cockpit's configuration "
        "lets others read.");
    return FALSE;
  }
  self->domain = gst_gid_domain_get_shared (domain_name, error);
  return self->domain != NULL;
}

/* Call with the domain's lock held. */
static gboolean
create_producer (GstGidPublication *self, const gchar *stream, const gchar *readers, gboolean leaky,
    struct gid_producer_options *options, GError **error)
{
  struct gid_producer *producer;
  int ret;

  if (readers && !gst_gid_access_parse (&self->access, self->domain, "readers", readers, error))
    return FALSE;
  options->allow = readers ? may_subscribe : NULL;
  ret = gid_producer_create (gst_gid_domain_get (self->domain), stream, options, &producer);
  if (ret < 0) {
    gst_gid_domain_set_error (self->domain, error, ret,
        "Cannot publish the stream \"%s\" of domain \"%s\"", stream,
        gst_gid_domain_get_name (self->domain));
    return FALSE;
  }
  gst_gid_domain_add_producer (self->domain, producer, leaky);
  if (self->protection)
    gid_protection_protect (self->protection, producer);
  self->producer = producer;
  return TRUE;
}

gboolean
gst_gid_publication_publish (GstGidPublication *self, GError **error)
{
  struct gid_producer_options options = {
    .size = sizeof (options),
    .released = frame_released,
    .subscriber = subscriber_changed,
    .granted = frame_granted,
    .data = self,
    .quiet = true,
    .keeps_shown = true,
  };
  gchar *stream, *readers, *timeline_path, *key;
  gboolean leaky, good;
  gint profile;

  GST_OBJECT_LOCK (self->element);
  leaky = self->leaky;
  options.lease_ns = get_lease (self) * GST_MSECOND;
  options.credit_max = self->credit;
  options.patient = !leaky;
  options.metadata_max = self->max_metadata;
  stream = g_strdup (self->stream);
  readers = g_strdup (self->readers);
  timeline_path = g_strdup (self->timeline_path);
  profile = self->protection_profile;
  key = g_strdup (self->protection_key);
  GST_OBJECT_UNLOCK (self->element);

  self->taken_back = self->told_lost = 0;
  options.timeline = self->timeline = gst_gid_timeline_open (self->element, timeline_path);
  good = gst_gid_protection_open (profile, stream, key, &self->protection, error);
  if (good) {
    gst_gid_domain_lock (self->domain);
    good = create_producer (self, stream, readers, leaky, &options, error);
    gst_gid_domain_unlock (self->domain);
  }
  if (good) {
    self->name = g_steal_pointer (&stream);
  } else {
    g_clear_pointer (&self->protection, gid_protection_destroy);
    g_clear_pointer (&self->timeline, gid_timeline_unref);
  }
  g_free (key);
  g_free (stream);
  g_free (readers);
  g_free (timeline_path);
  return good;
}

static void
destroy_producer (GstGidPublication *self)
{
  struct gid_producer *producer;

  GST_OBJECT_LOCK (self->element);
  gst_gid_domain_lock (self->domain);
  producer = self->producer;
  self->producer = NULL;
  gid_producer_get_stats (producer, &self->last_stats);
  gst_gid_domain_remove_producer (self->domain, producer);
  gid_producer_destroy (producer);
  GST_OBJECT_UNLOCK (self->element);
  gst_gid_domain_unlock (self->domain);
}

void
gst_gid_publication_close (GstGidPublication *self)
{
  if (self->producer)
    destroy_producer (self);
  g_clear_pointer (&self->name, g_free);
  g_clear_pointer (&self->protection, gid_protection_destroy);
  g_clear_pointer (&self->timeline, gid_timeline_unref);
  g_clear_pointer (&self->domain, gst_gid_domain_unref);
}

gboolean
gst_gid_publication_is_published (const GstGidPublication *self)
{
  return self->producer != NULL;
}

/* --- domain and properties -------------------------------------------------------------------- */

gboolean
gst_gid_publication_find_domain (GstGidPublication *self, const gchar *property, const gchar *name,
    guint32 *number, GError **error)
{
  GstGidAccess named;
  gboolean good;

  *number = 0;
  if (name == NULL)
    return TRUE;
  gst_gid_domain_lock (self->domain);
  good = gst_gid_access_parse (&named, self->domain, property, name, error);
  gst_gid_domain_unlock (self->domain);
  for (guint32 i = 1; good && i <= GID_DOMAIN_MAX && *number == 0; i++)
    *number = named.allowed[i] ? i : 0;
  return good;
}

guint
gst_gid_publication_get_lease (GstGidPublication *self)
{
  guint lease_ms;

  GST_OBJECT_LOCK (self->element);
  lease_ms = get_lease (self);
  GST_OBJECT_UNLOCK (self->element);
  return lease_ms;
}

guint
gst_gid_publication_get_patience (GstGidPublication *self)
{
  guint patience;

  GST_OBJECT_LOCK (self->element);
  patience = self->leaky ? 0 : get_lease (self);
  GST_OBJECT_UNLOCK (self->element);
  return patience;
}

/* --- consumers -------------------------------------------------------------------------------- */

/* Calls a function of libgid for the producer. */
static guint
ask (GstGidPublication *self, guint (*question) (const struct gid_producer *))
{
  guint answer;

  gst_gid_domain_lock (self->domain);
  answer = question (self->producer);
  gst_gid_domain_unlock (self->domain);
  return answer;
}

gboolean
gst_gid_publication_has_consumer (GstGidPublication *self)
{
  return ask (self, gid_producer_consumers) > 0;
}

gboolean
gst_gid_publication_has_room (GstGidPublication *self)
{
  gboolean has;

  gst_gid_domain_lock (self->domain);
  has = gid_producer_room (self->producer) > 0;
  if (!has) {
    gid_producer_want_release (self->producer);
    has = gid_producer_room (self->producer) > 0;
  }
  gst_gid_domain_unlock (self->domain);
  return has;
}

gboolean
gst_gid_publication_waits (GstGidPublication *self)
{
  return ask (self, gid_producer_room) < G_MAXUINT32;
}

guint
gst_gid_publication_count_unread (GstGidPublication *self)
{
  return ask (self, gid_producer_unread);
}

gboolean
gst_gid_publication_needs_window (GstGidPublication *self)
{
  gboolean needed;

  gst_gid_domain_lock (self->domain);
  needed = gid_producer_needs_window (self->producer);
  gst_gid_domain_unlock (self->domain);
  return needed;
}

guint
gst_gid_publication_get_showable (
    GstGidPublication *self, struct gid_showable showable[static GID_SHOWABLE_MAX])
{
  int count = 0;

  GST_OBJECT_LOCK (self->element);
  if (self->producer) {
    gst_gid_domain_lock (self->domain);
    count = gid_producer_get_showable (self->producer, showable);
    gst_gid_domain_unlock (self->domain);
  }
  GST_OBJECT_UNLOCK (self->element);
  return count > 0 ? (guint) count : 0;
}

gboolean
gst_gid_publication_get_shown (GstGidPublication *self, guint32 domain, struct gid_shown *shown)
{
  int ret;

  gst_gid_domain_lock (self->domain);
  ret = gid_producer_get_shown (self->producer, domain, shown);
  gst_gid_domain_unlock (self->domain);
  return ret >= 0;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* If a previous attempt has stored the metadata already, it is not stored again. */
static int
put_and_send (GstGidPublication *self, struct gid_frame *frame, const GByteArray *metadata,
    int *metadata_error)
{
  *metadata_error = 0;
  if (frame->metadata == GID_NONE)
    *metadata_error =
        gid_producer_put_metadata (self->producer, frame, metadata->data, metadata->len);
  if (*metadata_error == -EINPROGRESS)
    return -EINPROGRESS;
  return gid_producer_send (self->producer, frame);
}

int
gst_gid_publication_send (GstGidPublication *self, struct gid_frame *frame,
    const GByteArray *metadata, GstBuffer *buffer, GstGidExport *export, int *metadata_error)
{
  int sent;

  gst_gid_domain_lock (self->domain);
  sent = put_and_send (self, frame, metadata, metadata_error);
  if (sent >= 0)
    gst_gid_domain_hold (
        self->domain, self->producer, frame->gid, buffer, (GstMiniObject *) export);
  /* upstream may have few buffers of its own, and none of our pools asks for the release */
  if (export)
    gid_producer_want_release (self->producer);
  gst_gid_domain_unlock (self->domain);
  return sent;
}

void
gst_gid_publication_send_mark (GstGidPublication *self, guint32 flags)
{
  struct gid_frame frame = GID_FRAME_INIT;

  frame.flags = flags;
  gst_gid_domain_lock (self->domain);
  gid_producer_send (self->producer, &frame);
  gst_gid_domain_unlock (self->domain);
}

void
gst_gid_publication_take_back (GstGidPublication *self)
{
  struct gid_producer_stats before, after;

  gst_gid_domain_lock (self->domain);
  gid_producer_get_stats (self->producer, &before);
  while (gid_producer_reclaim (self->producer, false) > 0)
    ;
  gid_producer_get_stats (self->producer, &after);
  self->taken_back += after.dropped - before.dropped;
  gst_gid_domain_unlock (self->domain);
}

/* Frames lost by readers that should have been waited for; 0 if `leaky`. */
static guint64
count_lost (GstGidPublication *self)
{
  struct gid_producer_stats stats;
  guint64 lost = 0;

  if (gst_gid_publication_get_patience (self) > 0) {
    gst_gid_domain_lock (self->domain);
    gid_producer_get_stats (self->producer, &stats);
    lost = stats.dropped + stats.leases_expired - self->taken_back;
    gst_gid_domain_unlock (self->domain);
  }
  return lost;
}

void
gst_gid_publication_tell_lost (GstGidPublication *self, gboolean at_end)
{
  guint64 lost, before = self->told_lost;
  gint64 now = g_get_monotonic_time ();

  if (!at_end && (before > 0 || now - self->looked_lost < LOOK_LOST))
    return;
  self->looked_lost = now;
  lost = count_lost (self);
  if (lost == before)
    return;
  self->told_lost = lost;
  gst_gid_post_loss (self->element,
      "leaky=false waits for each reader, but no longer than lease= without a frame that it takes",
      "%s%" G_GUINT64_FORMAT
      " frames of the stream \"%s\" were lost: a reader took none for %u ms.",
      before > 0 ? "In all " : "", lost, self->name, gst_gid_publication_get_patience (self));
}

void
gst_gid_publication_count_copy (GstGidPublication *self, GstGidCopyReason reason, guint64 bytes)
{
  gst_gid_domain_lock (self->domain);
  gid_producer_count_copy_for (self->producer, gst_gid_copy_reason_shared (reason), bytes);
  gst_gid_domain_unlock (self->domain);
}

void
gst_gid_publication_get_stats (GstGidPublication *self, struct gid_producer_stats *stats)
{
  if (self->producer) {
    gst_gid_domain_lock (self->domain);
    gid_producer_get_stats (self->producer, &self->last_stats);
    gst_gid_domain_unlock (self->domain);
  }
  *stats = self->last_stats;
}
