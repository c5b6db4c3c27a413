// SPDX-License-Identifier: MIT
#include "gstgiddeviceprovider.h"

#include <gid/domain.h>
#include <stdlib.h>

#include "common/gstgid.h"
#include "gstgiddevice.h"

#define GST_CAT_DEFAULT gst_gid_debug

#define POLL_US G_USEC_PER_SEC

struct _GstGidDeviceProvider
{
  GstDeviceProvider parent;

  GThread *thread; /* from start to stop */
  GMutex lock;
  GCond changed;
  gboolean polled; /* at least once; the lock */
  gboolean stopping; /* the lock */
};

G_DEFINE_FINAL_TYPE (GstGidDeviceProvider, gst_gid_device_provider, GST_TYPE_DEVICE_PROVIDER);

/*
 * Returns the streams that exist now. `*domain` is the connection to gidd, which is opened, kept or
 * closed as needed, and used for nothing else.
 */
static GList *
ask (GstGidDeviceProvider *self, struct gid_domain **domain)
{
  GList *devices = NULL;
  char *report = NULL;
  int ret = *domain ? 0 : gid_domain_connect (NULL, domain);

  if (ret == 0)
    ret = gid_domain_status (*domain, &report);
  if (ret == 0) {
    devices = gst_gid_devices_from_report (report);
    free (report);
    return devices;
  }
  GST_DEBUG_OBJECT (self, "no streams are known: %s",
      *domain ? gid_domain_error (*domain) : gid_domain_connect_error ());
  gid_domain_destroy (*domain);
  *domain = NULL;
  return NULL;
}

static GList *
gst_gid_device_provider_probe (GstDeviceProvider *provider)
{
  struct gid_domain *domain = NULL;
  GList *devices = ask (GST_GID_DEVICE_PROVIDER (provider), &domain);

  gid_domain_destroy (domain);
  for (GList *at = devices; at; at = at->next)
    gst_object_ref_sink (at->data);
  return devices;
}

/* --- monitoring ------------------------------------------------------------------------------- */

static GstGidDevice *
find (GList *devices, GstGidDevice *device)
{
  for (GList *at = devices; at; at = at->next) {
    if (gst_gid_device_is_same (at->data, device))
      return at->data;
  }
  return NULL;
}

/*
 * Updates the provider's list and posts messages about the differences. Takes `now`. Only the
 * thread changes the provider's list.
 */
static void
update (GstDeviceProvider *provider, GList *now)
{
  GList *before;

  GST_OBJECT_LOCK (provider);
  before = g_list_copy_deep (provider->devices, (GCopyFunc) (void (*) (void)) gst_object_ref, NULL);
  GST_OBJECT_UNLOCK (provider);
  for (GList *at = before; at; at = at->next) {
    if (find (now, at->data) == NULL)
      gst_device_provider_device_remove (provider, at->data);
  }
  for (GList *at = now; at; at = at->next) {
    GstGidDevice *old = find (before, at->data);

    gst_object_ref_sink (at->data);
    if (old == NULL)
      gst_device_provider_device_add (provider, at->data);
    else if (gst_gid_device_is_outdated (old, at->data))
      gst_device_provider_device_changed (provider, at->data, GST_DEVICE (old));
  }
  g_list_free_full (before, gst_object_unref);
  g_list_free_full (now, gst_object_unref);
}

static gpointer
poll_streams (gpointer data)
{
  GstGidDeviceProvider *self = data;
  struct gid_domain *domain = NULL;
  gboolean stopping = FALSE;

  while (!stopping) {
    update (GST_DEVICE_PROVIDER (self), ask (self, &domain));
    g_mutex_lock (&self->lock);
    self->polled = TRUE;
    g_cond_broadcast (&self->changed);
    if (!self->stopping)
      g_cond_wait_until (&self->changed, &self->lock, g_get_monotonic_time () + POLL_US);
    stopping = self->stopping;
    g_mutex_unlock (&self->lock);
  }
  gid_domain_destroy (domain);
  return NULL;
}

/* Waits for the first list, but for no longer than an interval if gidd does not answer. */
static gboolean
gst_gid_device_provider_start (GstDeviceProvider *provider)
{
  GstGidDeviceProvider *self = GST_GID_DEVICE_PROVIDER (provider);
  gint64 end = g_get_monotonic_time () + POLL_US;

  self->polled = self->stopping = FALSE;
  self->thread = g_thread_new ("gid-devices", poll_streams, self);
  g_mutex_lock (&self->lock);
  while (!self->polled && g_cond_wait_until (&self->changed, &self->lock, end))
    ;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static void
gst_gid_device_provider_stop (GstDeviceProvider *provider)
{
  GstGidDeviceProvider *self = GST_GID_DEVICE_PROVIDER (provider);

  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  g_thread_join (self->thread);
  self->thread = NULL;
}

/* --- the object ------------------------------------------------------------------------------- */

static void
gst_gid_device_provider_finalize (GObject *object)
{
  GstGidDeviceProvider *self = GST_GID_DEVICE_PROVIDER (object);

  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (gst_gid_device_provider_parent_class)->finalize (object);
}

static void
gst_gid_device_provider_class_init (GstGidDeviceProviderClass *klass)
{
  GstDeviceProviderClass *provider_class = GST_DEVICE_PROVIDER_CLASS (klass);

  provider_class->probe = gst_gid_device_provider_probe;
  provider_class->start = gst_gid_device_provider_start;
  provider_class->stop = gst_gid_device_provider_stop;
  G_OBJECT_CLASS (klass)->finalize = gst_gid_device_provider_finalize;
  gst_device_provider_class_set_static_metadata (provider_class, "gidway streams", "Source/Video",
      "Lists and monitors the gidway streams that this domain may read", "The gidway authors");
}

static void
gst_gid_device_provider_init (GstGidDeviceProvider *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
}
