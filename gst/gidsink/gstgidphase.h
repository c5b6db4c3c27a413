/* SPDX-License-Identifier: MIT */
/**
 * How long before a refresh of the consumer's display frames have to be sent, and how far from that
 * the producer is: pure, told of each frame that was shown.
 *
 * What a display needs is found out: frames are sent a little later and later, until one misses its
 * refresh, and from then on as late as those before it, with a margin.
 */
#ifndef GST_GID_PHASE_H
#define GST_GID_PHASE_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 refresh; /* ns; 0: nothing is known */
  gint64 latency; /* sent -> shown, ns: of the last frame that was in time */
  guint late; /* frames since */
  gint64 best; /* the shortest that is thought to be possible */
  gboolean missed; /* a frame has missed its refresh: `best` is near */
  gboolean around; /* on the way through all of a refresh, for sooner was no help */
} GstGidPhase;

/**
 * A frame that was sent `latency` ago was shown, by a display with this time between refreshes.
 * Returns by how many ns later than now the producer should send to be in time with the least
 * latency; negative: sooner. Within a refresh; 0 where the latency does not depend on the time.
 */
gint64 gst_gid_phase_shown (GstGidPhase *self, guint64 refresh, guint64 latency);

/**
 * By how many ns that frame was shown later than those that are in time; 0: it was in time. While
 * nobody knows yet how late frames may be sent, missing a refresh is how that is found out, and
 * says nothing.
 */
guint64 gst_gid_phase_late_by (const GstGidPhase *self, guint64 latency);

G_END_DECLS

#endif
