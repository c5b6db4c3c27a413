// SPDX-License-Identifier: MIT
#include "gstgidcredit.h"

/* Defaults if `credit` is 0: a constant, plus the number of frames in `latency`. */
#define CREDIT 24
#define CREDIT_DROP_OLD 4
#define LATENCY_RATE 60
#define LENT_MIN 4
/*
 * Limit of what downstream gets because it asks for more: the producer may not have memory for all
 * of it.
 */
#define LENT_BYTES (64 * 1024 * 1024)

guint
gst_gid_credit_start (GstGidCredit *self)
{
  guint64 credit = self->drop_old ? CREDIT_DROP_OLD : CREDIT;

  self->needed = 0;
  self->latency = 0;
  self->holds_long = FALSE;
  self->may_hold_less = self->credit == 0;
  credit += gst_util_uint64_scale_ceil (self->latency_ms, LATENCY_RATE, 1000);
  self->may_hold = self->credit > 0 ? self->credit : MIN (credit, GID_CREDIT_MAX);
  return self->may_hold;
}

gboolean
gst_gid_credit_drops_old (const GstGidCredit *self)
{
  return self->drop_old;
}

GstClockTime
gst_gid_credit_get_latency (const GstGidCredit *self)
{
  return self->latency_ms * GST_MSECOND;
}

void
gst_gid_credit_set_needed (GstGidCredit *self, guint buffers)
{
  self->needed = buffers;
}

void
gst_gid_credit_set_latency (GstGidCredit *self, GstClockTime latency)
{
  self->latency = latency;
}

guint
gst_gid_credit_get (const GstGidCredit *self, const struct gid_consumer_stats *stats)
{
  return stats->credit > 0 ? MIN (stats->credit, self->may_hold) : self->may_hold;
}

/* The number of frames that downstream holds at once, as far as it has said so. */
static guint
get_needed (GstGidCredit *self, guint64 interval, guint64 size)
{
  guint64 needed = self->needed;

  if (interval > 0)
    needed += self->latency / interval;
  return MIN (needed, LENT_BYTES / MAX (size, 1));
}

gboolean
gst_gid_credit_is_lent (
    GstGidCredit *self, const struct gid_consumer_stats *stats, guint64 interval, guint64 size)
{
  guint credit = gst_gid_credit_get (self, stats);
  guint lent = credit > 2 ? credit - 2 : credit / 2;

  /*
   * by default only a share, so that several readers together do not hold all slots of the producer
   */
  if (self->may_hold_less) {
    guint most = get_needed (self, interval, size);

    lent = MIN (lent, MAX (MAX (credit / 3, LENT_MIN), most));
    self->holds_long |= most > lent; /* it will */
  }
  if (stats->held > lent)
    self->holds_long = TRUE;
  /* if downstream holds that many anyway, leave more of the credit to the ring */
  return stats->held > (self->holds_long ? MIN (lent, credit / 2) : lent);
}
