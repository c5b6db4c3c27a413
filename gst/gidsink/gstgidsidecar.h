// SPDX-License-Identifier: MIT
/** What goes beside a sink's frames: the note in the frame itself, and metadata in memory of its own. */
#ifndef GST_GID_SIDECAR_H
#define GST_GID_SIDECAR_H

#include "common/gstgidnote.h"
#include "gstgidpublication.h"

G_BEGIN_DECLS

/** All of it is the streaming thread's. */
typedef struct
{
  GstElement *element;
  GstGidPublication *publication;
  GstGidNote note; /* of the present frame */
  GByteArray *metadata; /* likewise */
  GHashTable
      *reported; /* what the application was told of: GType of metadata, reasons, orientations */
} GstGidSidecar;

void gst_gid_sidecar_init (
    GstGidSidecar *self, GstElement *element, GstGidPublication *publication);
void gst_gid_sidecar_finish (GstGidSidecar *self);
void gst_gid_sidecar_start (GstGidSidecar *self);

/**
 * Reads what the buffer has, and describes it in the frame; the application is told once of each kind
 * that does not travel.
 */
void gst_gid_sidecar_read (GstGidSidecar *self, GstBuffer *buffer, struct gid_frame *frame);

/** The frame gets the note that was read last, which lives until the next buffer is read. */
void gst_gid_sidecar_describe (const GstGidSidecar *self, struct gid_frame *frame);

/** The metadata's bytes, as they cross to readers. */
const GByteArray *gst_gid_sidecar_get_metadata (const GstGidSidecar *self);

/** Readers got the picture without its metadata: told once for each reason. */
void gst_gid_sidecar_report_missing (GstGidSidecar *self, int error);

/** Tags do not travel: tells of one that says to show the film turned. */
void gst_gid_sidecar_report_tags (GstGidSidecar *self, const GstTagList *tags);

G_END_DECLS

#endif
