// SPDX-License-Identifier: MIT
#include "gstgidchoice.h"

#include "common/gstgid.h"
#include "common/gstgidcaps.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* Interval at which the consumers' formats are checked, in ns. */
#define CHECK_NS GST_SECOND
/*
 * The interval at which upstream is asked to renegotiate doubles each time: 2^n s, up to about an
 * hour.
 */
#define DOUBLED_MAX 12

void
gst_gid_choice_init (
    GstGidChoice *self, GstBaseSink *sink, GstGidPublication *publication, GstGidSlots *slots)
{
  self->sink = sink;
  self->publication = publication;
  self->slots = slots;
  self->reported = g_hash_table_new (NULL, NULL);
}

void
gst_gid_choice_finish (GstGidChoice *self)
{
  g_hash_table_unref (self->reported);
}

void
gst_gid_choice_start (GstGidChoice *self)
{
  g_atomic_int_set (&self->only_raw, FALSE);
  self->next_check = self->next_reconfigure = 0;
  self->asked = 0;
  GST_OBJECT_LOCK (self->sink);
  g_hash_table_remove_all (self->reported);
  GST_OBJECT_UNLOCK (self->sink);
}

static GstCaps *
preferred_caps (GstGidChoice *self, const struct gid_showable *showable, guint count)
{
  return gst_gid_caps_from_showable (showable, count,
      gst_gid_slots_are_dmabufs (self->slots) ? GID_SHOWABLE_DMABUF : GID_SHOWABLE_SHARED,
      !g_atomic_int_get (&self->only_raw));
}

GstCaps *
gst_gid_choice_create_caps (GstGidChoice *self)
{
  struct gid_showable showable[GID_SHOWABLE_MAX];
  guint count = gst_gid_publication_get_showable (self->publication, showable);
  GstCaps *caps = preferred_caps (self, showable, count);

  gst_caps_append (caps, gst_gid_caps_template (!g_atomic_int_get (&self->only_raw)));
  return caps;
}

static gboolean
is_showable (const GstGidFormat *format, const struct gid_showable *showable, guint count)
{
  for (guint i = 0; i < count; i++) {
    if (showable[i].fourcc == format->fourcc && showable[i].modifier == format->modifier)
      return TRUE;
  }
  return FALSE;
}

static gboolean
upstream_has (GstGidChoice *self, GstCaps *caps)
{
  GstCaps *found = gst_pad_peer_query_caps (GST_BASE_SINK_PAD (self->sink), caps);
  gboolean has = found && !gst_caps_is_empty (found);

  gst_clear_caps (&found);
  return has;
}

void
gst_gid_choice_check (GstGidChoice *self, guint64 now)
{
  struct gid_showable showable[GID_SHOWABLE_MAX];
  GstCaps *caps;
  guint count;

  if (now < self->next_check)
    return;
  self->next_check = now + CHECK_NS;
  count = gst_gid_publication_get_showable (self->publication, showable);
  if (count == 0 || is_showable (gst_gid_slots_get_format (self->slots), showable, count)
      || now < self->next_reconfigure)
    return;
  caps = preferred_caps (self, showable, count);
  if (upstream_has (self, caps)) {
    GST_INFO_OBJECT (self->sink,
        "consumers cannot show %" GST_PTR_FORMAT ": upstream is to choose again",
        gst_gid_slots_get_caps (self->slots));
    gst_pad_push_event (GST_BASE_SINK_PAD (self->sink), gst_event_new_reconfigure ());
  }
  gst_caps_unref (caps);
  /* consumers may change their formats as often as they like */
  self->next_reconfigure = now + (GST_SECOND << self->asked);
  self->asked = MIN (self->asked + 1, DOUBLED_MAX);
}

gboolean
gst_gid_choice_fall_back_to_raw (GstGidChoice *self)
{
  GstCaps *raw = gst_gid_caps_template (FALSE);
  gboolean can = upstream_has (self, raw);

  gst_caps_unref (raw);
  if (can && g_atomic_int_compare_and_exchange (&self->only_raw, FALSE, TRUE)) {
    GST_INFO_OBJECT (self->sink, "these dma-bufs cannot be exported: asking for plain memory");
    gst_pad_push_event (GST_BASE_SINK_PAD (self->sink), gst_event_new_reconfigure ());
  }
  return can;
}

/* Applications and other elements ask for caps from any thread. */
static gboolean
is_new (GstGidChoice *self, const gchar *format)
{
  gboolean added;

  GST_OBJECT_LOCK (self->sink);
  added = g_hash_table_add (self->reported, (gpointer) g_intern_string (format));
  GST_OBJECT_UNLOCK (self->sink);
  return added;
}

void
gst_gid_choice_warn_unknown (GstGidChoice *self, const GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (structure, "format");
  GstGidFormat known;

  if (format && gst_structure_has_name (structure, "video/x-raw")
      && gst_video_format_from_string (format) != GST_VIDEO_FORMAT_UNKNOWN
      && !gst_gid_format_from_caps (&known, caps) && is_new (self, format))
    GST_ELEMENT_WARNING (self->sink, STREAM, FORMAT,
        ("Frames of the format %s cannot be sent, as DRM has no name for it. Put a videoconvert in "
         "front of gidsink.",
            format),
        (NULL));
}
