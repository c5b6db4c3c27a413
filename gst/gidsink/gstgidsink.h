// SPDX-License-Identifier: MIT
/**
 * The element gidsink, and the parts it consists of. Each part has a file of its own; the others
 * only call its functions.
 */
#ifndef GST_GID_SINK_H
#define GST_GID_SINK_H

#include "common/gstgidposter.h"
#include "gstgiddisplay.h"
#include "gstgidnaming.h"
#include "gstgidrefusals.h"
#include "gstgidwait.h"

G_BEGIN_DECLS

#define GST_TYPE_GID_SINK (gst_gid_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstGidSink, gst_gid_sink, GST, GID_SINK, GstBaseSink)

struct _GstGidSink
{
  GstBaseSink parent;

  gchar *domain_name; /* property; the object lock */
  GstBuffer *prerolled; /* sent in preroll(), so render() skips it; streaming thread */
  gboolean told_empty; /* a warning about an empty buffer was posted; streaming thread */
  gint changed; /* a property was set since the stream was published; atomic */

  GstGidPublication publication; /* each part may call those above it */
  GstGidTiming timing;
  GstGidWait wait;
  GstGidSlots slots;
  GstGidChoice choice;
  GstGidSidecar sidecar;
  GstGidNaming naming;
  GstGidDisplay display;
  GstGidRefusals refusals;
  GstGidPoster poster;
};

/* gstgidsinkproperties.c */

void gst_gid_sink_install_properties (GObjectClass *klass);
void gst_gid_sink_init_properties (GstGidSink *self);
void gst_gid_sink_finish_properties (GstGidSink *self);

/* gstgidsinkstats.c */

/** Creates the structure of the `stats` property. */
GstStructure *gst_gid_sink_create_stats (gpointer sink);

G_END_DECLS

#endif
