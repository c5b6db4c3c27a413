// SPDX-License-Identifier: MIT
#include "gstgidrefusals.h"

#include <errno.h>
#include <gid/gid.h>

#include "common/gstgidposter.h"

/* Minimum interval between two element messages. */
#define INTERVAL G_TIME_SPAN_SECOND

void
gst_gid_refusals_init (GstGidRefusals *self, GstElement *element)
{
  self->element = element;
}

void
gst_gid_refusals_start (GstGidRefusals *self)
{
  GST_OBJECT_LOCK (self->element);
  self->count = 0;
  GST_OBJECT_UNLOCK (self->element);
  self->told = self->posted = 0;
  self->posted_at = 0;
}

/* For an invalid argument, says what upstream may have set. */
static const gchar *
explain (int error)
{
  if (error == -EINVAL)
    return "its times or its crop are none that a frame can have, or its memory was taken back just "
           "then";
  return gid_strerror (error);
}

static guint64
get_count (GstGidRefusals *self)
{
  guint64 count;

  GST_OBJECT_LOCK (self->element);
  count = self->count;
  GST_OBJECT_UNLOCK (self->element);
  return count;
}

/* Posts the element message for applications. */
static void
post (GstGidRefusals *self)
{
  guint64 count = get_count (self);

  if (count == self->posted)
    return;
  gst_element_post_message (self->element,
      gst_message_new_element (GST_OBJECT_CAST (self->element),
          gst_structure_new ("gid-refused", "frames", G_TYPE_UINT64, count - self->posted, "all",
              G_TYPE_UINT64, count, "reason", G_TYPE_STRING, gid_strerror (self->error), NULL)));
  self->posted = count;
  self->posted_at = g_get_monotonic_time ();
}

void
gst_gid_refusals_note (GstGidRefusals *self, const gchar *stream, int error)
{
  GST_OBJECT_LOCK (self->element);
  self->count++;
  GST_OBJECT_UNLOCK (self->element);
  self->error = error;
  if (self->posted == 0 || g_get_monotonic_time () - self->posted_at >= INTERVAL)
    post (self);
  if (self->told > 0)
    return;
  self->told = 1;
  gst_gid_post_loss (self->element,
      "`refused` of the statistics counts such frames; GST_DEBUG=gid:4 has a line for each",
      "A frame of the stream \"%s\" was not sent: %s.", stream, explain (error));
}

void
gst_gid_refusals_sum_up (GstGidRefusals *self, const gchar *stream)
{
  guint64 count = get_count (self);

  post (self);
  if (count <= self->told)
    return;
  self->told = count;
  gst_gid_post_loss (self->element, "`refused` of the statistics counts them",
      "In all, %" G_GUINT64_FORMAT " frames of the stream \"%s\" were not sent.", count, stream);
}
