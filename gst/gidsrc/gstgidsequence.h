// SPDX-License-Identifier: MIT
/** What of a stream came and what was missed, by the numbers of its frames. The streaming thread's. */
#ifndef GST_GID_SEQUENCE_H
#define GST_GID_SEQUENCE_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;
  gboolean discont; /* what comes next does not follow on what came before */
  gboolean torn; /* the frame before the next one was lost */
  gboolean excused; /* what is missing before the next frame is not missed */
  gboolean away; /* the stream was away since the last frame, and may be that of the same program */
  struct
  {
    gid_id gid; /* GID_NONE: there was none */
    guint64 pts, capture_time;
  } given; /* the frame that downstream was given last */
  gint flushed; /* downstream may have forgotten it; atomic */
  guint64 last; /* the number of the last frame */
  guint64 lost; /* frames that cannot be shown, or that were taken back at once */
  gboolean told; /* that a frame cannot be shown */
  guint64 received, missed;
  guint64 told_missed, told_lost; /* as many as people were told of */
} GstGidSequence;

void gst_gid_sequence_init (GstGidSequence *self, GstElement *element);
void gst_gid_sequence_start (GstGidSequence *self);

/** What comes next does not follow on what came before. */
void gst_gid_sequence_interrupt (GstGidSequence *self);

/** The stream is away. What comes next may follow all the same, if its program lost gidd alone. */
void gst_gid_sequence_note_away (GstGidSequence *self);

/** Downstream is flushed, or pauses: it may want once more what it was given. Any thread. */
void gst_gid_sequence_note_flush (GstGidSequence *self);

/** Where frames are missing before the next one, nobody wanted them: they are not missed. */
void gst_gid_sequence_excuse (GstGidSequence *self);

/** An entry without a picture came: a seek, the end, or nothing to show. */
void gst_gid_sequence_note_mark (GstGidSequence *self, const struct gid_frame *frame);

/**
 * Whether this is the frame that downstream has already: who subscribes anew is sent what the stream
 * shows.
 */
gboolean gst_gid_sequence_is_again (GstGidSequence *self, const struct gid_frame *frame);

/** Nothing can be shown of a frame that came. */
void gst_gid_sequence_note_lost (GstGidSequence *self, const struct gid_frame *frame);
guint64 gst_gid_sequence_get_lost (const GstGidSequence *self);

/** Whether people are to hear that a frame cannot be shown: of the first one. */
gboolean gst_gid_sequence_tell_unusable (GstGidSequence *self);

/**
 * The frame is given downstream as the buffer. Tells the application where some were missed before
 * it; `live`: whether downstream is late by them.
 */
void gst_gid_sequence_note_frame (
    GstGidSequence *self, const struct gid_frame *frame, GstBuffer *buffer, gboolean live);

/** Whether people have heard that frames were missed or lost. */
gboolean gst_gid_sequence_was_told (const GstGidSequence *self);

/**
 * Whether people are to hear that now: of the first ones and, `at_end`, of all. `missed` and `lost`
 * are all until now.
 */
gboolean gst_gid_sequence_tell_missing (
    GstGidSequence *self, gboolean at_end, guint64 *missed, guint64 *lost);

G_END_DECLS

#endif
