// SPDX-License-Identifier: MIT
/** Domains by name: those that may read a stream. */
#ifndef GST_GID_ACCESS_H
#define GST_GID_ACCESS_H

#include "gstgiddomain.h"

G_BEGIN_DECLS

/** The numbers of domains. */
typedef struct
{
  guint8 allowed[GID_DOMAIN_MAX + 1];
} GstGidAccess;

/**
 * Reads names (or numbers) with commas between, the value of this property. Asks gidd which domains there are. Returns FALSE
 * with an error that names those there are. Call with the domain's lock held.
 */
gboolean gst_gid_access_parse (GstGidAccess *access, GstGidDomain *domain, const gchar *property,
    const gchar *names, GError **error);

G_END_DECLS

#endif
