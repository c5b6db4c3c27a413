// SPDX-License-Identifier: MIT
#include "gstgidtiming.h"

#include <gid/stream.h>

#include "common/gstgidlayout.h"

void
gst_gid_timing_init (GstGidTiming *self, GstBaseSink *sink)
{
  self->sink = sink;
}

void
gst_gid_timing_start (GstGidTiming *self)
{
  self->knows_live = self->live = FALSE;
  self->picture_is_due = TRUE;
}

void
gst_gid_timing_flush (GstGidTiming *self)
{
  self->picture_is_due = TRUE;
}

void
gst_gid_timing_note_arrival (GstGidTiming *self)
{
  self->arrived = g_get_monotonic_time () * GST_USECOND;
}

void
gst_gid_timing_set_clock (GstGidTiming *self, GstClock *clock)
{
  g_atomic_int_set (&self->monotonic, gst_gid_clock_is_monotonic (clock));
}

gboolean
gst_gid_timing_ask_live (GstGidTiming *self)
{
  /* GstBaseSink itself queries it only at the first frame */
  self->knows_live = gst_base_sink_query_latency (self->sink, NULL, &self->live, NULL, NULL)
      || !self->picture_is_due;
  return self->live;
}

/*
 * The running time at which GstBaseSink renders the buffer. A buffer that begins before the segment
 * is rendered at its start, and in reverse playback at the buffer's end.
 */
static GstClockTime
running_time (const GstSegment *segment, GstBuffer *buffer)
{
  gboolean lasts = GST_BUFFER_DURATION_IS_VALID (buffer);
  guint64 start = GST_BUFFER_PTS (buffer), stop = GST_CLOCK_TIME_NONE;

  /* a segment in bytes has no times */
  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (start))
    return GST_CLOCK_TIME_NONE;
  if (lasts)
    stop = start + GST_BUFFER_DURATION (buffer);
  if (!gst_segment_clip (segment, GST_FORMAT_TIME, start, stop, &start, &stop))
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time (
      segment, GST_FORMAT_TIME, segment->rate < 0 && lasts ? stop : start);
}

/* The buffer's running time on CLOCK_MONOTONIC, or GID_TIME_NONE. */
static guint64
turn_of (GstGidTiming *self, GstBuffer *buffer)
{
  GstElement *element = GST_ELEMENT_CAST (self->sink);
  GstClockTime running = running_time (&self->sink->segment, buffer), base;
  GstClockTimeDiff offset = 0;
  GstClock *clock = NULL;
  gboolean has_clock;

  GST_OBJECT_LOCK (element);
  base = element->base_time;
  has_clock = GST_ELEMENT_CLOCK (element) != NULL;
  if (has_clock && !g_atomic_int_get (&self->monotonic))
    clock = gst_object_ref (GST_ELEMENT_CLOCK (element));
  GST_OBJECT_UNLOCK (element);

  if (clock)
    offset = gst_gid_clock_offset (clock);
  gst_clear_object (&clock);
  if (!has_clock || !GST_CLOCK_TIME_IS_VALID (running))
    return GID_TIME_NONE;
  return base + running + offset;
}

/*
 * A frame is shown later than its running time, by the latency and by a positive ts-offset
 * (playbin's av-offset). With a negative ts-offset it is sent earlier, but shown at the same time.
 */
GstGidTimes
gst_gid_timing_of (GstGidTiming *self, GstBuffer *buffer, gboolean playing)
{
  GstGidTimes times = { GID_TIME_NONE, GID_TIME_NONE, self->arrived };
  guint64 turn = playing ? turn_of (self, buffer) : GID_TIME_NONE;
  gboolean live, waits;

  if (turn == GID_TIME_NONE)
    return times;
  live = gst_gid_timing_is_live (self);
  waits = self->wait_for_latency || !live;
  times.due = turn + MAX (gst_base_sink_get_ts_offset (self->sink), 0);
  if (waits)
    times.due += gst_base_sink_get_latency (self->sink);
  times.present = waits ? times.due : MAX (times.due, self->arrived);
  if (live)
    times.capture = MIN (turn, self->arrived);
  return times;
}
