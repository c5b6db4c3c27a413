// SPDX-License-Identifier: MIT
/**
 * Serialises caps and structures to text that travels between domains, and parses it: fixed caps
 * whose fields have simple types. The text may come from any peer, so it is never given to
 * gst_caps_from_string(), which can create objects of any type.
 */
#ifndef GST_GID_CAPS_H
#define GST_GID_CAPS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * Serialises the first structure of the caps as gst_caps_to_string() does, in at most `max` bytes.
 * If not all fields fit, those that define how the picture is displayed come first. `*lost` (may be
 * NULL) is a comma-separated list of the fields left out, or NULL if there is none. Returns NULL if
 * not even the name and the features fit.
 */
gchar *gst_gid_caps_to_text (const GstCaps *caps, gsize max, gchar **lost);

/**
 * Parses fixed caps, of raw video or of a reference timestamp, from `size` bytes. Ignores fields of
 * other types. Returns NULL if the text is malformed.
 */
GstCaps *gst_gid_caps_from_text (const gchar *text, gsize size);

/** The same for a structure with any name and fields of simple types. */
gchar *gst_gid_structure_to_text (const GstStructure *structure, gsize max, gchar **lost);
GstStructure *gst_gid_structure_from_text (const gchar *text, gsize size);

/**
 * Whether a name that a peer chose may be used. GStreamer interns names for the lifetime of the
 * process, so at most 4096 are accepted, of at most 63 bytes of UTF-8.
 */
gboolean gst_gid_name_is_welcome (const gchar *name);

G_END_DECLS

#endif
