// SPDX-License-Identifier: MIT
/**
 * The slabs of others that a domain has: those in use, and some at rest that may be used again.
 * import.c gets and loses them; confirm.c asks again when gidd comes back.
 */
#ifndef GID_IMPORT_H
#define GID_IMPORT_H

#include "connection.h"

struct gid_imports {
	struct gid_endpoint endpoint; /* first */
	struct gid_domain *domain;
	struct gid_table known; /* by slab key */
	struct gid_fetch *fetches;
	struct gid_slab *oldest, *newest; /* at rest, by when their last reference went */
	uint32_t resting;
	struct gid_timer confirm; /* armed while slabs are unconfirmed */
	uint64_t confirm_until;
};

int gid_imports_init(struct gid_domain *domain);
void gid_imports_finish(struct gid_domain *domain);

/* Takes the slab, used or at rest, out of the tables: the next import asks gidd. */
void gid_import_forget(struct gid_slab *slab);

/* The same, and tells its users. */
void gid_import_revoke(struct gid_slab *slab);

/* The last reference is gone: stays mapped for the next import. May free one that rested longer. */
void gid_import_rest(struct gid_slab *slab);

/* A first reference again. */
void gid_import_wake(struct gid_slab *slab);

/* Begins the question for a gid's slab. */
void gid_import_put(union gid_wire_message *message, gid_id gid);

/* gidd is back: are our imports still ours to read? Those that are not in 5 s are revoked. */
void gid_imports_confirm(struct gid_endpoint *endpoint);
void gid_imports_confirm_due(void *data);

#endif
