// SPDX-License-Identifier: MIT
#ifndef GST_GID_SRC_H
#define GST_GID_SRC_H

#include <gst/base/gstpushsrc.h>

#include "common/gstgidcopies.h"
#include "common/gstgidnote.h"
#include "common/gstgidposter.h"
#include "gstgidimport.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_SRC (gst_gid_src_get_type ())
G_DECLARE_FINAL_TYPE (GstGidSrc, gst_gid_src, GST, GID_SRC, GstPushSrc)

/** A frame that came. One with a copy has been given back; `slab` is a reference then. */
typedef struct
{
  struct gid_frame frame;
  struct gid_slab *slab;
  GstBuffer *copy;
  guint8 note[GID_NOTE_MAX]; /* the frame's */
  GByteArray *metadata; /* the frame's, where there is any, once it was read */
} GstGidArrival;

struct _GstGidSrc
{
  GstPushSrc parent;

  /* properties; the object lock */
  gchar *domain_name, *stream, *reader_name, *timeline_path;
  guint credit, latency_ms, max_metadata;
  guint max_size_bytes;
  gboolean drop_old, reconnect, forward_eos, fd_memory, dmabuf;
  GstGidCopyPolicy copy_policy;

  /* from start to stop */
  GstGidReader *reader;
  struct gid_timeline *timeline; /* NULL: none */
  gboolean live;
  gint flushing; /* atomic */
  gint monotonic; /* the clock's time is CLOCK_MONOTONIC; atomic */
  struct gid_consumer_stats last_stats; /* when there is no consumer any more */
  gchar *asked_for; /* stream and domain, in words */
  gboolean waits; /* as reconnect was at the start */

  /* the domain's lock */
  enum gid_consumer_state state;
  int reason;
  guint may_hold; /* what was asked for, */
  gboolean may_hold_less; /* and whether nobody said so much */
  gboolean was_paused; /* since the last frame, and is live */
  gboolean away; /* the streaming thread is downstream with a frame */
  GQueue waiting; /* GstGidArrival: for when it comes back, before what is in the ring */
  gsize waiting_bytes;
  gboolean copying; /* the domain's thread copies one for it, without the lock */
  gboolean forgotten; /* that one was, meanwhile */
  GCond copied;
  gsize picture_bytes; /* of the last that came to wait */
  gboolean is_dmabuf; /* downstream takes nothing else, so that nothing can be copied */
  GstGidView kind; /* of memory that downstream gets */
  guint asks_for; /* buffers, by its answer to the ALLOCATION query */
  GstClockTime latency; /* of the pipeline, as the LATENCY event says */
  guint64 full_since; /* that the ring is, with a patient producer; 0: it is not */
  guint64 came, came_at; /* how many entries, and when the last of them was seen */
  guint64 stuck_since; /* that downstream has all, and none can be copied; 0: it has not */
  gboolean told_stuck;
  gboolean holds_long; /* downstream has held more than a ring has for it */
  guint64 received; /* submit time of the last frame */
  guint64 taken; /* frames that were taken back from downstream */
  gboolean answered, subscribed; /* whether gidd has answered, and ever with yes */
  GError *refusal; /* it never will; not changed again before the end */

  /* the streaming thread's */
  GHashTable *imports; /* a slab's key -> GstGidImport */
  GstGidReferences *references; /* of timestamps that frames brought */
  enum gid_consumer_state posted_state;
  GstCaps *caps;
  gboolean has_video_meta, has_crop_meta;
  GstBufferPool *held_pool; /* for frames that downstream would hold too many of */
  gsize held_size; /* of its buffers */
  GstBufferPool *copy_pool; /* where downstream needs copies of these caps; else NULL */
  gint metadata_error; /* why there was none of a frame that has some; atomic */
  gboolean told_metadata;
  gboolean discont;
  guint64 sequence; /* of the last frame */
  guint64 lost; /* frames whose slab could not be imported, or that were taken back at once */
  guint64 gone_by, missed; /* frames that came, and that did not */
  GstGidCopies copies;
  GstGidPoster poster;
};

/* gstgidsrcproperties.c */

void gst_gid_src_install_properties (GObjectClass *klass);
void gst_gid_src_init_properties (GstGidSrc *self);
void gst_gid_src_finish_properties (GstGidSrc *self);

/* gstgidsrcuri.c */

/** As a GInterfaceInitFunc: gid://DOMAIN/STREAM. */
void gst_gid_src_init_uri_handler (gpointer interface, gpointer data);

/* gstgidsrcstats.c */

/** The `stats` of a source. */
GstStructure *gst_gid_src_create_stats (gpointer src);

/** Posts what became of the stream. */
void gst_gid_src_post_state (GstGidSrc *self, enum gid_consumer_state state, int reason);

/* gstgidsrcbuffer.c: from a frame to a buffer */

/**
 * The frame as a buffer, which gives it back. Negotiates where the caps are new. GST_FLOW_OK with
 * `*buffer` NULL: there is nothing to see in the frame.
 */
GstFlowReturn gst_gid_src_make_buffer (GstGidSrc *self, GstGidArrival *arrival, GstBuffer **buffer);

/** Lets go of the memory for copies. */
void gst_gid_src_clear_copies (GstGidSrc *self);

/* gstgidsrcheld.c: what downstream holds, and what waits for it */

/** How many frames to ask for at once, as the properties say. With the object lock held. */
guint gst_gid_src_choose_credit (const GstGidSrc *self);

/**
 * Waits until the domain's thread has copied the frame that it is taking out of the ring, if any.
 * With the domain's lock held, which is given up meanwhile.
 */
void gst_gid_src_wait_taken (GstGidSrc *self);

/** As gid_consumer_receive(), but for what waits here. With the domain's lock held, as above. */
int gst_gid_src_receive (GstGidSrc *self, GstGidArrival *arrival);

/** Gives back what became no buffer, but for the frame's memory that one has. */
void gst_gid_src_finish_arrival (GstGidSrc *self, GstGidArrival *arrival);

/**
 * Reads the frame's metadata, while the frame is held. With the domain's lock held. Without it,
 * gst_gid_src_tell_metadata() says once why there was none, where there should be.
 */
void gst_gid_src_read_metadata (
    GstGidSrc *self, GstGidArrival *arrival, const struct gid_slab *slab);

void gst_gid_src_tell_metadata (GstGidSrc *self);

/** Forgets what waits. With the domain's lock held. */
void gst_gid_src_forget_waiting (GstGidSrc *self);

/**
 * Whether downstream holds so many frames that this one is to be copied, or its lease is too short
 * to be renewed. With the domain's lock held.
 */
gboolean gst_gid_src_holds_enough (GstGidSrc *self, const GstGidImport *import);

/**
 * The frame as a copy, and gives it back; or NULL where it cannot be copied now, or, with `*stale`,
 * was taken back meanwhile. Counts nothing.
 */
GstBuffer *gst_gid_src_copy_frame (
    GstGidSrc *self, const GstGidImport *import, const struct gid_frame *frame, gboolean *stale);

/** Counts a copy of a frame that downstream has no credit or no time for, and says so once. */
gboolean gst_gid_src_count_held (GstGidSrc *self, gsize size);

/** A frame is given downstream. Says what was missed before it. */
void gst_gid_src_note_sequence (GstGidSrc *self, const struct gid_frame *frame, GstBuffer *buffer);

/** The GstGidReaderFunc of a gidsrc. */
void gst_gid_src_look (GstGidReader *reader, GstElement *element, guint taken);

G_END_DECLS

#endif
