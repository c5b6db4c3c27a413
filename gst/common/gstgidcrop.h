// SPDX-License-Identifier: MIT
/** Parts of pictures that upstream may mark instead of copying them. */
#ifndef GST_GID_CROP_H
#define GST_GID_CROP_H

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * Says in an ALLOCATION query of the sink pad that a GstVideoCropMeta is understood, where nobody
 * between its maker and us would draw into the whole picture.
 */
void gst_gid_crop_offer (GstPad *pad, GstQuery *query);

/**
 * Whether who shows our pictures understands a GstVideoCropMeta, by the answer to an ALLOCATION query
 * of the src pad, where likewise nobody between us would draw into the whole picture.
 */
gboolean gst_gid_crop_is_taken (GstPad *pad, GstQuery *query);

G_END_DECLS

#endif
