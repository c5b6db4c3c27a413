// SPDX-License-Identifier: MIT
/**
 * The element gidsrc, and the parts it consists of. Each part has a file of its own; the others
 * only call its functions.
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
  gint monotonic; /* the pipeline clock is CLOCK_MONOTONIC; atomic */
  GstClockTime last_pts; /* of a live source; GST_CLOCK_TIME_NONE: none yet */
  guint64 taken; /* frames that were reclaimed from downstream; the domain's lock */

  /* streaming thread */
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

/** The GInterfaceInitFunc of GstURIHandler, for gid://DOMAIN/STREAM. */
void gst_gid_src_init_uri_handler (gpointer interface, gpointer data);

/* gstgidsrcstats.c */

/** Creates the structure of the `stats` property. */
GstStructure *gst_gid_src_create_stats (gpointer src);

/* gstgidsrcbuffer.c: makes buffers of frames */

/**
 * Makes a buffer of the frame, which it releases when it is freed. Negotiates if the caps have
 * changed. GST_FLOW_OK with `*buffer` NULL: nothing of the frame can be shown.
 */
GstFlowReturn gst_gid_src_make_buffer (GstGidSrc *self, GstGidArrival *arrival, GstBuffer **buffer);

/** Reports missing frames to the user: the first ones and, `at_end`, the total. */
void gst_gid_src_tell_missing (GstGidSrc *self, gboolean at_end);

/**
 * Returns the picture to fill in now, or NULL: then gid_consumer_sleep() returns when the next one
 * is due.
 */
GstBuffer *gst_gid_src_make_filler (GstGidSrc *self);

G_END_DECLS

#endif
