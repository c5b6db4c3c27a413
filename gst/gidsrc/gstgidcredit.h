// SPDX-License-Identifier: MIT
/** Decides how many frames a source may hold at once, and how many of them downstream may hold. */
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
  guint may_hold; /* the credit that was requested, */
  gboolean may_hold_less; /* and whether it is the default */
  guint needed; /* buffers that downstream needs, by its answer to the ALLOCATION query */
  GstClockTime latency; /* of the pipeline, by the LATENCY event */
  gboolean holds_long; /* downstream has held more than a ring allows */
} GstGidCredit;

/** Resets the state. Returns the credit to request. Call with the object lock held. */
guint gst_gid_credit_start (GstGidCredit *self);

/** Whether newer frames replace unread ones. */
gboolean gst_gid_credit_drops_old (const GstGidCredit *self);

/** The additional latency of the source, in ns. Call with the object lock held. */
GstClockTime gst_gid_credit_get_latency (const GstGidCredit *self);

/** Call the following functions with the domain's lock held. Requirements of downstream: */
void gst_gid_credit_set_needed (GstGidCredit *self, guint buffers);
void gst_gid_credit_set_latency (GstGidCredit *self, GstClockTime latency);

/** The credit that the producer grants, which is at most the requested one. */
guint gst_gid_credit_get (const GstGidCredit *self, const struct gid_consumer_stats *stats);

/**
 * Whether downstream holds so many frames that the next one must be copied. `interval`: time
 * between two frames, in ns; 0: not known. `size`: of a slot.
 */
gboolean gst_gid_credit_is_lent (
    GstGidCredit *self, const struct gid_consumer_stats *stats, guint64 interval, guint64 size);

G_END_DECLS

#endif
