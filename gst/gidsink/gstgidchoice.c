/* SPDX-License-Identifier: MIT */
/* Formats that consumers can show: offered to upstream before all others, which it may still choose. */
#include "common/gstgid.h"
#include "gstgidsink.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* How often consumers are looked at, ns. */
#define LOOK_NS GST_SECOND
/* Upstream is asked to choose again after twice the time of the last time: 2^n s, up to an hour. */
#define DOUBLED_MAX 12

/* What consumers told; 0: nothing, or nothing that all can show. */
static guint
get_showable (GstGidSink *self, struct gid_showable showable[static GID_SHOWABLE_MAX])
{
  int count = 0;

  GST_OBJECT_LOCK (self);
  if (self->producer) {
    gst_gid_domain_lock (self->domain);
    count = gid_producer_get_showable (self->producer, showable);
    gst_gid_domain_unlock (self->domain);
  }
  GST_OBJECT_UNLOCK (self);
  return count > 0 ? (guint) count : 0;
}

static GstCaps *
preferred_caps (GstGidSink *self, const struct gid_showable *showable, guint count)
{
  return gst_gid_caps_from_showable (showable, count,
      self->dmabuf ? GID_SHOWABLE_DMABUF : GID_SHOWABLE_SHARED,
      !g_atomic_int_get (&self->only_raw));
}

GstCaps *
gst_gid_sink_create_caps (GstGidSink *self)
{
  struct gid_showable showable[GID_SHOWABLE_MAX];
  GstCaps *caps = preferred_caps (self, showable, get_showable (self, showable));

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
upstream_has (GstGidSink *self, GstCaps *caps)
{
  GstCaps *found = gst_pad_peer_query_caps (GST_BASE_SINK_PAD (self), caps);
  gboolean has = found && !gst_caps_is_empty (found);

  gst_clear_caps (&found);
  return has;
}

void
gst_gid_sink_look_at_consumers (GstGidSink *self)
{
  struct gid_showable showable[GID_SHOWABLE_MAX];
  GstCaps *caps;
  guint count;

  if (self->arrived < self->look_again)
    return;
  self->look_again = self->arrived + LOOK_NS;
  count = get_showable (self, showable);
  if (count == 0 || is_showable (&self->format, showable, count) || self->arrived < self->ask_again)
    return;
  caps = preferred_caps (self, showable, count);
  if (upstream_has (self, caps)) {
    GST_INFO_OBJECT (
        self, "consumers cannot show %" GST_PTR_FORMAT ": upstream is to choose again", self->caps);
    gst_pad_push_event (GST_BASE_SINK_PAD (self), gst_event_new_reconfigure ());
  }
  gst_caps_unref (caps);
  /* consumers may change their minds as often as they like */
  self->ask_again = self->arrived + (GST_SECOND << self->asked);
  self->asked = MIN (self->asked + 1, DOUBLED_MAX);
}
