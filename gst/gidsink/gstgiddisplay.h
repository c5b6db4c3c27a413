// SPDX-License-Identifier: MIT
/** With `display-sync`: when the display of a consumer needs frames, and those that were too late. */
#ifndef GST_GID_DISPLAY_H
#define GST_GID_DISPLAY_H

#include "gstgiddeadline.h"
#include "gstgidslots.h"
#include "gstgidtiming.h"

G_BEGIN_DECLS

#define GST_GID_DISPLAY_SENT 64 /* frames whose being shown is waited for */

typedef struct
{
  guint64 time; /* CLOCK_MONOTONIC */
  GstClockTime pts;
} GstGidSent;

typedef struct
{
  GstBaseSink *sink;
  GstGidPublication *publication;
  GstGidTiming *timing;
  GstGidSlots *slots;

  /* properties; the object lock */
  gchar *domain;
  gboolean sync;

  guint32 number; /* of `domain`; 0: the only consumer's display counts */
  guint64 refresh, latency; /* ns, 0: not known; the object lock */
  guint64 late; /* frames that missed their refresh; likewise */

  /* the streaming thread's */
  GstGidDeadline deadline;
  struct gid_shown shown; /* what was told last */
  GstGidSent sent[GST_GID_DISPLAY_SENT]; /* by the number of the frame */
} GstGidDisplay;

void gst_gid_display_init (GstGidDisplay *self, GstBaseSink *sink, GstGidPublication *publication,
    GstGidTiming *timing, GstGidSlots *slots);

/** Nothing is known yet. Returns FALSE with an error where there is no such domain. */
gboolean gst_gid_display_start (GstGidDisplay *self, GError **error);

/**
 * Notes that a frame was sent, learns when the display needs frames, and tells upstream of one that
 * came too late for it.
 */
void gst_gid_display_follow (GstGidDisplay *self, const struct gid_frame *frame);

/**
 * Makes a frame's own times those at which it is to be sent: what is live, as soon as it is there;
 * what is to be in time with a display, when that needs it.
 */
void gst_gid_display_sync_times (
    GstGidDisplay *self, GstBuffer *buffer, GstClockTime *start, GstClockTime *end);

/** With the object lock held. */
void gst_gid_display_get_stats (
    const GstGidDisplay *self, guint64 *refresh, guint64 *latency, guint64 *late);

G_END_DECLS

#endif
