// SPDX-License-Identifier: MIT
/**
 * Tracks sequence numbers: which frames were received, and how many were missed. Used by the
 * streaming thread only.
 */
#ifndef GST_GID_SEQUENCE_H
#define GST_GID_SEQUENCE_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;
  gboolean discont; /* the next frame does not follow the last one */
  gboolean torn; /* the last frame was lost */
  gboolean excused; /* frames missing before the next one were not wanted */
  gboolean away; /* the stream was lost since the last frame; its program may be the same */
  struct
  {
    gid_id gid; /* GID_NONE: none */
    guint64 pts, capture_time;
  } given; /* the last frame sent downstream */
  gint flushed; /* downstream may have dropped it; atomic */
  guint64 last; /* sequence number of the last frame */
  guint64 lost; /* number of frames that cannot be shown, or were reclaimed too early */
  gboolean told; /* a warning about a frame that cannot be shown was posted */
  guint64 received, missed;
  guint64 told_missed, told_lost; /* numbers that were reported */
} GstGidSequence;

void gst_gid_sequence_init (GstGidSequence *self, GstElement *element);
void gst_gid_sequence_start (GstGidSequence *self);

/** The next frame does not follow the last one. */
void gst_gid_sequence_interrupt (GstGidSequence *self);

/** The stream was lost. The next frame may still follow, if its program has only lost gidd. */
void gst_gid_sequence_note_away (GstGidSequence *self);

/** Downstream flushes or pauses, and may need its last frame again. Any thread. */
void gst_gid_sequence_note_flush (GstGidSequence *self);

/** Frames missing before the next one were not wanted, so they do not count as missed. */
void gst_gid_sequence_excuse (GstGidSequence *self);

/** An entry without a picture was received: a flush, the end, or nothing to show. */
void gst_gid_sequence_note_mark (GstGidSequence *self, const struct gid_frame *frame);

/**
 * Whether downstream already has this frame: a new subscriber is sent the frame that the stream
 * shows.
 */
gboolean gst_gid_sequence_is_again (GstGidSequence *self, const struct gid_frame *frame);

/** A frame was received of which nothing can be shown. */
void gst_gid_sequence_note_lost (GstGidSequence *self, const struct gid_frame *frame);
guint64 gst_gid_sequence_get_lost (const GstGidSequence *self);

/** Whether to report that a frame cannot be shown: only the first one. */
gboolean gst_gid_sequence_tell_unusable (GstGidSequence *self);

/**
 * The frame is sent downstream as this buffer. Sets DISCONT, and posts a QoS message if frames were
 * missed before it. `live`: the `live` field of that message.
 */
void gst_gid_sequence_note_frame (
    GstGidSequence *self, const struct gid_frame *frame, GstBuffer *buffer, gboolean live);

/** Whether missed or lost frames were reported. */
gboolean gst_gid_sequence_was_told (const GstGidSequence *self);

/**
 * Whether to report missed and lost frames now: the first ones and, `at_end`, the totals. Returns
 * the totals so far.
 */
gboolean gst_gid_sequence_tell_missing (
    GstGidSequence *self, gboolean at_end, guint64 *missed, guint64 *lost);

G_END_DECLS

#endif
