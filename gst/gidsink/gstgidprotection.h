// SPDX-License-Identifier: MIT
/**
 * Creates libgid-protection's object for the end-to-end protection of a sink's pictures, by its
 * properties.
 */
#ifndef GST_GID_PROTECTION_H
#define GST_GID_PROTECTION_H

#include <gid/protection.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/** Values: enum gid_protection_profile. */
GType gst_gid_protection_profile_get_type (void);

/**
 * Sets `*protection` to a new object, or to NULL for GID_PROTECTION_NONE. `key`: the name of the
 * key file, or NULL. Returns FALSE with an error.
 */
gboolean gst_gid_protection_open (gint profile, const gchar *stream, const gchar *key,
    struct gid_protection **protection, GError **error);

G_END_DECLS

#endif
