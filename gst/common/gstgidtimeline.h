// SPDX-License-Identifier: MIT
/** The `timeline` property of gidsink and gidsrc. */
#ifndef GST_GID_TIMELINE_H
#define GST_GID_TIMELINE_H

#include <gid/timeline.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * A reference to the timeline `path`, or for NULL to that of $GID_TIMELINE; NULL where there is none.
 * One that cannot be opened is worth a warning of the element, no more.
 */
struct gid_timeline *gst_gid_timeline_open (GstElement *element, const gchar *path);

/** Its specification. */
GParamSpec *gst_gid_timeline_param_spec (GParamFlags flags);

G_END_DECLS

#endif
