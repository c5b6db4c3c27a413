// SPDX-License-Identifier: MIT
/**
 * What a sink sends beside the picture: the note in the frame, and metadata in memory of its own.
 */
#ifndef GST_GID_SIDECAR_H
#define GST_GID_SIDECAR_H

#include "common/gstgidnote.h"
#include "gstgidpublication.h"

G_BEGIN_DECLS

/** Used by the streaming thread only. */
typedef struct
{
  GstElement *element;
  GstGidPublication *publication;
  GstGidNote note; /* of the present frame */
  GByteArray *metadata; /* of the present frame */
  GHashTable
      *reported; /* what was reported already: GType of a meta, a reason, or an orientation */
} GstGidSidecar;

void gst_gid_sidecar_init (
    GstGidSidecar *self, GstElement *element, GstGidPublication *publication);
void gst_gid_sidecar_finish (GstGidSidecar *self);
void gst_gid_sidecar_start (GstGidSidecar *self);

/**
 * Serialises the buffer's metas, and sets the frame's note. Reports once each kind of meta that
 * cannot be sent.
 */
void gst_gid_sidecar_read (GstGidSidecar *self, GstBuffer *buffer, struct gid_frame *frame);

/** Sets the frame's note, which is valid until the next call of gst_gid_sidecar_read(). */
void gst_gid_sidecar_describe (const GstGidSidecar *self, struct gid_frame *frame);

/** The serialised metadata. */
const GByteArray *gst_gid_sidecar_get_metadata (const GstGidSidecar *self);

/** A frame was sent without its metadata: reports that once for each reason. */
void gst_gid_sidecar_report_missing (GstGidSidecar *self, int error);

/** Tags are not sent: warns if one says that the video is to be rotated or flipped. */
void gst_gid_sidecar_report_tags (GstGidSidecar *self, const GstTagList *tags);

G_END_DECLS

#endif
