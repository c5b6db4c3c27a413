// SPDX-License-Identifier: MIT
#ifndef GST_GID_SRC_H
#define GST_GID_SRC_H

#include <gst/base/gstpushsrc.h>

#include "common/gstgidcopies.h"
#include "gstgidimport.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_SRC (gst_gid_src_get_type ())
G_DECLARE_FINAL_TYPE (GstGidSrc, gst_gid_src, GST, GID_SRC, GstPushSrc)

struct _GstGidSrc
{
  GstPushSrc parent;

  /* properties; the object lock */
  gchar *domain_name, *stream, *reader_name, *timeline_path;
  guint credit, latency_ms, stats_interval_ms;
  gboolean drop_old, reconnect, forward_eos, fd_memory, dmabuf;
  GstGidCopyPolicy copy_policy;

  /* from start to stop */
  GstGidReader *reader;
  struct gid_timeline *timeline; /* NULL: none */
  gint flushing; /* atomic */
  gint monotonic; /* the clock's time is CLOCK_MONOTONIC; atomic */
  struct gid_consumer_stats last_stats; /* when there is no consumer any more */
  gchar *asked_for; /* stream and domain, in words */
  gboolean waits; /* as reconnect was at the start */

  /* the domain's lock */
  enum gid_consumer_state state;
  int reason;
  gboolean answered, subscribed; /* whether gidd has answered, and ever with yes */
  GError *refusal; /* it never will; not changed again before the end */

  /* the streaming thread's */
  GHashTable *imports; /* a slab's key -> GstGidImport */
  enum gid_consumer_state posted_state;
  GstCaps *caps;
  gboolean has_video_meta, has_crop_meta;
  GstGidView kind; /* of memory that downstream gets */
  GstBufferPool *copy_pool; /* where downstream needs copies of these caps; else NULL */
  gboolean discont;
  guint64 sequence; /* of the last frame */
  guint64 lost; /* frames whose slab could not be imported */
  GstGidCopies copies;
  gint64 stats_posted;
};

/* gstgidsrcproperties.c */

void gst_gid_src_install_properties (GObjectClass *klass);
void gst_gid_src_init_properties (GstGidSrc *self);
void gst_gid_src_finish_properties (GstGidSrc *self);

/* gstgidsrcstats.c */

/** The `stats` property. */
GstStructure *gst_gid_src_create_stats (GstGidSrc *self);

/** Posts them as an element message, where it is time or `now`. */
void gst_gid_src_post_stats (GstGidSrc *self, gboolean now);

/** Posts what became of the stream. */
void gst_gid_src_post_state (GstGidSrc *self, enum gid_consumer_state state, int reason);

/* gstgidsrcbuffer.c: from a frame to a buffer */

/**
 * The frame as a buffer, which gives it back. Negotiates where the caps are new. GST_FLOW_OK with
 * `*buffer` NULL: there is nothing to see in the frame.
 */
GstFlowReturn gst_gid_src_make_buffer (
    GstGidSrc *self, const struct gid_frame *frame, GstBuffer **buffer);

/** Gives a frame back that became no buffer. */
void gst_gid_src_release (GstGidSrc *self, const struct gid_frame *frame);

/** Lets go of the memory for copies. */
void gst_gid_src_clear_copies (GstGidSrc *self);

G_END_DECLS

#endif
