// SPDX-License-Identifier: MIT
/**
 * Serialises GstMeta to the metadata of a frame; docs/wire-ring.md defines the format. The bytes
 * may come from any peer, so they are not given to gst_meta_deserialize(), which trusts lengths and
 * can create objects of any type. Each supported kind is a row of a table.
 */
#ifndef GST_GID_METADATA_H
#define GST_GID_METADATA_H

#include <gid/stream.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * The custom GstMeta for metadata of programs that do not use GStreamer: gidsrc adds it, and
 * gidsink accepts it. The field "data" of its structure is a GBytes.
 */
#define GST_GID_METADATA_BYTES "GidMetadata"

/** Registers that meta. */
void gst_gid_metadata_register (void);

/**
 * Appends a meta; `bytes` grows to at most `max`. Returns FALSE if the kind is not supported, or
 * the meta is too large.
 */
gboolean gst_gid_metadata_add (GByteArray *bytes, const GstMeta *meta, guint max);

/** Call after the last meta. If GidMetadata is the only one, just its bytes remain. */
void gst_gid_metadata_finish (GByteArray *bytes);

/** Adds the metas to the buffer. Ignores what cannot be parsed. */
void gst_gid_metadata_apply (const guint8 *bytes, gsize size, GstBuffer *buffer);

G_END_DECLS

#endif
