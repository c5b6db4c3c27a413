// SPDX-License-Identifier: MIT
/**
 * How a sink protects its pictures from end to end: what the properties say, and libgid-protection's
 * object that comes of it.
 */
#ifndef GST_GID_PROTECTION_H
#define GST_GID_PROTECTION_H

#include <gid/protection.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/** Values: enum gid_protection_profile. */
GType gst_gid_protection_profile_get_type (void);

/**
 * `*protection` is NULL for GID_PROTECTION_NONE; else it is the caller's. `key`: the name of a file,
 * or NULL. Returns FALSE with an error.
 */
gboolean gst_gid_protection_open (gint profile, const gchar *stream, const gchar *key,
    struct gid_protection **protection, GError **error);

G_END_DECLS

#endif
