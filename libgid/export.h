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

/* gidd gave it this number. Returns 0, or -errno, and it has the one that it had. */
int gid_own_slab_adopt_number(struct gid_slab *slab, uint32_t number);

/* Its descriptor and place are those of `slab->own`. */
void gid_own_slab_use_memory(struct gid_slab *slab);

/* Who its memory is for. */
struct gid_memory_readers gid_own_slab_readers(const struct gid_slab *slab);

/* Takes the slab back without waiting for gidd's answer. */
void gid_own_slab_retract(struct gid_slab *slab);

/* --- export_eviction.c
 * ------------------------------------------------------------------------------- */

/*
 * It leaves its memory: somebody may not read there any more; or its number (`for_number`), which
 * another program has. Nobody waits for gidd meanwhile.
 */
void gid_eviction_begin(struct gid_slab *slab, bool for_number);

/* Whether it was in the memory that the gid names, and that gidd empties: of memfds it cannot. */
bool gid_eviction_is_emptied(const struct gid_slab *slab, gid_id gid);

/* It is on its way no more: what gidd still gives is given back. */
void gid_eviction_forget(struct gid_slab *slab);

/* Releases all memory that it was in. */
void gid_eviction_end(struct gid_slab *slab);

#endif
