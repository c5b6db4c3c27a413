// SPDX-License-Identifier: MIT
/** The set of domains that may read a stream, as a property lists them. */
#ifndef GST_GID_ACCESS_H
#define GST_GID_ACCESS_H

#include "gstgiddomain.h"

G_BEGIN_DECLS

/** Indexed by the number of the domain. */
typedef struct
{
  guint8 allowed[GID_DOMAIN_MAX + 1];
} GstGidAccess;

/**
 * Parses a comma-separated list of domain names or numbers, the value of the property named
 * `property`. Asks gidd which domains exist. Returns FALSE with an error that lists them if one is
 * unknown. Call with the domain's lock held.
 */
gboolean gst_gid_access_parse (GstGidAccess *access, GstGidDomain *domain, const gchar *property,
    const gchar *names, GError **error);

G_END_DECLS

#endif
