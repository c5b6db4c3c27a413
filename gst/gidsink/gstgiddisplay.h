// SPDX-License-Identifier: MIT
/**
 * `display-sync`: sends frames just in time for the refreshes of a consumer's display, and reports
 * late ones upstream.
 */
#ifndef GST_GID_DISPLAY_H
#define GST_GID_DISPLAY_H

#include "gstgiddeadline.h"
#include "gstgidslots.h"
#include "gstgidtiming.h"

G_BEGIN_DECLS

#define GST_GID_DISPLAY_SENT 64 /* frames that may not have been reported as shown yet */

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

  guint32 number; /* of `domain`; 0: the display of the only consumer */
  guint64 refresh, latency; /* in ns, 0: not known; the object lock */
  guint64 late; /* number of frames that missed their refresh; the object lock */

  /* streaming thread */
  GstGidDeadline deadline;
  struct gid_shown shown; /* the last report of a consumer */
  GstGidSent sent[GST_GID_DISPLAY_SENT]; /* ring indexed by sequence number */
} GstGidDisplay;

void gst_gid_display_init (GstGidDisplay *self, GstBaseSink *sink, GstGidPublication *publication,
    GstGidTiming *timing, GstGidSlots *slots);

/** Resets the state. Returns FALSE with an error if there is no domain `display-domain`. */
gboolean gst_gid_display_start (GstGidDisplay *self, GError **error);

/**
 * Call after each frame was sent. Updates the deadline with what consumers have reported, and sends
 * QoS events upstream for late frames.
 */
void gst_gid_display_follow (GstGidDisplay *self, const struct gid_frame *frame);

/**
 * Implements get_times(): changes the times of a buffer to those at which it should be sent. Live
 * frames are sent as soon as they arrive, and with `display-sync` when the display needs them.
 */
void gst_gid_display_sync_times (
    GstGidDisplay *self, GstBuffer *buffer, GstClockTime *start, GstClockTime *end);

/** Call with the object lock held. */
void gst_gid_display_get_stats (
    const GstGidDisplay *self, guint64 *refresh, guint64 *latency, guint64 *late);

G_END_DECLS

#endif
