/* SPDX-License-Identifier: MIT */
/**
 * When to send frames that were made in advance so that a consumer's display shows each at the
 * refresh nearest to its time: pure, told of each frame that was shown.
 *
 * How long before a refresh the display needs a frame is found out: frames are sent a little later
 * and later, until two of a few miss their refresh, and then sooner again. The more often that
 * happens, the slower it goes on, for each time costs frames that are a refresh late.
 */
#ifndef GST_GID_DEADLINE_H
#define GST_GID_DEADLINE_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 refresh; /* ns; 0: nothing is known */
  gint64 need; /* before a refresh, ns: what is sent sooner is thought to be in time */
  gint64 edge; /* the need at which frames were late, in ns */
  guint32 recent; /* of the last frames a bit each: was it late? */
  guint patience; /* near `edge` a step is divided by 2 to the power of this */
  guint calm, quiet; /* frames in time since several were not, and since `patience` changed */
} GstGidDeadline;

/**
 * A frame that was sent `latency` ago was shown, by a display with this time between refreshes.
 * Returns by how many ns it was shown later than meant, where the deadline had been found before;
 * 0: it was in time.
 */
guint64 gst_gid_deadline_shown (GstGidDeadline *self, guint64 refresh, guint64 latency);

/**
 * When to send a frame that is to be shown at `wanted`, by a display that has a refresh at `shown`:
 * all in ns of one clock. In time for the refresh nearest to `wanted`; or, where the frame is not
 * there before `earliest` (0: it is there at any time), for the first that it can be in time for.
 * `wanted` itself where nothing is known of the display, or nothing for 10 s.
 */
guint64 gst_gid_deadline_send_time (
    const GstGidDeadline *self, guint64 shown, guint64 wanted, guint64 earliest);

G_END_DECLS

#endif
