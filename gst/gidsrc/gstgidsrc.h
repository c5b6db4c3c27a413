// SPDX-License-Identifier: MIT
/**
 * The source as GStreamer sees it, and the parts that it is made of. Each part has a file of its own,
 * and what is in it is that file's: others call its functions.
 */
#ifndef GST_GID_SRC_H
#define GST_GID_SRC_H

#include <gst/base/gstpushsrc.h>

#include "common/gstgidposter.h"
#include "gstgidannouncement.h"
#include "gstgidbacklog.h"
#include "gstgidfiller.h"
#include "gstgidimport.h"
#include "gstgidorientation.h"
#include "gstgidsegments.h"
#include "gstgidsubscription.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_SRC (gst_gid_src_get_type ())
G_DECLARE_FINAL_TYPE (GstGidSrc, gst_gid_src, GST, GID_SRC, GstPushSrc)

struct _GstGidSrc
{
  GstPushSrc parent;

  gboolean forward_eos, fd_memory; /* properties; the object lock */
  gboolean live; /* from start to stop */
  gint monotonic; /* the clock's time is CLOCK_MONOTONIC; atomic */
  GstClockTime last_pts; /* of a live source; GST_CLOCK_TIME_NONE: none yet */
  guint64 taken; /* frames that were taken back from downstream; the domain's lock */

  /* the streaming thread's */
  GHashTable *imports; /* a slab's key -> GstGidImport */
  GstCaps *caps;
  gboolean has_video_meta, has_crop_meta;

  GstGidSubscription subscription; /* each part may call those above it */
  GstGidCredit credit;
  GstGidCopier copier;
  GstGidExtras extras;
  GstGidSequence sequence;
  GstGidSegments segments;
  GstGidOrientation orientation;
  GstGidBacklog backlog;
  GstGidFiller filler;
  GstGidAnnouncement announcement;
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

/* gstgidsrcbuffer.c: from a frame to a buffer */

/**
 * The frame as a buffer, which gives it back. Negotiates where the caps are new. GST_FLOW_OK with
 * `*buffer` NULL: there is nothing to see in the frame.
 */
GstFlowReturn gst_gid_src_make_buffer (GstGidSrc *self, GstGidArrival *arrival, GstBuffer **buffer);

/** Where frames are missing: tells people, of the first ones and, `at_end`, of all. */
void gst_gid_src_tell_missing (GstGidSrc *self, gboolean at_end);

/**
 * What is to be filled in now; NULL: nothing. Then gid_consumer_sleep() returns when the next picture
 * is due.
 */
GstBuffer *gst_gid_src_make_filler (GstGidSrc *self);

G_END_DECLS

#endif
