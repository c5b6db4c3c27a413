// SPDX-License-Identifier: MIT
/** Reads what a frame has beside its picture: reference timestamps in the note, and metadata. */
#ifndef GST_GID_EXTRAS_H
#define GST_GID_EXTRAS_H

#include "common/gstgidnote.h"

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;
  guint max; /* `max-metadata-bytes`; 0: read none */
  gint error; /* why metadata could not be read; atomic */

  /* streaming thread */
  GstGidReferences *references; /* of timestamps that frames had */
  gboolean reported; /* `error` was reported */
} GstGidExtras;

void gst_gid_extras_init (GstGidExtras *self, GstElement *element);
void gst_gid_extras_finish (GstGidExtras *self);
void gst_gid_extras_start (GstGidExtras *self);
void gst_gid_extras_stop (GstGidExtras *self);

/**
 * Reads the metadata of a frame that is still held; NULL if it has none. Call with the domain's
 * lock held.
 */
GByteArray *gst_gid_extras_read (GstGidExtras *self, struct gid_consumer *consumer,
    const struct gid_frame *frame, const struct gid_slab *slab);

/**
 * Adds the note's and the metadata's (may be NULL) metas to the buffer. Reports once why metadata
 * could not be read.
 */
void gst_gid_extras_apply (GstGidExtras *self, const guint8 *note, gsize note_size,
    const GByteArray *metadata, const gchar *stream, GstBuffer *buffer);

G_END_DECLS

#endif
