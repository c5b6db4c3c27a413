// SPDX-License-Identifier: MIT
/** GstURIHandler for gid://DOMAIN/STREAM, by which playbin3 and uridecodebin3 find gidsrc. */
#include "gstgidsrc.h"

#define SCHEME "gid"

static GstURIType
get_type (GType type)
{
  return GST_URI_SRC;
}

static const gchar *const *
get_protocols (GType type)
{
  static const gchar *const protocols[] = { SCHEME, NULL };

  return protocols;
}

static gchar *
get_uri (GstURIHandler *handler)
{
  GstGidSrc *self = GST_GID_SRC (handler);
  const gchar *domain, *stream;
  gchar *uri = NULL;

  GST_OBJECT_LOCK (self);
  domain = gst_gid_subscription_get_domain (&self->subscription);
  stream = gst_gid_subscription_get_stream (&self->subscription);
  if (stream)
    uri = g_strdup_printf (SCHEME "://%s/%s", domain ? domain : "", stream);
  GST_OBJECT_UNLOCK (self);
  return uri;
}

/* Names have no characters that must be escaped in a URI; the name of a stream may have a slash. */
static gboolean
parse (const gchar *uri, gchar **domain, gchar **stream)
{
  const gchar *begin, *slash;

  if (!gst_uri_has_protocol (uri, SCHEME) || !g_str_has_prefix (uri + strlen (SCHEME), "://"))
    return FALSE;
  begin = uri + strlen (SCHEME "://");
  slash = strchr (begin, '/');
  if (slash == NULL || !gid_name_is_valid (slash + 1))
    return FALSE;
  *domain = slash > begin ? g_strndup (begin, slash - begin) : NULL;
  if (*domain && !gid_name_is_valid (*domain)) {
    g_clear_pointer (domain, g_free);
    return FALSE;
  }
  *stream = g_strdup (slash + 1);
  return TRUE;
}

static gboolean
set_uri (GstURIHandler *handler, const gchar *uri, GError **error)
{
  GstGidSrc *self = GST_GID_SRC (handler);
  gchar *domain, *stream;

  if (GST_STATE (self) > GST_STATE_READY) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE,
        "The stream of %s can be changed while it is stopped only.", GST_OBJECT_NAME (self));
    return FALSE;
  }
  if (!parse (uri, &domain, &stream)) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "\"%s\" names no stream: write gid://DOMAIN/STREAM, as gid://open/movie, or "
        "gid:///STREAM for one of this domain.",
        uri);
    return FALSE;
  }
  g_object_set (self, "domain", domain, "stream", stream, NULL);
  gst_gid_announcement_want (&self->announcement);
  g_free (domain);
  g_free (stream);
  return TRUE;
}

void
gst_gid_src_init_uri_handler (gpointer interface, gpointer data)
{
  GstURIHandlerInterface *handler = interface;

  handler->get_type = get_type;
  handler->get_protocols = get_protocols;
  handler->get_uri = get_uri;
  handler->set_uri = set_uri;
}
