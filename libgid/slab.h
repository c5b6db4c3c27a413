// SPDX-License-Identifier: MIT
/** What streams need of our own slabs: who holds which slot, and taking one back by force. */
#ifndef GID_SLAB_H
#define GID_SLAB_H

#include "control.h"

/* Our own slab that the gid names, whatever its generation; NULL for none. No reference taken. */
struct gid_slab *gid_slab_find(struct gid_domain *domain, gid_id gid);

/* The same by its key, or another client's of our domain that we have imported. */
struct gid_slab *gid_slab_find_of_domain(struct gid_domain *domain, uint32_t key);

/*
 * Such a slab of which the gid is current: a frame of ours may lie there. Returns 0, -EINVAL: there
 * is none, or -ENOMEM.
 */
int gid_slab_find_sendable(struct gid_domain *domain, gid_id gid, struct gid_slab **slab);

/* The slab, own or imported, of a slot that gid_slab_hold() was called for; NULL once it is gone. */
struct gid_slab *gid_slab_find_held(struct gid_domain *domain, gid_id gid);

/*
 * A consumer holds the slot, or does no longer. Returns the holders left. An imported slab stays
 * imported while a slot is held, and may be gone when this returns 0.
 */
uint32_t gid_slab_hold(struct gid_slab *slab, uint32_t slot);
uint32_t gid_slab_let_go(struct gid_slab *slab, uint32_t slot);

/*
 * The same for a holder that did not say so and may be reading still: once nobody holds the slot,
 * and before anybody can write it, it advances. Other holders are not touched.
 */
uint32_t gid_slab_let_go_by_force(struct gid_slab *slab, uint32_t slot);

/*
 * The slot's generation goes up, so old gids are out of date. An exported slab has no generations
 * and is revoked instead. The generations of an imported one are not ours to write: those we lent
 * it to lose it, and get it again with a later frame.
 */
void gid_slab_advance(struct gid_slab *slab, uint32_t slot);

/* Whether `reader` has the grant already, as far as we asked for it. */
bool gid_slab_is_granted(const struct gid_slab *slab, uint32_t reader);

/* Grants without waiting for the answer: for use before another message on the same socket. */
int gid_slab_grant_post(struct gid_slab *slab, uint32_t reader);

/* Asks for the grant; the caller's `answered` calls gid_slab_granted() where that was given. */
int gid_slab_grant_async(
	struct gid_slab *slab, uint32_t reader, gid_answer_func answered, void *data);
void gid_slab_granted(struct gid_slab *slab, uint32_t reader);

#endif
