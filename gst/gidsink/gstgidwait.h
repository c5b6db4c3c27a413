// SPDX-License-Identifier: MIT
/** Waits of a sink's streaming thread for the stream's consumers. */
#ifndef GST_GID_WAIT_H
#define GST_GID_WAIT_H

#include "gstgidpublication.h"
#include "gstgidtiming.h"

G_BEGIN_DECLS

typedef struct
{
  GstBaseSink *sink;
  GstGidPublication *publication;
  GstGidTiming *timing;
  gboolean for_connection; /* property; the object lock */

  GMutex lock;
  GCond cond; /* a consumer joined or released something, gidd answered, or unlock() was called */
  gboolean woken, waiting, unlocked;
  gint end_is_asked; /* the application has sent EOS; atomic */
  guint unread; /* number of unread entries before this step of the wait */
} GstGidWait;

void gst_gid_wait_init (
    GstGidWait *self, GstBaseSink *sink, GstGidPublication *publication, GstGidTiming *timing);
void gst_gid_wait_finish (GstGidWait *self);

/** At a start or after a flush: forgets an EOS of the application. */
void gst_gid_wait_start (GstGidWait *self);

/** The GstGidWakeFunc of the publication. */
void gst_gid_wait_wake (gpointer self);

/** Implements unlock() and unlock_stop(). */
void gst_gid_wait_set_unlocked (GstGidWait *self, gboolean unlocked);

/** The application has sent EOS: do not wait for a consumer any more. */
void gst_gid_wait_ask_end (GstGidWait *self);

/** Waits until a frame can be sent without a loss, as far as properties require it. */
GstFlowReturn gst_gid_wait_to_render (GstGidWait *self);

/**
 * The same in preroll: `*ready` is whether the frame can be sent now. Waits only if consumers have
 * no picture yet that they could show; the preroll lock is released meanwhile.
 */
GstFlowReturn gst_gid_wait_to_preroll (GstGidWait *self, gboolean *ready);

/**
 * Waits a little for an answer of gidd. GST_FLOW_OK: it may have arrived; if `rendering`, also
 * after a pause.
 */
GstFlowReturn gst_gid_wait_for_gidd (GstGidWait *self, gboolean rendering);

/**
 * Waits a limited time until consumers have read everything: what is unread at the end would be
 * lost, and at a DRAIN query upstream needs its buffers back. With leaky=false, the limit applies
 * to each entry.
 */
void gst_gid_wait_until_read (GstGidWait *self);

G_END_DECLS

#endif
