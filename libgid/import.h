// SPDX-License-Identifier: MIT
/** The slabs of others that a domain has. */
#ifndef GID_IMPORT_H
#define GID_IMPORT_H

#include "connection.h"

/* Before anything is imported; and when all slabs are detached. */
int gid_imports_init(struct gid_domain *domain);
void gid_imports_finish(struct gid_domain *domain);

#endif
