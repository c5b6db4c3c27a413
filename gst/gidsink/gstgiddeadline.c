/* SPDX-License-Identifier: MIT */
#include "gstgiddeadline.h"

/* Parts of a refresh. */
#define MARGIN 8 /* kept between what is needed and what is aimed at */
#define STEP 128 /* later with each frame, at first */
#define BACK 32 /* sooner than what was aimed at, after misses */

/* The display itself is not always in time: one of the last frames that missed says nothing. */
#define RECENT 0xff
/* Frames without misses. */
#define CALM 12 /* after so many it is the deadline that was reached */
#define SOON 512
#define QUIET 4096 /* and after these it goes twice as fast again */
#define PATIENCE_MAX 9

/* Refreshes. A display takes no longer: a consumer that says so cannot have frames sent at once. */
#define LATENCY_MAX 8

/* ns: what was shown before says little of when the refreshes are now. */
#define STALE (10 * G_GINT64_CONSTANT (1000000000))

static gboolean
several (guint32 bits)
{
  return (bits & (bits - 1)) != 0;
}

/*
 * Frames were late. At the edge, or if it was so not long ago, it is known now how far one can go.
 * Else the machine is busy, which passes.
 */
static void
go_back (GstGidDeadline *self)
{
  gint64 period = (gint64) self->refresh;

  if (self->calm >= CALM && (self->need <= self->edge || self->quiet < SOON)) {
    self->edge = MIN (self->need, self->edge + period / MARGIN);
    self->patience = MIN (self->patience + 1, PATIENCE_MAX);
  }
  self->need += period / MARGIN + period / BACK;
  self->recent = self->calm = self->quiet = 0;
}

static void
go_on (GstGidDeadline *self, gint64 latency)
{
  gint64 period = (gint64) self->refresh, step = period / STEP;

  self->calm++;
  if (self->need < self->edge + period / MARGIN)
    step >>= self->patience;
  self->need = MAX (MIN (self->need, latency) - step, 0);
  self->edge = MIN (self->edge, self->need);
  if (++self->quiet >= QUIET && self->patience > 0) {
    self->patience--;
    self->quiet = 0;
  }
}

guint64
gst_gid_deadline_shown (GstGidDeadline *self, guint64 refresh, guint64 latency)
{
  gint64 period = (gint64) refresh, now = (gint64) latency, meant;
  gboolean late, known;

  if (now > LATENCY_MAX * period)
    return 0;
  /* another display, or another mode: all that was learned is void */
  if (ABS ((gint64) self->refresh - period) > period / 16)
    *self = (GstGidDeadline) { .need = now, .calm = CALM };
  self->refresh = refresh;

  meant = self->need + period / MARGIN;
  late = now > meant + period / 2;
  known = self->patience > 0;
  self->recent = self->recent << 1 | late;
  if (late && several (self->recent & RECENT))
    go_back (self);
  else if (!late)
    go_on (self, now);
  return late && known ? (guint64) (now - meant) : 0;
}

guint64
gst_gid_deadline_send_time (
    const GstGidDeadline *self, guint64 shown, guint64 wanted, guint64 earliest)
{
  gint64 period = (gint64) self->refresh, since = (gint64) (wanted - shown), rest, send;

  if (period == 0 || ABS (since) > STALE)
    return wanted;
  rest = since % period;
  if (rest < 0)
    rest += period;
  /* back to the refresh before, or on to the next */
  send = (gint64) wanted - (rest < period / 2 ? rest : rest - period);
  send -= self->need + period / MARGIN;
  if (earliest != 0 && send < (gint64) earliest)
    send += ((gint64) earliest - send + period - 1) / period * period;
  return (guint64) send;
}
