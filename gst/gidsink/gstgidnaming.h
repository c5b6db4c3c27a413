// SPDX-License-Identifier: MIT
/** From a sink's buffer to a frame: the gid of its memory, with a copy where there is none. */
#ifndef GST_GID_NAMING_H
#define GST_GID_NAMING_H

#include "gstgidchoice.h"
#include "gstgidsidecar.h"

G_BEGIN_DECLS

/**
 * The frame cannot be sent, but others will be able to: upstream was asked for other memory, or the
 * frame is of the caps before these.
 */
#define GST_GID_FLOW_NOT_THIS_ONE GST_FLOW_CUSTOM_SUCCESS

typedef struct
{
  GstElement *element;
  GstGidPublication *publication;
  GstGidSlots *slots;
  GstGidChoice *choice;
  GstGidSidecar *sidecar;
  GstGidCopyPolicy copy_policy; /* property; the object lock */

  /* the streaming thread's: how upstream takes to the pool */
  gboolean settling; /* until the first frame that was not written in one go */
  guint suspects; /* frames until then */
  gboolean leaves_out; /* the last frame was late */
  GstGidCopies copies;
} GstGidNaming;

void gst_gid_naming_init (GstGidNaming *self, GstElement *element, GstGidPublication *publication,
    GstGidSlots *slots, GstGidChoice *choice, GstGidSidecar *sidecar);
void gst_gid_naming_start (GstGidNaming *self);

/** Upstream is offered memory, and may have decoded frames already that it will copy there. */
void gst_gid_naming_expect_copies (GstGidNaming *self);

/** Frames come with other caps. */
void gst_gid_naming_clear (GstGidNaming *self);

/**
 * Finds the gid of the buffer's memory, or copies the frame to memory that has one: then `*buffer`
 * is replaced, as the caller's reference. `*export` is a reference, or NULL for slots of our own.
 * Returns GST_FLOW_OK, GST_GID_FLOW_NOT_THIS_ONE or an error; where it is not `playing` also
 * GST_FLOW_FLUSHING, if the wait for a slot was ended by another change of state.
 */
GstFlowReturn gst_gid_naming_name (GstGidNaming *self, gboolean playing, GstBuffer **buffer,
    struct gid_frame *frame, GstGidExport **export);

/** Adds the copies and their reasons. With the object lock held. */
void gst_gid_naming_add_stats (const GstGidNaming *self, GstStructure *structure);

G_END_DECLS

#endif
