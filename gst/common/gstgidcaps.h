// SPDX-License-Identifier: MIT
/**
 * Caps as text that travels between domains: fixed ones, of fields with simple types. What is read
 * comes from anybody, so it does not go to gst_caps_from_string(), which makes objects of any type.
 */
#ifndef GST_GID_CAPS_H
#define GST_GID_CAPS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * Text for the first structure of the caps, in gst_caps_to_string()'s form, of at most `max` bytes.
 * Where there is no room for all fields, those come first that say what the pixels mean. `*lost`
 * (may be NULL) names those that are left out, with commas between; NULL: none is. NULL where there
 * is no room for the name and its features.
 */
gchar *gst_gid_caps_to_text (const GstCaps *caps, gsize max, gchar **lost);

/**
 * Fixed caps of raw video, or of a timestamp's reference, from `size` bytes; fields of other types are
 * left out. NULL: it is no such text.
 */
GstCaps *gst_gid_caps_from_text (const gchar *text, gsize size);

/** The same of a structure with any name and any fields of simple types. */
gchar *gst_gid_structure_to_text (const GstStructure *structure, gsize max, gchar **lost);
GstStructure *gst_gid_structure_from_text (const gchar *text, gsize size);

/**
 * Whether a name that came from anybody may be used: GStreamer keeps each one for as long as the
 * process lives, so there are 4096 at most, of 63 bytes of UTF-8.
 */
gboolean gst_gid_name_is_welcome (const gchar *name);

G_END_DECLS

#endif
