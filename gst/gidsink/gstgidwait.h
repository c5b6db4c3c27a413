// SPDX-License-Identifier: MIT
/** Waits of a sink's streaming thread for the stream's consumers, where properties ask for that. */
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
  GCond cond; /* a consumer came, or released something; gidd answered; unlock */
  gboolean woken, waiting, unlocked;
  gint end_is_asked; /* by an EOS event from the application; atomic */
  guint unread; /* before this step of the last wait */
} GstGidWait;

void gst_gid_wait_init (
    GstGidWait *self, GstBaseSink *sink, GstGidPublication *publication, GstGidTiming *timing);
void gst_gid_wait_finish (GstGidWait *self);

/** After a start or a flush: the end that was asked for is over. */
void gst_gid_wait_start (GstGidWait *self);

/** The GstGidWakeFunc of its publication. */
void gst_gid_wait_wake (gpointer self);

/** The element is told to stop waiting, or that it may wait again. */
void gst_gid_wait_set_unlocked (GstGidWait *self, gboolean unlocked);

/** The application wants the end: no consumer is waited for any more. */
void gst_gid_wait_ask_end (GstGidWait *self);

/** Waits until a frame can be sent without loss, as far as properties ask for that. */
GstFlowReturn gst_gid_wait_to_render (GstGidWait *self);

/**
 * The same before a frame that is prerolled: `*ready` says whether it can be sent. Waits, with the
 * preroll lock given up meanwhile, only where no picture is there that paused consumers could show.
 */
GstFlowReturn gst_gid_wait_to_preroll (GstGidWait *self, gboolean *ready);

/**
 * Waits a little for what gidd was asked for. GST_FLOW_OK: it may be there, also after a pause where
 * `rendering`.
 */
GstFlowReturn gst_gid_wait_for_gidd (GstGidWait *self, gboolean rendering);

/**
 * Waits, not for long, until all that was sent was read: it would be lost at the end, and where
 * upstream wants its frames back. Where consumers are waited for, for each entry anew.
 */
void gst_gid_wait_until_read (GstGidWait *self);

G_END_DECLS

#endif
