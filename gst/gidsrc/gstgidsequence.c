// SPDX-License-Identifier: MIT
#include "gstgidsequence.h"

/* Two times closer than this can be the same, converted from another machine's clock. */
#define SAME_TIME (10 * GST_MSECOND)

void
gst_gid_sequence_init (GstGidSequence *self, GstElement *element)
{
  self->element = element;
}

void
gst_gid_sequence_start (GstGidSequence *self)
{
  self->discont = TRUE;
  self->torn = self->excused = self->away = self->told = FALSE;
  self->given.gid = GID_NONE;
  self->last = self->lost = self->received = self->missed = 0;
  self->told_missed = self->told_lost = 0;
}

void
gst_gid_sequence_interrupt (GstGidSequence *self)
{
  self->discont = TRUE;
}

void
gst_gid_sequence_note_away (GstGidSequence *self)
{
  self->discont = self->away = TRUE;
}

void
gst_gid_sequence_note_flush (GstGidSequence *self)
{
  g_atomic_int_set (&self->flushed, TRUE);
}

void
gst_gid_sequence_excuse (GstGidSequence *self)
{
  self->excused = TRUE;
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

/* Whether the frame's slab is that of the last frame: the same program has sent both. */
static gboolean
is_of_the_same (const GstGidSequence *self, const struct gid_frame *frame)
{
  return frame->gid != GID_NONE && gid_domain_of (frame->gid) == gid_domain_of (self->given.gid)
      && gid_slab_of (frame->gid) == gid_slab_of (self->given.gid);
}

/* Counts and returns the frames missing before this one, if they were wanted. */
static guint64
note_gap (GstGidSequence *self, const struct gid_frame *frame)
{
  gboolean follows = !self->discont || (self->away && is_of_the_same (self, frame));
  guint64 missed = 0;

  if (self->last > 0 && frame->sequence > self->last + 1 && follows && !self->excused)
    missed = frame->sequence - self->last - 1;
  self->missed += missed;
  return missed;
}

void
gst_gid_sequence_note_mark (GstGidSequence *self, const struct gid_frame *frame)
{
  /* frames missing before a flush are not wanted any more */
  if (frame->flags & GID_FRAME_EOS)
    note_gap (self, frame);
  self->discont = TRUE;
  self->away = FALSE;
  self->last = frame->sequence;
}

gboolean
gst_gid_sequence_is_again (GstGidSequence *self, const struct gid_frame *frame)
{
  guint64 before = self->given.capture_time;

  if (frame->gid != self->given.gid || frame->sequence != self->last
      || frame->pts != self->given.pts || before == GID_TIME_NONE
      || frame->capture_time > before + SAME_TIME || frame->capture_time + SAME_TIME < before
      || g_atomic_int_get (&self->flushed))
    return FALSE;
  self->discont = self->away = FALSE; /* nothing was sent in between */
  return TRUE;
}

void
gst_gid_sequence_note_lost (GstGidSequence *self, const struct gid_frame *frame)
{
  note_gap (self, frame);
  self->lost++;
  self->torn = TRUE;
  self->discont = self->excused = self->away = FALSE;
  self->last = frame->sequence;
}

void
gst_gid_sequence_note_frame (
    GstGidSequence *self, const struct gid_frame *frame, GstBuffer *buffer, gboolean live)
{
  self->received++;
  if (self->discont || self->torn || (self->last > 0 && frame->sequence != self->last + 1))
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  if (note_gap (self, frame) > 0)
    post_missed (self, buffer, live);
  self->discont = self->torn = self->excused = self->away = FALSE;
  self->last = frame->sequence;
  self->given.gid = frame->gid;
  self->given.pts = frame->pts;
  self->given.capture_time = frame->capture_time;
  g_atomic_int_set (&self->flushed, FALSE);
}

gboolean
gst_gid_sequence_was_told (const GstGidSequence *self)
{
  return self->told_missed + self->told_lost > 0;
}

gboolean
gst_gid_sequence_tell_missing (
    GstGidSequence *self, gboolean at_end, guint64 *missed, guint64 *lost)
{
  gboolean more = self->missed > self->told_missed || self->lost > self->told_lost;

  *missed = self->missed;
  *lost = self->lost;
  if (!more || (gst_gid_sequence_was_told (self) && !at_end))
    return FALSE;
  self->told_missed = self->missed;
  self->told_lost = self->lost;
  return TRUE;
}
