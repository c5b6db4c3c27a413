/* SPDX-License-Identifier: MIT */
/* The display of the consumer: the times at which it needs frames, and those that were too late. */
#include "common/gstgid.h"
#include "gstgidsink.h"

#define GST_CAT_DEFAULT gst_gid_debug

/* A display with refreshes further apart is none to wait for. */
#define REFRESH_MAX (50 * GST_MSECOND)

/*
 * Upstream hears of a frame that came too late for its refresh, as from a sink with a screen of its
 * own: a decoder may leave out what it would only decode too late.
 */
static void
send_qos (GstGidSink *self, GstClockTime pts, guint64 late_by, guint64 refresh)
{
  GstBaseSink *sink = GST_BASE_SINK_CAST (self);
  GstClockTime running;

  running = gst_segment_to_running_time (&sink->segment, GST_FORMAT_TIME, pts);
  if (!GST_CLOCK_TIME_IS_VALID (running))
    return;
  GST_DEBUG_OBJECT (self, "the frame of %" GST_TIME_FORMAT " was %" G_GUINT64_FORMAT " ns late",
      GST_TIME_ARGS (running), late_by);
  gst_pad_push_event (GST_BASE_SINK_PAD (sink),
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.0 + (gdouble) late_by / (gdouble) refresh,
          (GstClockTimeDiff) late_by, running));
}

/* Of the source's rate, ns; 0: it is not known. */
static guint64
frame_duration (GstGidSink *self)
{
  const GstVideoInfo *info = &self->format.info;

  return GST_VIDEO_INFO_FPS_N (info) > 0
      ? gst_util_uint64_scale_int (
            GST_SECOND, GST_VIDEO_INFO_FPS_D (info), GST_VIDEO_INFO_FPS_N (info))
      : 0;
}

/*
 * A display whose refreshes are much further apart than frames, or so far that nobody looks at such
 * a display, would have frames sent in bursts.
 */
static gboolean
is_sensible (GstGidSink *self, const struct gid_shown *shown)
{
  guint64 duration = frame_duration (self);

  return shown->refresh_ns > 0 && shown->refresh_ns <= REFRESH_MAX
      && (duration == 0 || shown->refresh_ns <= duration + duration / 2);
}

void
gst_gid_sink_follow_display (GstGidSink *self, const struct gid_frame *frame)
{
  GstGidSinkSent *sent = &self->sent[frame->sequence % GST_GID_SINK_SENT];
  struct gid_shown shown;
  guint64 latency, late_by;
  int ret;

  if (!self->display_sync)
    return;
  sent->time = frame->submit_time;
  sent->pts = frame->pts;
  gst_gid_domain_lock (self->domain);
  ret = gid_producer_get_shown (self->producer, self->display_number, &shown);
  gst_gid_domain_unlock (self->domain);
  if (ret < 0 || shown.sequence == self->shown.sequence || !is_sensible (self, &shown)
      || frame->sequence - shown.sequence >= GST_GID_SINK_SENT)
    return;
  self->shown = shown;
  sent = &self->sent[shown.sequence % GST_GID_SINK_SENT];
  if (shown.time <= sent->time)
    return;
  latency = shown.time - sent->time;
  late_by = gst_gid_deadline_shown (&self->deadline, shown.refresh_ns, latency);
  GST_OBJECT_LOCK (self);
  self->display_refresh = shown.refresh_ns;
  self->display_latency = latency;
  self->display_late += late_by > 0;
  GST_OBJECT_UNLOCK (self);
  if (late_by > 0)
    send_qos (self, sent->pts, late_by, shown.refresh_ns);
}

/* By how much the frame is to be sent after its turn. */
static GstClockTimeDiff
display_shift (GstGidSink *self, GstBuffer *buffer)
{
  GstBaseSink *sink = GST_BASE_SINK_CAST (self);
  guint64 due = gst_gid_sink_due_time (self, buffer), wanted, turn, earliest, send, most;

  if (due == GID_TIME_NONE)
    return 0;
  wanted = gst_gid_sink_present_time (self, due);
  /* with a negative offset it is sent before it is to be shown, as it is */
  turn = (guint64) ((gint64) due + MIN (gst_base_sink_get_ts_offset (sink), 0));
  /* what is live is not there any sooner */
  earliest = gst_gid_sink_is_live (self) ? turn + (wanted - due) : 0;
  send = gst_gid_deadline_send_time (&self->deadline, self->shown.time, wanted, earliest);
  /* Whatever a consumer says of its display: the nearest refresh is half a one away, and no display
   * that one waits for needs a frame sooner than another half before that. */
  most = MIN (self->shown.refresh_ns, frame_duration (self) ? frame_duration (self) : REFRESH_MAX);
  send = CLAMP (send, wanted - most, wanted + most / 2);
  return (GstClockTimeDiff) (send - turn);
}

void
gst_gid_sink_sync_times (
    GstGidSink *self, GstBuffer *buffer, GstClockTime *start, GstClockTime *end)
{
  GstBaseSink *sink = GST_BASE_SINK_CAST (self);
  const GstSegment *segment = &sink->segment;
  GstClockTimeDiff shift = 0;

  if (sink->need_preroll || segment->format != GST_FORMAT_TIME || segment->rate != 1
      || !GST_CLOCK_TIME_IS_VALID (*start) || *start < segment->start)
    return;
  /* GstBaseSink adds the latency again */
  if (!gst_gid_sink_waits_for_latency (self))
    shift = -(GstClockTimeDiff) gst_base_sink_get_latency (sink);
  if (self->display_sync && self->shown.time != 0)
    shift += display_shift (self, buffer);
  if (shift < -(GstClockTimeDiff) (*start - segment->start)) {
    /* there is no such time in the segment: without one it is sent at once */
    *start = *end = GST_CLOCK_TIME_NONE;
    return;
  }
  *start = (GstClockTime) ((GstClockTimeDiff) *start + shift);
  if (GST_CLOCK_TIME_IS_VALID (*end))
    *end = MAX ((GstClockTime) ((GstClockTimeDiff) *end + shift), *start);
}
