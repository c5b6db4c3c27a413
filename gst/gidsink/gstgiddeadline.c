/* SPDX-License-Identifier: MIT */
#include "gstgiddeadline.h"

/* Fractions of the time between two refreshes: */
#define MARGIN 8 /* margin between the time needed and the time aimed at */
#define STEP 128 /* initial step by which frames are sent later */
#define BACK 32 /* step by which they are sent sooner after misses */

/*
 * The display itself misses refreshes sometimes: a single late frame among the last 8 proves
 * nothing.
 */
#define RECENT 0xff
/* Numbers of frames in time: */
#define CALM 12 /* after so many, a miss means that the deadline was reached */
#define SOON 512
#define QUIET 4096 /* after so many, the step doubles again */
#define PATIENCE_MAX 9

/*
 * Refreshes. No display takes longer: a consumer that claims so must not make frames go out at
 * once.
 */
#define LATENCY_MAX 8

/* In ns: a refresh so long ago says little about the phase of the refreshes now. */
#define STALE (10 * G_GINT64_CONSTANT (1000000000))

static gboolean
several (guint32 bits)
{
  return (bits & (bits - 1)) != 0;
}

/*
 * Frames were late. If the send time was close to the edge, or was so a short time ago, this is the
 * edge. Otherwise the machine is busy, which passes.
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
  /* another display or mode: discard what was learned */
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
  /* move back to the previous refresh, or forward to the next one */
  send = (gint64) wanted - (rest < period / 2 ? rest : rest - period);
  send -= self->need + period / MARGIN;
  if (earliest != 0 && send < (gint64) earliest)
    send += ((gint64) earliest - send + period - 1) / period * period;
  return (guint64) send;
}
