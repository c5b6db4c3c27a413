// SPDX-License-Identifier: MIT
/**
 * Decides whether GstVideoCropMeta can be used, so that upstream marks a part of a picture instead
 * of copying it.
 */
#ifndef GST_GID_CROP_H
#define GST_GID_CROP_H

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * Adds GstVideoCropMeta to the answer to an ALLOCATION query on the sink pad, unless an element
 * between the one that sets the meta and us would draw into the whole picture.
 */
void gst_gid_crop_offer (GstPad *pad, GstQuery *query);

/**
 * Whether downstream supports GstVideoCropMeta, by the answer to an ALLOCATION query of the source
 * pad; FALSE, too, if an element between us and the sink would draw into the whole picture.
 */
gboolean gst_gid_crop_is_taken (GstPad *pad, GstQuery *query);

G_END_DECLS

#endif
