// SPDX-License-Identifier: MIT
/** What comes beside a source's frames: reference timestamps in their notes, and metadata. */
#ifndef GST_GID_EXTRAS_H
#define GST_GID_EXTRAS_H

#include "common/gstgidnote.h"

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;
  guint max; /* `max-metadata-bytes`; 0: none is read */
  gint error; /* why there was none of a frame that has some; atomic */

  /* the streaming thread's */
  GstGidReferences *references; /* of timestamps that frames brought */
  gboolean reported; /* the error */
} GstGidExtras;

void gst_gid_extras_init (GstGidExtras *self, GstElement *element);
void gst_gid_extras_finish (GstGidExtras *self);
void gst_gid_extras_start (GstGidExtras *self);
void gst_gid_extras_stop (GstGidExtras *self);

/**
 * The frame's metadata, read while the frame is held, or NULL where there is none. With the domain's
 * lock held.
 */
GByteArray *gst_gid_extras_read (GstGidExtras *self, struct gid_consumer *consumer,
    const struct gid_frame *frame, const struct gid_slab *slab);

/**
 * Adds what the note and the metadata (may be NULL) say to the buffer. Says once why there was no
 * metadata, where there should be.
 */
void gst_gid_extras_apply (GstGidExtras *self, const guint8 *note, gsize note_size,
    const GByteArray *metadata, const gchar *stream, GstBuffer *buffer);

G_END_DECLS

#endif
