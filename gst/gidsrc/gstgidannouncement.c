// SPDX-License-Identifier: MIT
/*
 * GstBaseSrc sends a stream-start event, but no stream collection. decodebin3 makes one up for the
 * first source of a player, but not for a source that follows another one: up to GStreamer 1.26 at
 * least, an assertion of decodebin3 then ends the program. So a player's source tells of both. No
 * other one does: gdpdepay, for one, cannot read what gdppay writes of a GstStream.
 */
#include "gstgidannouncement.h"

/*
 * Adds the GstStream to the stream-start event. The collection must have the same object, also if
 * the event is sent again to another pad.
 */
static GstPadProbeReturn
name_stream (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstGidAnnouncement *self = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  const gchar *id;

  if (!self->is_wanted || GST_EVENT_TYPE (event) != GST_EVENT_STREAM_START)
    return GST_PAD_PROBE_OK;
  gst_event_parse_stream_start (event, &id);
  if (self->stream == NULL || g_strcmp0 (gst_stream_get_stream_id (self->stream), id) != 0) {
    gst_clear_object (&self->stream);
    self->stream = gst_stream_new (id, NULL, GST_STREAM_TYPE_VIDEO, GST_STREAM_FLAG_NONE);
  }
  event = gst_event_make_writable (event);
  gst_event_set_stream (event, self->stream);
  GST_PAD_PROBE_INFO_DATA (info) = event;
  return GST_PAD_PROBE_OK;
}

void
gst_gid_announcement_make (GstGidAnnouncement *self)
{
  GstStreamCollection *collection;

  if (self->stream == NULL || self->is_made)
    return;
  self->is_made = TRUE;
  collection = gst_stream_collection_new (gst_stream_get_stream_id (self->stream));
  gst_stream_collection_add_stream (collection, gst_object_ref (self->stream));
  gst_pad_push_event (GST_BASE_SRC_PAD (self->src), gst_event_new_stream_collection (collection));
  gst_element_post_message (GST_ELEMENT_CAST (self->src),
      gst_message_new_stream_collection (GST_OBJECT_CAST (self->src), collection));
  gst_object_unref (collection);
}

void
gst_gid_announcement_init (GstGidAnnouncement *self, GstBaseSrc *src)
{
  self->src = src;
  gst_pad_add_probe (
      GST_BASE_SRC_PAD (src), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, name_stream, self, NULL);
}

void
gst_gid_announcement_want (GstGidAnnouncement *self)
{
  self->is_wanted = TRUE;
}

void
gst_gid_announcement_start (GstGidAnnouncement *self)
{
  self->is_made = FALSE;
}

void
gst_gid_announcement_finish (GstGidAnnouncement *self)
{
  gst_clear_object (&self->stream);
}
