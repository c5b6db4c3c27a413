// SPDX-License-Identifier: MIT
/**
 * What waits for downstream. Frames are missed where there is no credit left for them. So while the
 * streaming thread is away and the ring fills up, the domain's thread takes them out of it, as
 * copies: these wait here, and go before what is in the ring.
 *
 * All functions are called with the domain's lock held, but for those that say otherwise.
 */
#ifndef GST_GID_BACKLOG_H
#define GST_GID_BACKLOG_H

#include <gst/base/gstbasesrc.h>

#include "gstgidcopier.h"
#include "gstgidcredit.h"
#include "gstgidextras.h"
#include "gstgidsequence.h"

G_BEGIN_DECLS

/** A frame that arrived. One with a copy has been given back; `slab` is a reference then. */
typedef struct
{
  struct gid_frame frame;
  struct gid_slab *slab;
  GstBuffer *copy;
  guint8 note[GID_NOTE_MAX]; /* the frame's */
  GByteArray *metadata; /* the frame's, where there is any, once it was read */
  gboolean unasked; /* it, or what would be before it, came while no frames were wanted */
} GstGidArrival;

typedef struct
{
  GstBaseSrc *src;
  GstGidCredit *credit;
  GstGidCopier *copier;
  GstGidExtras *extras;
  GstGidSequence *sequence;
  guint max_size_bytes; /* property */
  gboolean live; /* from start to stop */
  gint flushing; /* atomic */

  /* the domain's lock */
  gboolean is_ending; /* nothing more is wanted than what waits, and */
  guint left; /* so many entries of the ring */
  gboolean was_paused; /* since the last frame, and is live */
  gboolean rested; /* no frames were wanted for a while: in a pause, or at the end */
  guint unasked; /* so many entries of the ring came meanwhile, or are the one behind these */
  gboolean away; /* the streaming thread is downstream with a frame */
  GQueue waiting; /* GstGidArrival */
  gsize waiting_bytes; /* that they take, with all that belongs to them */
  guint waiting_marks; /* those of them that have no picture */
  gboolean copying; /* the domain's thread copies one, without the lock */
  gboolean forgotten; /* that one was, meanwhile */
  GCond copied;
  gsize picture_bytes; /* of the last that came to wait */
  gboolean is_dmabuf; /* downstream takes nothing else, so that nothing can be copied */
  guint64 full_since; /* that the ring is, with a patient producer; 0: it is not */
  guint64 arrived, arrived_at; /* how many entries, and when the last of them was seen */
  guint64 stuck_since; /* that downstream has all, and none can be copied; 0: it has not */
  gboolean warned_stuck;
  guint64 received; /* submit time of the last frame */
} GstGidBacklog;

/** Without the lock: */
void gst_gid_backlog_init (GstGidBacklog *self, GstBaseSrc *src, GstGidCredit *credit,
    GstGidCopier *copier, GstGidExtras *extras, GstGidSequence *sequence);
void gst_gid_backlog_finish (GstGidBacklog *self);
void gst_gid_backlog_start (GstGidBacklog *self, gboolean live);

/** The streaming thread is to come back, or may sleep again. Any thread, without the lock. */
void gst_gid_backlog_set_flushing (GstGidBacklog *self, gboolean flushing);

/** The source pauses. Where it is live, what waits would be older than what was shown before. */
void gst_gid_backlog_pause (GstGidBacklog *self);

/** The application wants the end: it comes behind what is there now. */
void gst_gid_backlog_end (GstGidBacklog *self, GstGidReader *reader);

/** Waits for a frame that is being copied, gives the lock up meanwhile, and forgets what waits. */
void gst_gid_backlog_stop (GstGidBacklog *self, GstGidReader *reader);

guint gst_gid_backlog_get_length (const GstGidBacklog *self);

/**
 * As gid_consumer_receive(), but for what waits here; -ECANCELED: the streaming thread, which alone
 * calls it, is to come back; -ENODATA: the end has come. Gives the lock up while the domain's thread
 * copies a frame.
 */
int gst_gid_backlog_receive (GstGidBacklog *self, GstGidReader *reader, GstGidArrival *arrival);

/**
 * Downstream was told the end: forgets what waits, and gives back what is unread, so that no producer
 * waits for us. To be called again for what comes then. Returns whether downstream holds nothing.
 */
gboolean gst_gid_backlog_let_go (GstGidBacklog *self, GstGidReader *reader);

/** Downstream takes DMA_DRM, and nothing else. */
void gst_gid_backlog_set_dmabuf (GstGidBacklog *self, gboolean is_dmabuf);

/** Takes frames out of the ring where that is needed. The domain's thread, without the lock. */
void gst_gid_backlog_poll (GstGidBacklog *self, GstGidReader *reader);

/** Gives back what became no buffer, but for the frame's memory that one has. Without the lock. */
void gst_gid_arrival_finish (GstGidArrival *arrival, GstGidReader *reader);

G_END_DECLS

#endif
