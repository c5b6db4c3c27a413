// SPDX-License-Identifier: MIT
/** Converts between GstVideoColorimetry and the colours of a layout, without loss. */
#ifndef GST_GID_COLOURS_H
#define GST_GID_COLOURS_H

#include <gid/gid.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

void gst_gid_colours_from_colorimetry (
    struct gid_colours *colours, const GstVideoColorimetry *colorimetry);
void gst_gid_colours_to_colorimetry (
    const struct gid_colours *colours, GstVideoColorimetry *colorimetry);

/** Whether any of the fields is set. */
gboolean gst_gid_colours_are_said (const struct gid_colours *colours);

/** Whether both are equal, or one of them has no field set. */
gboolean gst_gid_colours_agree (const struct gid_colours *a, const struct gid_colours *b);

G_END_DECLS

#endif
