/* SPDX-License-Identifier: MIT */
/**
 * Computes when to send a frame so that a consumer's display shows it at the refresh nearest to its
 * timestamp. Pure: it is told of each frame that was shown.
 *
 * The time that the display needs before a refresh is found by sending frames a little later each
 * time, until two of a few miss their refresh, and then sooner again. Each such search costs frames
 * that are a refresh late, so the step becomes smaller each time.
 */
#ifndef GST_GID_DEADLINE_H
#define GST_GID_DEADLINE_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 refresh; /* in ns; 0: not known */
  gint64 need; /* time needed before a refresh, in ns: frames sent sooner should be in time */
  gint64 edge; /* the need at which frames were late, in ns */
  guint32 recent; /* one bit for each of the last frames: whether it was late */
  guint patience; /* near `edge`, the step is divided by 2 to the power of this */
  guint calm, quiet; /* frames in time since the last misses, and since `patience` changed */
} GstGidDeadline;

/**
 * Reports that a frame, sent `latency` before, was shown by a display with `refresh` between two
 * refreshes. Returns by how many ns it was later than intended, if the deadline had already been
 * found; 0: it was in time.
 */
guint64 gst_gid_deadline_shown (GstGidDeadline *self, guint64 refresh, guint64 latency);

/**
 * Returns when to send a frame that should be shown at `wanted`, on a display that had a refresh at
 * `shown`; all in ns of one clock. That is in time for the refresh nearest to `wanted`; or, if the
 * frame does not exist before `earliest` (0: it does), for the first refresh it can reach. Returns
 * `wanted` if nothing is known of the display, or if that was more than 10 s ago.
 */
guint64 gst_gid_deadline_send_time (
    const GstGidDeadline *self, guint64 shown, guint64 wanted, guint64 earliest);

G_END_DECLS

#endif
