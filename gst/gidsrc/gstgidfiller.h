// SPDX-License-Identifier: MIT
/**
 * What a live source gives downstream while nobody produces its stream (`fill`): the last picture, a
 * black one, or that of a file, at the stream's rate, so that sinks, encoders and mixers go on. Such a
 * picture is a copy of ours, which never changes. The streaming thread's, but for what says otherwise.
 */
#ifndef GST_GID_FILLER_H
#define GST_GID_FILLER_H

#include "gstgidcopier.h"

G_BEGIN_DECLS

typedef enum
{
  GST_GID_FILL_NONE,
  GST_GID_FILL_LAST,
  GST_GID_FILL_BLACK,
  GST_GID_FILL_FILE,
} GstGidFill;

GType gst_gid_fill_get_type (void);
#define GST_TYPE_GID_FILL (gst_gid_fill_get_type ())

typedef struct
{
  GstElement *element;
  GstGidFill wanted; /* properties; the object lock */
  gchar *wanted_file;
  guint64 frames; /* pictures filled in; the domain's lock */

  /* from start to stop */
  GstGidFill fill;
  gchar *file;
  gboolean is_away; /* the producer is, since the last picture of it */
  gboolean is_filling; /* and the application was told so */
  gboolean failed; /* nothing can be filled in with these caps */
  GstClockTime when; /* of the picture given downstream last, by the monotonic clock */
  GstClockTime interval; /* from one picture to the next that is filled in */
  GstClockTime pts; /* of the last one that was filled in; GST_CLOCK_TIME_NONE: none since */
  GstBuffer *last; /* of the stream; NULL: none, or it is not needed */
  GstBuffer *picture; /* ours */
} GstGidFiller;

void gst_gid_filler_init (GstGidFiller *self, GstElement *element);

/** Any thread. Says on the bus that a source that is not `live` cannot fill in. */
void gst_gid_filler_start (GstGidFiller *self, gboolean live);
void gst_gid_filler_stop (GstGidFiller *self);

/** The caps are others: what was there before is of no use. */
void gst_gid_filler_forget (GstGidFiller *self);

/** Nobody produces the stream any more. */
void gst_gid_filler_set_away (GstGidFiller *self);

/** Whether pictures are filled in, or will be, until one of the stream comes. */
gboolean gst_gid_filler_is_due (const GstGidFiller *self);

/**
 * A picture of the stream goes downstream, to be shown at `when`: it ends what is filled in, and
 * comes behind it.
 */
void gst_gid_filler_note_picture (GstGidFiller *self, GstBuffer *buffer, GstClockTime when);

/**
 * When a picture is to be filled in next, by the monotonic clock; GST_CLOCK_TIME_NONE: none is.
 * `interval`: from one frame of the stream to the next as it was seen, ns; 0: not known.
 */
GstClockTime gst_gid_filler_get_due (
    GstGidFiller *self, const GstCaps *caps, GstClockTime interval);

/**
 * A picture for `when`, to which its time is to be added by gst_gid_filler_note_filled(). NULL: there
 * is none yet, or none can be had.
 */
GstBuffer *gst_gid_filler_make (
    GstGidFiller *self, const GstCaps *caps, GstGidCopier *copier, GstClockTime when);

/** It goes downstream: tells the application of the first one. */
void gst_gid_filler_note_filled (GstGidFiller *self, GstGidReader *reader, GstBuffer *buffer);

G_END_DECLS

#endif
