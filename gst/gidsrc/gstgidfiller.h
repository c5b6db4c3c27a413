// SPDX-License-Identifier: MIT
/**
 * Fills in pictures of a live source while its stream has no producer (property `fill`): the last
 * picture, a black one, or that of a file, at the stream's rate, so that sinks, encoders and mixers
 * go on. The picture is a copy that never changes. Used by the streaming thread, unless noted
 * otherwise.
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
  guint64 frames; /* number of pictures filled in; the domain's lock */

  /* from start to stop */
  GstGidFill fill;
  gchar *file;
  gboolean is_away; /* the stream has had no producer since its last picture */
  gboolean is_filling; /* and the application was told that pictures are filled in */
  gboolean failed; /* no picture can be made with these caps */
  GstClockTime when; /* monotonic time of the last picture sent downstream */
  GstClockTime interval; /* between two pictures that are filled in */
  GstClockTime pts; /* of the last picture filled in since the stream's last one; or NONE */
  GstBuffer *last; /* picture of the stream; NULL: none, or not needed */
  GstBuffer *picture; /* the picture to fill in */
} GstGidFiller;

void gst_gid_filler_init (GstGidFiller *self, GstElement *element);

/** Any thread. Posts a warning if `fill` is set for a source that is not live. */
void gst_gid_filler_start (GstGidFiller *self, gboolean live);
void gst_gid_filler_stop (GstGidFiller *self);

/** The caps have changed: drops the pictures. */
void gst_gid_filler_forget (GstGidFiller *self);

/** The stream has no producer any more. */
void gst_gid_filler_set_away (GstGidFiller *self);

/** Whether pictures are or will be filled in until the stream's next one. */
gboolean gst_gid_filler_is_due (const GstGidFiller *self);

/**
 * A picture of the stream is sent downstream, to be shown at `when`. Ends filling in, and moves its
 * timestamp behind the last picture filled in.
 */
void gst_gid_filler_note_picture (GstGidFiller *self, GstBuffer *buffer, GstClockTime when);

/**
 * The monotonic time of the next picture to fill in; GST_CLOCK_TIME_NONE: none. `interval`:
 * observed time between two frames of the stream, in ns; 0: not known.
 */
GstClockTime gst_gid_filler_get_due (
    GstGidFiller *self, const GstCaps *caps, GstClockTime interval);

/**
 * Returns a picture for the time `when`. The caller sets its timestamp and calls
 * gst_gid_filler_note_filled(). NULL: there is none yet, or none can be made.
 */
GstBuffer *gst_gid_filler_make (
    GstGidFiller *self, const GstCaps *caps, GstGidCopier *copier, GstClockTime when);

/** The picture is sent downstream. Posts a message for the first one. */
void gst_gid_filler_note_filled (GstGidFiller *self, GstGidReader *reader, GstBuffer *buffer);

G_END_DECLS

#endif
