// SPDX-License-Identifier: MIT
/** What streams need of our own slabs: who holds which slot, and taking one back by force. */
#ifndef GID_SLAB_H
#define GID_SLAB_H

#include "control.h"

/* Our own slab that the gid names, whatever its generation; NULL for none. No reference taken. */
struct gid_slab *gid_slab_find(struct gid_domain *domain, gid_id gid);

/* A consumer holds the slot, or does no longer. Returns the holders left. */
uint32_t gid_slab_hold(struct gid_slab *slab, uint32_t slot);
uint32_t gid_slab_let_go(struct gid_slab *slab, uint32_t slot);

/*
 * Takes the slot back from a holder that may read it still, who lets go next: once nobody holds it
 * its generation goes up, so old gids are out of date before anybody can write. An exported slab
 * has no generations and is revoked then. Other holders of the slot are not touched.
 */
void gid_slab_advance(struct gid_slab *slab, uint32_t slot);

/* Whether `reader` has the grant already, as far as we asked for it. */
bool gid_slab_is_granted(const struct gid_slab *slab, uint32_t reader);

/* Grants without waiting for the answer: for use before another message on the same socket. */
int gid_slab_grant_post(struct gid_slab *slab, uint32_t reader);

#endif
