// SPDX-License-Identifier: MIT
/** The times of a sink's frames: when each arrived, when it is sent, and when it is shown. */
#ifndef GST_GID_TIMING_H
#define GST_GID_TIMING_H

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

typedef struct
{
  GstBaseSink *sink;
  gboolean wait_for_latency; /* property; the object lock */
  gint monotonic; /* the pipeline clock is CLOCK_MONOTONIC; atomic */

  /* streaming thread */
  guint64 arrived; /* when the present buffer arrived, CLOCK_MONOTONIC */
  gboolean picture_is_due; /* nothing was sent since the start or the last flush */
  gboolean knows_live, live; /* whether upstream is live: timestamps are capture times */
} GstGidTiming;

void gst_gid_timing_init (GstGidTiming *self, GstBaseSink *sink);
void gst_gid_timing_start (GstGidTiming *self);

/** After a flush, the next frame is the first one. */
void gst_gid_timing_flush (GstGidTiming *self);

/** Notes the time at which a buffer arrives in the streaming thread. */
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

/** The pipeline has a new clock. */
void gst_gid_timing_set_clock (GstGidTiming *self, GstClock *clock);

/** Whether upstream is live, by a LATENCY query. Valid once the pipeline plays. */
gboolean gst_gid_timing_ask_live (GstGidTiming *self);
static inline gboolean
gst_gid_timing_is_live (GstGidTiming *self)
{
  return self->knows_live ? self->live : gst_gid_timing_ask_live (self);
}

/**
 * Whether frames are sent after the pipeline's latency, as for non-live sources. Valid once it
 * plays.
 */
static inline gboolean
gst_gid_timing_waits_for_latency (GstGidTiming *self)
{
  return self->wait_for_latency || !gst_gid_timing_is_live (self);
}

/**
 * Times on CLOCK_MONOTONIC; `due` and `present` are GID_TIME_NONE if not known.
 *
 * For live sources such as cameras, the timestamp is the capture time. For others it is the arrival
 * in the sink, before the wait for the frame's time.
 */
typedef struct
{
  guint64 due; /* when the buffer is to be rendered */
  guint64 present; /* when it should be shown; for live sources not before its arrival */
  guint64 capture;
} GstGidTimes;

/** The times of the present buffer. `playing`: the pipeline's clock runs. */
GstGidTimes gst_gid_timing_of (GstGidTiming *self, GstBuffer *buffer, gboolean playing);

G_END_DECLS

#endif
