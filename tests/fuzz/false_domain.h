// SPDX-License-Identifier: MIT
/**
 * A domain and its slabs as libgid gives them to a compositor, without a gidd: imports come at
 * once, later, in vain or never, slabs are revoked, gidd goes and comes, all as the target says.
 * What the compositor does with them must keep to gid/domain.h, or it traps.
 */
#ifndef FUZZ_FALSE_DOMAIN_H
#define FUZZ_FALSE_DOMAIN_H

#include <gid/domain.h>

#define FALSE_SLABS 4u /* of domain 1, numbered from 0; the last is a dma-buf, as it says */
#define FALSE_SLOTS 4u
#define FALSE_SIZE 16u /* pixels, of each side, XRGB8888 */
#define FALSE_STRIDE 64u

/* How imports go from now on, and memory that is asked for. */
enum false_fate { FATE_LATER, FATE_IN_VAIN, FATE_AT_ONCE, FATES };

/* Before each input: all slabs are there, gidd is, imports come at once. */
void false_domain_reset(void);
void false_domain_set_fate(enum false_fate fate);

/* Answers one of the imports that are under way, and who asked for memory. */
void false_domain_answer(uint32_t which);
void false_domain_revoke(uint32_t slab);

/* gidd goes, or comes back: the domain's descriptor is readable. */
void false_domain_set_connected(bool connected);
/* The connection is lost for good: dispatching it fails. */
void false_domain_lose(void);

/* Nobody waits for an import, and nobody has a slab. */
void false_domain_demand_empty(void);

/* For false_producer.c: somebody reads a slot; no more. */
void false_slab_hold(struct gid_slab *slab, uint32_t slot);
void false_slab_release(struct gid_slab *slab, uint32_t slot);
/* The slab that a gid names, or NULL. */
struct gid_slab *false_slab_find(gid_id gid);

#endif
