// SPDX-License-Identifier: MIT
#include "gstgiddisplay.h"

#include "common/gstgid.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* Displays with a longer time between refreshes are not followed. */
#define REFRESH_MAX (50 * GST_MSECOND)

void
gst_gid_display_init (GstGidDisplay *self, GstBaseSink *sink, GstGidPublication *publication,
    GstGidTiming *timing, GstGidSlots *slots)
{
  self->sink = sink;
  self->publication = publication;
  self->timing = timing;
  self->slots = slots;
}

gboolean
gst_gid_display_start (GstGidDisplay *self, GError **error)
{
  gchar *name;
  gboolean good;

  GST_OBJECT_LOCK (self->sink);
  self->refresh = self->latency = self->late = 0;
  name = g_strdup (self->domain);
  GST_OBJECT_UNLOCK (self->sink);
  self->deadline = (GstGidDeadline) { 0 };
  self->shown = (struct gid_shown) { 0 };
  good = gst_gid_publication_find_domain (
      self->publication, "display-domain", name, &self->number, error);
  g_free (name);
  return good;
}

void
gst_gid_display_get_stats (
    const GstGidDisplay *self, guint64 *refresh, guint64 *latency, guint64 *late)
{
  *refresh = self->refresh;
  *latency = self->latency;
  *late = self->late;
}

/*
 * Sends a QoS event upstream for a frame that missed its refresh, as a video sink does: a decoder
 * can then skip frames.
 */
static void
send_qos (GstGidDisplay *self, GstClockTime pts, guint64 late_by, guint64 refresh)
{
  GstBaseSink *sink = self->sink;
  GstClockTime running;

  running = gst_segment_to_running_time (&sink->segment, GST_FORMAT_TIME, pts);
  if (!GST_CLOCK_TIME_IS_VALID (running))
    return;
  GST_DEBUG_OBJECT (sink, "the frame of %" GST_TIME_FORMAT " was %" G_GUINT64_FORMAT " ns late",
      GST_TIME_ARGS (running), late_by);
  gst_pad_push_event (GST_BASE_SINK_PAD (sink),
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.0 + (gdouble) late_by / (gdouble) refresh,
          (GstClockTimeDiff) late_by, running));
}

/* In ns, by the framerate of the caps; 0: not known. */
static guint64
frame_duration (GstGidDisplay *self)
{
  const GstVideoInfo *info = &gst_gid_slots_get_format (self->slots)->info;

  return GST_VIDEO_INFO_FPS_N (info) > 0
      ? gst_util_uint64_scale_int (
            GST_SECOND, GST_VIDEO_INFO_FPS_D (info), GST_VIDEO_INFO_FPS_N (info))
      : 0;
}

/*
 * Whether the display's refresh is plausible: not much longer than a frame's duration, or
 * REFRESH_MAX. Otherwise frames would be sent in bursts.
 */
static gboolean
is_sensible (GstGidDisplay *self, const struct gid_shown *shown)
{
  guint64 duration = frame_duration (self);

  return shown->refresh_ns > 0 && shown->refresh_ns <= REFRESH_MAX
      && (duration == 0 || shown->refresh_ns <= duration + duration / 2);
}

void
gst_gid_display_follow (GstGidDisplay *self, const struct gid_frame *frame)
{
  GstGidSent *sent = &self->sent[frame->sequence % GST_GID_DISPLAY_SENT];
  struct gid_shown shown;
  guint64 latency, late_by;

  if (!self->sync)
    return;
  sent->time = frame->submit_time;
  sent->pts = frame->pts;
  if (!gst_gid_publication_get_shown (self->publication, self->number, &shown)
      || shown.sequence == self->shown.sequence || !is_sensible (self, &shown)
      || frame->sequence - shown.sequence >= GST_GID_DISPLAY_SENT)
    return;
  self->shown = shown;
  sent = &self->sent[shown.sequence % GST_GID_DISPLAY_SENT];
  if (shown.time <= sent->time)
    return;
  latency = shown.time - sent->time;
  late_by = gst_gid_deadline_shown (&self->deadline, shown.refresh_ns, latency);
  GST_OBJECT_LOCK (self->sink);
  self->refresh = shown.refresh_ns;
  self->latency = latency;
  self->late += late_by > 0;
  GST_OBJECT_UNLOCK (self->sink);
  if (late_by > 0)
    send_qos (self, sent->pts, late_by, shown.refresh_ns);
}

/* How much later than its time the frame should be sent. */
static GstClockTimeDiff
display_shift (GstGidDisplay *self, GstBuffer *buffer)
{
  GstBaseSink *sink = self->sink;
  GstGidTimes times = gst_gid_timing_of (self->timing, buffer, TRUE);
  guint64 due = times.due, wanted = times.present, turn, earliest, send, most;

  if (due == GID_TIME_NONE)
    return 0;
  /* with a negative ts-offset it is sent that much before it is shown, as usual */
  turn = (guint64) ((gint64) due + MIN (gst_base_sink_get_ts_offset (sink), 0));
  /* live frames do not exist any sooner */
  earliest = gst_gid_timing_is_live (self->timing) ? turn + (wanted - due) : 0;
  send = gst_gid_deadline_send_time (&self->deadline, self->shown.time, wanted, earliest);
  /*
   * A limit that does not trust the consumer: the nearest refresh is at most half a refresh away,
   * and no display needs a frame more than another half before that.
   */
  most = MIN (self->shown.refresh_ns, frame_duration (self) ? frame_duration (self) : REFRESH_MAX);
  send = CLAMP (send, wanted - most, wanted + most / 2);
  return (GstClockTimeDiff) (send - turn);
}

void
gst_gid_display_sync_times (
    GstGidDisplay *self, GstBuffer *buffer, GstClockTime *start, GstClockTime *end)
{
  GstBaseSink *sink = self->sink;
  const GstSegment *segment = &sink->segment;
  gboolean soon, synced = self->sync && self->shown.time != 0;
  GstClockTimeDiff shift = 0;

  if (sink->need_preroll)
    return;
  soon = !gst_gid_timing_waits_for_latency (self->timing);
  if (!(soon || synced) || segment->format != GST_FORMAT_TIME || segment->rate != 1
      || !GST_CLOCK_TIME_IS_VALID (*start) || *start < segment->start)
    return;
  /* GstBaseSink adds the latency again */
  if (soon)
    shift = -(GstClockTimeDiff) gst_base_sink_get_latency (sink);
  if (synced)
    shift += display_shift (self, buffer);
  if (shift < -(GstClockTimeDiff) (*start - segment->start)) {
    /* before the start of the segment: without times it is rendered at once */
    *start = *end = GST_CLOCK_TIME_NONE;
    return;
  }
  *start = (GstClockTime) ((GstClockTimeDiff) *start + shift);
  if (GST_CLOCK_TIME_IS_VALID (*end))
    *end = MAX ((GstClockTime) ((GstClockTimeDiff) *end + shift), *start);
}
