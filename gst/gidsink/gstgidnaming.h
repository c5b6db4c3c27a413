// SPDX-License-Identifier: MIT
/** Makes a frame of a buffer: finds the gid of its memory, or copies it to memory that has one. */
#ifndef GST_GID_NAMING_H
#define GST_GID_NAMING_H

#include "gstgidchoice.h"
#include "gstgidsidecar.h"

G_BEGIN_DECLS

/**
 * The frame is dropped, but the stream continues: upstream was asked for other memory, or the frame
 * belongs to the caps before the present ones.
 */
#define GST_GID_FLOW_NOT_THIS_ONE GST_FLOW_CUSTOM_SUCCESS

typedef struct
{
  GstElement *element;
  GstGidPublication *publication;
  GstGidSlots *slots;
  GstGidChoice *choice;
  GstGidSidecar *sidecar;
  GstGidCopies copies; /* the object lock */

  /* streaming thread: how upstream uses the pool */
  gboolean settling; /* all frames so far were written before the next slot was taken */
  guint suspects; /* number of these frames */
  gboolean leaves_out; /* the last frame was dropped as late */
} GstGidNaming;

void gst_gid_naming_init (GstGidNaming *self, GstElement *element, GstGidPublication *publication,
    GstGidSlots *slots, GstGidChoice *choice, GstGidSidecar *sidecar);
void gst_gid_naming_start (GstGidNaming *self);

/** Memory was proposed to upstream, which may copy frames into it that it has decoded already. */
void gst_gid_naming_expect_copies (GstGidNaming *self);

/** The caps have changed. */
void gst_gid_naming_clear (GstGidNaming *self);

/**
 * Finds the gid of the buffer's memory, or copies the frame, and replaces `*buffer`, a reference of
 * the caller. `*export` is a reference, or NULL for our own slots. Returns GST_FLOW_OK,
 * GST_GID_FLOW_NOT_THIS_ONE or an error. If not `playing`, also GST_FLOW_FLUSHING, when a state
 * change has interrupted the wait for a slot.
 */
GstFlowReturn gst_gid_naming_name (GstGidNaming *self, gboolean playing, GstBuffer **buffer,
    struct gid_frame *frame, GstGidExport **export);

/** Adds the copies and their reasons to the statistics. Call with the object lock held. */
void gst_gid_naming_add_stats (const GstGidNaming *self, GstStructure *structure);

G_END_DECLS

#endif
