// SPDX-License-Identifier: MIT
/**
 * GstMeta as bytes beside a frame: docs/wire-ring.md has their form. What is read comes from anybody, so
 * it does not go to gst_meta_deserialize(), which believes lengths and makes objects of any type:
 * each kind that travels is a row of a table, read by itself.
 */
#ifndef GST_GID_METADATA_H
#define GST_GID_METADATA_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * The custom GstMeta by which bytes of programs that do not use GStreamer come out of gidsrc, and go
 * into gidsink: its structure has them in the field "data", as GBytes.
 */
#define GST_GID_METADATA_BYTES "GidMetadata"

/** Makes that known to GStreamer. */
void gst_gid_metadata_register (void);

/** Adds a metadata to the bytes, up to `max` in all. FALSE: it is of no kind that travels, or too long. */
gboolean gst_gid_metadata_add (GByteArray *bytes, const GstMeta *meta, guint max);

/** All is added: what is of a program that does not use GStreamer, and alone, is its bytes again. */
void gst_gid_metadata_finish (GByteArray *bytes);

/** Adds what the bytes say to the buffer; what cannot be read is left out. */
void gst_gid_metadata_apply (const guint8 *bytes, gsize size, GstBuffer *buffer);

G_END_DECLS

#endif
