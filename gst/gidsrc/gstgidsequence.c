// SPDX-License-Identifier: MIT
#include "gstgidsequence.h"

void
gst_gid_sequence_init (GstGidSequence *self, GstElement *element)
{
  self->element = element;
}

void
gst_gid_sequence_start (GstGidSequence *self)
{
  self->discont = TRUE;
  self->excused = self->told = FALSE;
  self->last = self->lost = self->received = self->missed = 0;
}

void
gst_gid_sequence_interrupt (GstGidSequence *self)
{
  self->discont = TRUE;
}

void
gst_gid_sequence_excuse (GstGidSequence *self)
{
  self->excused = TRUE;
}

void
gst_gid_sequence_note_mark (GstGidSequence *self, const struct gid_frame *frame)
{
  self->discont = TRUE;
  self->last = frame->sequence;
}

void
gst_gid_sequence_note_lost (GstGidSequence *self)
{
  self->lost++;
  self->discont = TRUE;
}

guint64
gst_gid_sequence_get_lost (const GstGidSequence *self)
{
  return self->lost;
}

gboolean
gst_gid_sequence_tell_unusable (GstGidSequence *self)
{
  gboolean first = !self->told;

  self->told = TRUE;
  return first;
}

static void
post_missed (GstGidSequence *self, GstBuffer *buffer, gboolean live)
{
  GstClockTime time = GST_BUFFER_PTS (buffer);
  GstMessage *message;

  message = gst_message_new_qos (
      GST_OBJECT_CAST (self->element), live, time, time, time, GST_BUFFER_DURATION (buffer));
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, self->received, self->missed);
  gst_element_post_message (self->element, message);
}

guint64
gst_gid_sequence_note_frame (
    GstGidSequence *self, const struct gid_frame *frame, GstBuffer *buffer, gboolean live)
{
  gboolean gap = self->last > 0 && frame->sequence != self->last + 1;
  guint64 missed = 0;

  self->received++;
  if (self->discont || gap)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  if (gap && !self->discont && !self->excused && frame->sequence > self->last) {
    missed = frame->sequence - self->last - 1;
    self->missed += missed;
    post_missed (self, buffer, live);
  }
  self->discont = self->excused = FALSE;
  self->last = frame->sequence;
  return missed;
}

gboolean
gst_gid_sequence_are_first (const GstGidSequence *self, guint64 missed)
{
  return self->missed == missed;
}
