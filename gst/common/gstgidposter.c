// SPDX-License-Identifier: MIT
#include "gstgidposter.h"

void
gst_gid_poster_start (GstGidPoster *self)
{
  self->posted = g_get_monotonic_time ();
}

void
gst_gid_poster_post (GstGidPoster *self, gpointer element, GstGidStatsFunc create, gboolean now)
{
  gint64 time = g_get_monotonic_time ();
  guint interval_ms;

  GST_OBJECT_LOCK (element);
  interval_ms = self->interval_ms;
  GST_OBJECT_UNLOCK (element);
  if (interval_ms == 0 || (!now && time - self->posted < interval_ms * G_GINT64_CONSTANT (1000)))
    return;
  self->posted = time;
  gst_element_post_message (
      element, gst_message_new_element (GST_OBJECT_CAST (element), create (element)));
}

void
gst_gid_post_error (gpointer element, GError *error)
{
  gst_element_message_full (element, GST_MESSAGE_ERROR, error->domain, error->code,
      g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
}

/* Takes the text. */
static void
post_info (gpointer element, GQuark domain, gint code, gchar *text)
{
  gst_element_message_full (element, GST_MESSAGE_INFO, domain, code, text, g_strdup (text),
      __FILE__, GST_FUNCTION, __LINE__);
}

/* Not at the level of a GLib warning, which some programs make fatal. */
static void
write_log (gpointer element, const gchar *text)
{
  g_log ("gid", G_LOG_LEVEL_MESSAGE, "%s: %s", GST_OBJECT_NAME (element), text);
}

void
gst_gid_post_info (gpointer element, GQuark domain, gint code, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  post_info (element, domain, code, g_strdup_vprintf (format, args));
  va_end (args);
}

void
gst_gid_post_notice (gpointer element, GQuark domain, gint code, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  write_log (element, text);
  post_info (element, domain, code, text);
}

void
gst_gid_post_loss (gpointer element, const gchar *detail, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  write_log (element, text);
  gst_element_message_full (element, GST_MESSAGE_WARNING, GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_READ, text, g_strdup (detail), __FILE__, GST_FUNCTION, __LINE__);
}
