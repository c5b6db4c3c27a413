// SPDX-License-Identifier: MIT
#include "gstgidsegments.h"

void
gst_gid_segments_init (GstGidSegments *self, GstBaseSrc *src)
{
  self->src = src;
}

void
gst_gid_segments_start (GstGidSegments *self)
{
  self->last = self->end = GST_CLOCK_TIME_NONE;
}

void
gst_gid_segments_interrupt (GstGidSegments *self)
{
  self->last = GST_CLOCK_TIME_NONE;
}

/* The new segment starts at `time`; its running time continues from the end of the last buffer. */
static void
begin_at (GstGidSegments *self, GstClockTime time)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (GST_CLOCK_TIME_IS_VALID (self->end))
    segment.base = gst_segment_to_running_time (&self->src->segment, GST_FORMAT_TIME, self->end);
  segment.start = segment.time = segment.position = time;
  gst_base_src_new_segment (self->src, &segment);
}

void
gst_gid_segments_follow (GstGidSegments *self, const GstBuffer *buffer)
{
  GstClockTime time = GST_BUFFER_PTS (buffer), lasts = 0;

  if (!GST_CLOCK_TIME_IS_VALID (time))
    return;
  if (!GST_CLOCK_TIME_IS_VALID (self->last) || time < self->last)
    begin_at (self, time);
  else
    lasts = time - self->last;
  if (GST_BUFFER_DURATION_IS_VALID (buffer) && GST_BUFFER_DURATION (buffer) > 0)
    lasts = GST_BUFFER_DURATION (buffer);
  self->last = time;
  self->end = time + MIN (lasts, GST_CLOCK_TIME_NONE - 1 - time); /* both are untrusted */
}
