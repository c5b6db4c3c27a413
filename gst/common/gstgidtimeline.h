// SPDX-License-Identifier: MIT
/** The `timeline` property of gidsink and gidsrc. */
#ifndef GST_GID_TIMELINE_H
#define GST_GID_TIMELINE_H

#include <gid/timeline.h>
#include <gst/gst.h>

#include "gstgidproperty.h"

G_BEGIN_DECLS

/**
 * Opens the timeline `path` (NULL: $GID_TIMELINE). Returns a reference, or NULL if there is none.
 * Posts a warning if the file cannot be opened.
 */
struct gid_timeline *gst_gid_timeline_open (GstElement *element, const gchar *path);

/** The row of the property. */
#define GST_GID_TIMELINE_ROW(Type, field) \
  { "timeline", "Timeline", \
    "File to which a line is appended for each event of a frame, for gid-timeline (default: " \
    "$GID_TIMELINE)", \
    GST_GID_STRING (Type, field), .flags = GST_GID_READY }

G_END_DECLS

#endif
