// SPDX-License-Identifier: MIT
/** Our own slabs, as export.c, which makes them, and export_eviction.c see each other's part. */
#ifndef GID_EXPORT_H
#define GID_EXPORT_H

#include <errno.h>

#include "slab_object.h"

/* As /proc shows its memory. */
#define GID_OWN_SLAB_MEMORY "gid-slab"

static inline bool gid_own_slab_is_away(int error) {
	return error == -ENOTCONN || error == -ETIMEDOUT;
}

/* --- export.c --------------------------------------------------------------------------------- */

void gid_own_slab_put_export(const struct gid_slab *slab, union gid_wire_message *message);

/* Gives a number back without waiting for gidd's answer. */
void gid_own_slab_post_unexport(struct gid_domain *domain, uint32_t number);

/* gidd gave it this number. Returns 0; or -errno: the slab keeps the number that it had. */
int gid_own_slab_adopt_number(struct gid_slab *slab, uint32_t number);

/* Sets its descriptor and offset to those of `slab->own`. */
void gid_own_slab_use_memory(struct gid_slab *slab);

/* Who its memory is for. */
struct gid_memory_readers gid_own_slab_readers(const struct gid_slab *slab);

/* Unexports the slab without waiting for gidd's answer. */
void gid_own_slab_retract(struct gid_slab *slab);

/* --- export_eviction.c ------------------------------------------------------------------------ */

/*
 * Begins to move the slab into other memory, as somebody may not read the old one any more; or,
 * with `for_number`, to another number, as another program has the old one. Does not wait for gidd.
 */
void gid_eviction_begin(struct gid_slab *slab, bool for_number);

/*
 * Whether the gid names memory that the slab has left and that gidd empties itself: a window, not a
 * memfd.
 */
bool gid_eviction_is_emptied(const struct gid_slab *slab, gid_id gid);

/* Cancels a move that is under way: what gidd still gives for it is given back. */
void gid_eviction_forget(struct gid_slab *slab);

/* Releases all memory that it has left. */
void gid_eviction_end(struct gid_slab *slab);

#endif
