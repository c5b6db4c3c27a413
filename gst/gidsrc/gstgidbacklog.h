// SPDX-License-Identifier: MIT
/**
 * The queue of frames that wait for downstream. Frames are missed when there is no credit left for
 * them. So while the streaming thread is away and the ring fills up, the domain's thread copies
 * frames out of the ring. The copies wait here, and are received before the frames in the ring.
 *
 * Call all functions with the domain's lock held, unless noted otherwise.
 */
#ifndef GST_GID_BACKLOG_H
#define GST_GID_BACKLOG_H

#include <gst/base/gstbasesrc.h>

#include "gstgidcopier.h"
#include "gstgidcredit.h"
#include "gstgidextras.h"
#include "gstgidsequence.h"

G_BEGIN_DECLS

/** A received frame. If it has a copy, it was released already, and `slab` is a reference. */
typedef struct
{
  struct gid_frame frame;
  struct gid_slab *slab;
  GstBuffer *copy;
  guint8 note[GID_NOTE_MAX]; /* of the frame */
  GByteArray *metadata; /* of the frame; NULL: none, or not read yet */
  gboolean unasked; /* frames were not wanted when this one, or the one before it, was sent */
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
  gboolean is_ending; /* end after the waiting frames, and after */
  guint left; /* this number of entries in the ring */
  gboolean was_paused; /* since the last frame; live sources only */
  gboolean rested; /* no frames were wanted for a while: in a pause, or at the end */
  guint unasked; /* so many of the next entries were sent meanwhile, or follow these */
  gboolean away; /* the streaming thread is downstream with a frame */
  GQueue waiting; /* of GstGidArrival */
  gsize waiting_bytes; /* memory used by `waiting` */
  guint waiting_marks; /* number of entries of `waiting` without a picture */
  gboolean copying; /* the domain's thread is copying a frame, without the lock */
  gboolean forgotten; /* `waiting` was cleared while it was copying */
  GCond copied;
  gsize picture_bytes; /* size of the last frame that was copied */
  gboolean is_dmabuf; /* downstream only accepts DMA_DRM, so nothing can be copied */
  guint64 full_since; /* since when the ring of a patient producer is full; 0: it is not */
  guint64 arrived, arrived_at; /* number of entries, and when the last one was seen */
  guint64 stuck_since; /* since when is_stuck() is true; 0: it is not */
  gboolean warned_stuck;
  guint64 received; /* submit time of the last frame */
} GstGidBacklog;

/** Without the lock: */
void gst_gid_backlog_init (GstGidBacklog *self, GstBaseSrc *src, GstGidCredit *credit,
    GstGidCopier *copier, GstGidExtras *extras, GstGidSequence *sequence);
void gst_gid_backlog_finish (GstGidBacklog *self);
void gst_gid_backlog_start (GstGidBacklog *self, gboolean live);

/** Makes the streaming thread return, or lets it wait again. Any thread, without the lock. */
void gst_gid_backlog_set_flushing (GstGidBacklog *self, gboolean flushing);

/** The source pauses. Drops waiting frames of a live source: after the pause they are outdated. */
void gst_gid_backlog_pause (GstGidBacklog *self);

/** The application has sent EOS: it takes effect after the frames that have arrived by now. */
void gst_gid_backlog_end (GstGidBacklog *self, GstGidReader *reader);

/** Waits for a copy in progress, releasing the lock meanwhile, and drops the waiting frames. */
void gst_gid_backlog_stop (GstGidBacklog *self, GstGidReader *reader);

guint gst_gid_backlog_get_length (const GstGidBacklog *self);

/**
 * Returns what gid_consumer_receive() does, but takes waiting frames first. -ECANCELED: the source
 * is flushing. -ENODATA: the end that the application has asked for. Only the streaming thread
 * calls it. Releases the lock while the domain's thread copies a frame.
 */
int gst_gid_backlog_receive (GstGidBacklog *self, GstGidReader *reader, GstGidArrival *arrival);

/**
 * Downstream is at EOS: drops the waiting frames and releases unread ones, so that no producer
 * waits for this source. Call again for frames that arrive later. Returns whether downstream holds
 * no frame.
 */
gboolean gst_gid_backlog_release_all (GstGidBacklog *self, GstGidReader *reader);

/** Downstream accepts only DMA_DRM caps. */
void gst_gid_backlog_set_dmabuf (GstGidBacklog *self, gboolean is_dmabuf);

/** Copies frames out of the ring if necessary. Called by the domain's thread, without the lock. */
void gst_gid_backlog_poll (GstGidBacklog *self, GstGidReader *reader);

/** Releases what has not become part of a buffer. Call without the lock. */
void gst_gid_arrival_finish (GstGidArrival *arrival, GstGidReader *reader);

G_END_DECLS

#endif
