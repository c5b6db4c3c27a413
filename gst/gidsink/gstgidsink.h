// SPDX-License-Identifier: MIT
#ifndef GST_GID_SINK_H
#define GST_GID_SINK_H

#include <gst/base/gstbasesink.h>

#include "common/gstgidaccess.h"
#include "common/gstgidcopies.h"
#include "common/gstgidexport.h"
#include "common/gstgidmetadata.h"
#include "common/gstgidnote.h"
#include "common/gstgidpool.h"
#include "common/gstgidposter.h"
#include "gstgiddeadline.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_SINK (gst_gid_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstGidSink, gst_gid_sink, GST, GID_SINK, GstBaseSink)

#define GST_GID_SINK_SENT 64 /* frames whose being shown is waited for */

typedef struct
{
  guint64 time; /* CLOCK_MONOTONIC */
  GstClockTime pts;
} GstGidSinkSent;

struct _GstGidSink
{
  GstBaseSink parent;

  /* properties; the object lock */
  gchar *domain_name, *stream, *readers, *display_domain, *timeline_path;
  guint slots, credit, lease_ms, max_metadata;
  gboolean dmabuf, leaky, wait_for_connection, wait_for_latency, display_sync;
  GstGidCopyPolicy copy_policy;
  /* with `display-sync`, of the consumer's display: ns, 0: not known; the object lock */
  guint64 display_refresh, display_latency;
  guint64 display_late; /* frames that missed their refresh */

  /* from start to stop */
  GstGidDomain *domain;
  struct gid_producer *producer;
  gint only_raw; /* dma-bufs were tried in vain; atomic */
  gint monotonic; /* the clock's time is CLOCK_MONOTONIC; atomic */
  GstGidAccess access; /* where `readers` is set */
  guint32 display_number; /* of `display-domain`; 0: the only consumer's display counts */
  struct gid_timeline *timeline; /* NULL: none */
  struct gid_producer_stats last_stats; /* when there is no producer any more */

  GMutex wait_lock;
  GCond wait_cond; /* a consumer came, or released something; unlock */
  gboolean woken, waiting, unlocked;
  gint end_is_asked; /* by an EOS event from the application; atomic */

  /* the streaming thread's */
  GstCaps *caps;
  GstGidFormat format;
  gchar *description; /* of slabs for these caps */
  GstGidNote note; /* of the present frame */
  GByteArray *metadata; /* likewise */
  GHashTable *told_of; /* GType of metadata, and names of formats, that were told of: a set */
  GstGidAllocator *allocator; /* for these caps; to change with the object lock */
  GstGidAllocator *asked_allocator; /* for an ALLOCATION query with other caps than these */
  GstCaps *asked_caps;
  GstBufferPool *copy_pool; /* likewise */
  gboolean copies_are_dmabufs;
  GstBuffer *prerolled; /* was sent at preroll, and is not to be sent again */
  gboolean picture_is_due; /* nothing was sent since the start or the last flush */
  GstGidPoster poster;
  GstGidDeadline deadline; /* with `display-sync` */
  struct gid_shown shown; /* what was told last */
  GstGidSinkSent sent[GST_GID_SINK_SENT]; /* by the number of the frame */
  guint64 arrived; /* when the present buffer came, CLOCK_MONOTONIC */
  guint64 look_again, ask_again; /* at what consumers can show, and for another format: likewise */
  guint asked; /* how often upstream was to choose again, up to a limit */
  gboolean knows_live, live; /* whether upstream's timestamps say when a picture was taken */

  /* how upstream takes to the pool, see gstgidframe.c */
  gboolean settling; /* until the first frame that was not written in one go */
  guint suspects; /* frames until then */
  GstGidCopies copies;
};

/* gstgidsinkproperties.c */

void gst_gid_sink_install_properties (GObjectClass *klass);
void gst_gid_sink_init_properties (GstGidSink *self);
void gst_gid_sink_finish_properties (GstGidSink *self);

/* gstgidpublish.c */

/** Publishes the stream in the sink's domain. Returns FALSE with an error. */
gboolean gst_gid_sink_publish (GstGidSink *self, GError **error);
void gst_gid_sink_unpublish (GstGidSink *self);

/* gstgidsend.c */

