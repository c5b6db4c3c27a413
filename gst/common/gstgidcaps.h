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

G_END_DECLS

#endif
