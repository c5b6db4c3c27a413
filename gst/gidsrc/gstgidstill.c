// SPDX-License-Identifier: MIT
#include "gstgidstill.h"

#define PATIENCE (2 * GST_SECOND)

/*
 * Caps with the layout and colours of the stream's pictures, but without fields of video such as
 * framerate.
 */
static GstCaps *
still_caps (const GstVideoInfo *info)
{
  GstCaps *caps = gst_video_info_to_caps (info);

  gst_structure_remove_fields (gst_caps_get_structure (caps, 0), "framerate", "interlace-mode",
      "field-order", "multiview-mode", "multiview-flags", "views", NULL);
  return caps;
}

/*
 * Prerolls the pipeline and takes the first sample. Returns NULL, with `error` if one was posted.
 */
static GstSample *
take_first (GstElement *pipeline, GstElement *sink, GError **error)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstSample *sample = NULL;
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  message = gst_bus_timed_pop_filtered (bus, PATIENCE, GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_ERROR);
  if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, error, NULL);
  else if (message)
    g_signal_emit_by_name (sink, "pull-preroll", &sample);
  g_clear_pointer (&message, gst_message_unref);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  return sample;
}

/* Returns NULL with an error. */
static GstSample *
decode (const gchar *path, const GstVideoInfo *info, GError **error)
{
  GstElement *pipeline, *file, *sink;
  GstSample *sample;
  GError *complaint = NULL;
  GstCaps *caps;

  pipeline = gst_parse_launch_full (
      "filesrc name=file ! decodebin ! videoconvertscale ! appsink name=sink", NULL,
      GST_PARSE_FLAG_FATAL_ERRORS, error);
  if (pipeline == NULL)
    return NULL;
  file = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  caps = still_caps (info);
  g_object_set (file, "location", path, NULL);
  g_object_set (sink, "caps", caps, NULL);
  sample = take_first (pipeline, sink, &complaint);
  if (complaint)
    g_propagate_error (error, complaint);
  else if (sample == NULL)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "no picture came out of it");
  gst_caps_unref (caps);
  gst_object_unref (file);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return sample;
}

static gboolean
copy (GstSample *sample, GstBuffer *to, const GstVideoInfo *info)
{
  GstVideoInfo still;
  GstVideoFrame source, target;
  gboolean copied = FALSE;

  if (!gst_video_info_from_caps (&still, gst_sample_get_caps (sample))
      || !gst_video_frame_map (&source, &still, gst_sample_get_buffer (sample), GST_MAP_READ))
    return FALSE;
  if (gst_video_frame_map (&target, info, to, GST_MAP_WRITE)) {
    copied = gst_video_frame_copy (&target, &source);
    gst_video_frame_unmap (&target);
  }
  gst_video_frame_unmap (&source);
  return copied;
}

gboolean
gst_gid_still_paint (const gchar *path, GstBuffer *to, const GstVideoInfo *info, GError **error)
{
  GstSample *sample = decode (path, info, error);
  gboolean copied;

  if (sample == NULL)
    return FALSE;
  copied = copy (sample, to, info);
  gst_sample_unref (sample);
  if (!copied)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "its picture cannot be copied");
  return copied;
}
