// SPDX-License-Identifier: MIT
#include "gstgiddevice.h"

#include <systemd/sd-json.h>

#include "common/gstgidlayout.h"

struct _GstGidDevice
{
  GstDevice parent;

  gchar *domain, *stream;
  gboolean has_caps; /* of the stream's pictures; otherwise the caps are the template */
};

G_DEFINE_FINAL_TYPE (GstGidDevice, gst_gid_device, GST_TYPE_DEVICE);

static GstElement *
gst_gid_device_create_element (GstDevice *device, const gchar *name)
{
  GstGidDevice *self = GST_GID_DEVICE (device);
  GstElement *element = gst_element_factory_make ("gidsrc", name);

  if (element)
    g_object_set (element, "domain", self->domain, "stream", self->stream, NULL);
  return element;
}

static gboolean
gst_gid_device_reconfigure_element (GstDevice *device, GstElement *element)
{
  GstGidDevice *self = GST_GID_DEVICE (device);
  GstElementFactory *factory = gst_element_get_factory (element);

  if (factory == NULL || !g_str_equal (GST_OBJECT_NAME (factory), "gidsrc")
      || GST_STATE (element) > GST_STATE_READY)
    return FALSE;
  g_object_set (element, "domain", self->domain, "stream", self->stream, NULL);
  return TRUE;
}

static void
gst_gid_device_finalize (GObject *object)
{
  GstGidDevice *self = GST_GID_DEVICE (object);

  g_free (self->domain);
  g_free (self->stream);
  G_OBJECT_CLASS (gst_gid_device_parent_class)->finalize (object);
}

static void
gst_gid_device_class_init (GstGidDeviceClass *klass)
{
  GST_DEVICE_CLASS (klass)->create_element = gst_gid_device_create_element;
  GST_DEVICE_CLASS (klass)->reconfigure_element = gst_gid_device_reconfigure_element;
  G_OBJECT_CLASS (klass)->finalize = gst_gid_device_finalize;
}

static void
gst_gid_device_init (GstGidDevice *self)
{
}

gboolean
gst_gid_device_is_same (GstGidDevice *self, GstGidDevice *other)
{
  return g_str_equal (self->domain, other->domain) && g_str_equal (self->stream, other->stream);
}

gboolean
gst_gid_device_is_outdated (GstGidDevice *self, GstGidDevice *later)
{
  GstCaps *caps = gst_device_get_caps (GST_DEVICE (self));
  GstCaps *other = gst_device_get_caps (GST_DEVICE (later));
  gboolean outdated = later->has_caps && !gst_caps_is_equal (caps, other);

  gst_caps_unref (caps);
  gst_caps_unref (other);
  return outdated;
}

/* --- gidd's report ---------------------------------------------------------------------------- */

static const gchar *
get_text (sd_json_variant *object, const gchar *key)
{
  sd_json_variant *field = sd_json_variant_by_key (object, key);

  return field && sd_json_variant_is_string (field) ? sd_json_variant_string (field) : "";
}

static gint
get_size (sd_json_variant *object, const gchar *key)
{
  sd_json_variant *field = sd_json_variant_by_key (object, key);
  guint64 size =
      field && sd_json_variant_is_unsigned (field) ? sd_json_variant_unsigned (field) : 0;

  return (gint) MIN (size, G_MAXINT);
}

static GstCaps *
caps_of (sd_json_variant *picture)
{
  const gchar *letters = get_text (picture, "format");
  gint width = get_size (picture, "width"), height = get_size (picture, "height");
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;

  if (strlen (letters) == 4)
    format = gst_video_dma_drm_fourcc_to_format (
        GST_MAKE_FOURCC (letters[0], letters[1], letters[2], letters[3]));
  if (format == GST_VIDEO_FORMAT_UNKNOWN || width == 0 || height == 0)
    return NULL;
  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      gst_video_format_to_string (format), "width", G_TYPE_INT, width, "height", G_TYPE_INT, height,
      NULL);
}

/*
 * The caps of a stream, by the pictures that a reader in this domain receives; NULL: no one reads
 * it.
 */
static GstCaps *
find_caps (sd_json_variant *report, const gchar *domain, const gchar *stream)
{
  sd_json_variant *all = sd_json_variant_by_key (report, "subscriptions");
  GstCaps *caps = NULL;

  for (size_t i = 0; all && caps == NULL && i < sd_json_variant_elements (all); i++) {
    sd_json_variant *one = sd_json_variant_by_index (all, i);
    sd_json_variant *picture = sd_json_variant_by_key (one, "picture");

    if (picture && g_str_equal (get_text (one, "domain"), domain)
        && g_str_equal (get_text (one, "stream"), stream))
      caps = caps_of (picture);
  }
  return caps;
}

static GstDevice *
device_new (sd_json_variant *report, const gchar *domain, const gchar *stream)
{
  gchar *name = g_strdup_printf ("%s (%s)", stream, domain);
  gchar *uri = g_strdup_printf ("gid://%s/%s", domain, stream);
  GstStructure *properties = gst_structure_new ("gid-proplist", "device.api", G_TYPE_STRING, "gid",
      "gid.domain", G_TYPE_STRING, domain, "gid.stream", G_TYPE_STRING, stream, "gid.uri",
      G_TYPE_STRING, uri, NULL);
  GstCaps *known = find_caps (report, domain, stream);
  GstCaps *caps = known ? gst_caps_ref (known) : gst_gid_caps_template (TRUE);
  GstGidDevice *self = g_object_new (GST_TYPE_GID_DEVICE, "display-name", name, "device-class",
      "Video/Source", "caps", caps, "properties", properties, NULL);

  self->domain = g_strdup (domain);
  self->stream = g_strdup (stream);
  self->has_caps = known != NULL;
  gst_clear_caps (&known);
  gst_caps_unref (caps);
  gst_structure_free (properties);
  g_free (uri);
  g_free (name);
  return GST_DEVICE (self);
}

/*
 * Adds the streams of a list in the report. Each says which domain owns it, unless `owner` is
 * given.
 */
static GList *
add_devices (GList *devices, sd_json_variant *report, const gchar *list, const gchar *owner)
{
  sd_json_variant *all = sd_json_variant_by_key (report, list);

  for (size_t i = 0; all && i < sd_json_variant_elements (all); i++) {
    sd_json_variant *one = sd_json_variant_by_index (all, i);
    const gchar *domain = owner ? owner : get_text (one, "domain");
    const gchar *stream = get_text (one, "name");

    if (gid_name_is_valid (domain) && gid_name_is_valid (stream))
      devices = g_list_prepend (devices, device_new (report, domain, stream));
  }
  return devices;
}

GList *
gst_gid_devices_from_report (const gchar *json)
{
  sd_json_variant *report = NULL;
  GList *devices = NULL;

  if (sd_json_parse (json, 0, &report, NULL, NULL) < 0)
    return NULL;
  devices = add_devices (devices, report, "streams", get_text (report, "domain"));
  devices = add_devices (devices, report, "readable", NULL);
  sd_json_variant_unref (report);
  return g_list_reverse (devices);
}