gboolean gst_gid_sink_has_consumer (GstGidSink *self);

/** Waits until a frame can be sent without loss, as far as properties ask for that. */
GstFlowReturn gst_gid_sink_wait_for_consumers (GstGidSink *self);

/**
 * The same before a frame that is prerolled: `*ready` says whether it can be sent. Waits, with the
 * preroll lock given up meanwhile, only where no picture is there that paused consumers could show.
 */
GstFlowReturn gst_gid_sink_wait_to_preroll (GstGidSink *self, gboolean *ready);

/** Waits, not for long, until all that was sent was read: it would be lost with the producer. */
void gst_gid_sink_wait_until_read (GstGidSink *self);

/**
 * Sends the frame; `playing`: the pipeline's clock says when it is to be shown. `*consumers` is how
 * many got it, left as it is after an error; may be NULL.
 */
GstFlowReturn gst_gid_sink_send (
    GstGidSink *self, GstBuffer *buffer, gboolean playing, guint *consumers);

/** Upstream wants its frames back: takes them, but where none is to be lost, when they were read. */
void gst_gid_sink_drain (GstGidSink *self);

/** Sends flags without a picture. */
void gst_gid_sink_send_mark (GstGidSink *self, guint32 flags);

/** Takes back what no consumer has read. */
void gst_gid_sink_take_back (GstGidSink *self);

/* gstgidframe.c: from a buffer to a frame */

/** The frame cannot be sent, but others will be able to: upstream was asked for other memory. */
#define GST_GID_FLOW_NOT_THIS_ONE GST_FLOW_CUSTOM_SUCCESS

/**
 * Finds the gid of the buffer's memory, or copies the frame to memory that has one: then `*buffer`
 * is replaced, as the caller's reference. `*export` is a reference, or NULL for slots of our own.
 * Returns GST_FLOW_OK, GST_GID_FLOW_NOT_THIS_ONE or an error; where it is not `playing` also
 * GST_FLOW_FLUSHING, if the wait for a slot was ended by another change of state.
 */
GstFlowReturn gst_gid_sink_name_frame (GstGidSink *self, gboolean playing, GstBuffer **buffer,
    struct gid_frame *frame, GstGidExport **export);

/** Forgets what was made for the caps until now. */
void gst_gid_sink_clear_caps (GstGidSink *self);

/** The allocator for the sink's caps, or for those of an ALLOCATION query. */
GstGidAllocator *gst_gid_sink_get_allocator (GstGidSink *self, GstCaps *caps);

/* gstgiddisplay.c */

/**
 * With `display-sync`: notes that a frame was sent, learns when the display needs frames, and tells
 * upstream of one that came too late for it.
 */
void gst_gid_sink_follow_display (GstGidSink *self, const struct gid_frame *frame);

/**
 * Makes a frame's own times those at which it is to be sent: what is live, as soon as it is there;
 * with `display-sync`, when the display needs it.
 */
void gst_gid_sink_sync_times (
    GstGidSink *self, GstBuffer *buffer, GstClockTime *start, GstClockTime *end);

/* gstgidsend.c */

/** When it is the frame's turn, on CLOCK_MONOTONIC, or GID_TIME_NONE. */
guint64 gst_gid_sink_due_time (GstGidSink *self, GstBuffer *buffer);

/** When a frame that is `due` then is to be shown: what is live, not before it is there. */
guint64 gst_gid_sink_present_time (GstGidSink *self, guint64 due);

/** Whether upstream's timestamps say when a picture was taken. Once it plays. */
gboolean gst_gid_sink_is_live (GstGidSink *self);

/** Whether frames wait until the pipeline's latency is over, as a film's do. Likewise. */
gboolean gst_gid_sink_waits_for_latency (GstGidSink *self);

/* gstgidchoice.c */

/** All that can be sent, and before that what all consumers can show that told it. */
GstCaps *gst_gid_sink_create_caps (GstGidSink *self);

/**
 * From time to time: has upstream choose another format where consumers cannot show this one, and it
 * has one that they can.
 */
void gst_gid_sink_look_at_consumers (GstGidSink *self);

/* gstgidstats.c */

/** The `stats` of a sink. */
GstStructure *gst_gid_sink_create_stats (gpointer sink);

G_END_DECLS

#endif
