// SPDX-License-Identifier: MIT
/** The times of a sink's frames: when each came, when it is to be sent, and when it is to be shown. */
#ifndef GST_GID_TIMING_H
#define GST_GID_TIMING_H

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

typedef struct
{
  GstBaseSink *sink;
  gboolean wait_for_latency; /* property; the object lock */
  gint monotonic; /* the clock's time is CLOCK_MONOTONIC; atomic */

  /* the streaming thread's */
  guint64 arrived; /* when the present buffer came, CLOCK_MONOTONIC */
  gboolean picture_is_due; /* nothing was sent since the start or the last flush */
  gboolean knows_live, live; /* whether upstream's timestamps say when a picture was taken */
} GstGidTiming;

void gst_gid_timing_init (GstGidTiming *self, GstBaseSink *sink);
void gst_gid_timing_start (GstGidTiming *self);

/** After a flush: what comes next is the first picture. */
void gst_gid_timing_flush (GstGidTiming *self);

/** A buffer is here, as the streaming thread was told. */
void gst_gid_timing_note_arrival (GstGidTiming *self);
static inline guint64
gst_gid_timing_get_arrival (GstGidTiming *self)
{
  return self->arrived;
}

/** A picture was sent. */
static inline void
gst_gid_timing_note_sent (GstGidTiming *self)
{
  self->picture_is_due = FALSE;
}

static inline gboolean
gst_gid_timing_is_picture_due (GstGidTiming *self)
{
  return self->picture_is_due;
}

/** The pipeline has another clock. */
void gst_gid_timing_set_clock (GstGidTiming *self, GstClock *clock);

/** Whether upstream's timestamps say when a picture was taken. Once it plays. */
gboolean gst_gid_timing_ask_live (GstGidTiming *self);
static inline gboolean
gst_gid_timing_is_live (GstGidTiming *self)
{
  return self->knows_live ? self->live : gst_gid_timing_ask_live (self);
}

/** Whether frames wait until the pipeline's latency is over, as a film's do. Likewise. */
static inline gboolean
gst_gid_timing_waits_for_latency (GstGidTiming *self)
{
  return self->wait_for_latency || !gst_gid_timing_is_live (self);
}

/**
 * Times on CLOCK_MONOTONIC, the first two GID_TIME_NONE where they are not known.
 *
 * The picture came to be (`capture`) when live sources as a camera say by their timestamps. What is
 * not live (a film) came to be when it came here, before the wait for its time.
 */
typedef struct
{
  guint64 due; /* when it is the buffer's turn */
  guint64 present; /* when it is to be shown: what is live, not before it is there */
  guint64 capture;
} GstGidTimes;

/** Those of the present buffer; `playing`: before that the pipeline's clock says nothing. */
GstGidTimes gst_gid_timing_of (GstGidTiming *self, GstBuffer *buffer, gboolean playing);

G_END_DECLS

#endif
