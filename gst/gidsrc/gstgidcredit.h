// SPDX-License-Identifier: MIT
/** How many frames a source may have at once, and how many of these downstream may have. */
#ifndef GST_GID_CREDIT_H
#define GST_GID_CREDIT_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  /* properties; the object lock */
  guint credit, latency_ms;
  gboolean drop_old;

  /* the domain's lock */
  guint may_hold; /* what was asked for, */
  gboolean may_hold_less; /* and whether nobody said so much */
  guint needed; /* buffers, by downstream's answer to the ALLOCATION query */
  GstClockTime latency; /* of the pipeline, as the LATENCY event says */
  gboolean holds_long; /* downstream has held more than a ring has for it */
} GstGidCredit;

/** Nothing is known of downstream. Returns how many frames to ask for. With the object lock held. */
guint gst_gid_credit_start (GstGidCredit *self);

/** Whether unread frames are dropped for newer ones. */
gboolean gst_gid_credit_drops_old (const GstGidCredit *self);

/** By how much later than the producer's time sinks show the frames, in ns. With the object lock. */
GstClockTime gst_gid_credit_get_latency (const GstGidCredit *self);

/** The rest with the domain's lock held. What downstream says of itself: */
void gst_gid_credit_set_needed (GstGidCredit *self, guint buffers);
void gst_gid_credit_set_latency (GstGidCredit *self, GstClockTime latency);

/** What the producer says that it allows, which is no more than was asked for. */
guint gst_gid_credit_get (const GstGidCredit *self, const struct gid_consumer_stats *stats);

/**
 * Whether downstream holds so many frames that another is to be copied. `interval`: from one frame
 * to the next, ns; 0: not known. `size`: of a slot.
 */
gboolean gst_gid_credit_is_lent (
    GstGidCredit *self, const struct gid_consumer_stats *stats, guint64 interval, guint64 size);

G_END_DECLS

#endif
