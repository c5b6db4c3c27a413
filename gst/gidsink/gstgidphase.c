/* SPDX-License-Identifier: MIT */
#include "gstgidphase.h"

/* Parts of a refresh. The display itself is not always in time: a miss changes little. */
#define MARGIN 16 /* kept between what is possible and what is aimed at */
#define SEARCH_STEP 128 /* sooner with each frame, until the first miss */
#define STEP 8192 /* the same later */
#define MISS_STEP 32 /* later after a miss */

/* Frames: one that is late alone was the display's doing. After many, it is another display. */
#define LATE 2
#define LATE_STUCK 48
#define LATE_ALL 256

/* The same distance to the nearest refresh. */
static gint64
wrap (gint64 ns, gint64 refresh)
{
  gint64 rest = ns % refresh;

  if (rest >= refresh / 2)
    return rest - refresh;
  return rest < -refresh / 2 ? rest + refresh : rest;
}

gint64
gst_gid_phase_shown (GstGidPhase *self, guint64 refresh, guint64 latency)
{
  gint64 period = (gint64) refresh, now = (gint64) latency, later;

  /* another display, or another mode: all that was learned is void */
  if (ABS ((gint64) self->refresh - period) > period / 16)
    *self = (GstGidPhase) { .latency = now, .best = now };
  self->refresh = refresh;

  if (now - self->latency > period / 2 && self->late < LATE_ALL) {
    if (++self->late == LATE) {
      self->missed = TRUE;
      self->best = self->latency + period / MISS_STEP;
    }
    /* Where each refresh shows one frame and there is one for each, one that was late keeps the
     * place of the next: sooner frames only wait longer. Later ones leave a refresh without any. */
    if (self->late == LATE_STUCK)
      self->around = TRUE;
  } else {
    if (self->late == LATE_ALL) {
      self->best = now;
      self->around = FALSE;
    }
    self->best = MIN (self->best, now) - period / (self->missed ? STEP : SEARCH_STEP);
    self->latency = now;
    self->late = 0;
  }
  /* whatever the time, it takes as long: what has no refreshes cannot be followed */
  if (now - self->best > period && self->late == 0) {
    self->best = now - period;
    return 0;
  }
  self->best = MAX (self->best, 0);
  later = now - self->best - period / MARGIN;
  if (later < period / 4)
    self->around = FALSE;
  return self->around ? MIN (later, period) : wrap (later, period);
}

guint64
gst_gid_phase_late_by (const GstGidPhase *self, guint64 latency)
{
  return self->missed && self->late > 0 ? latency - (guint64) self->latency : 0;
}
