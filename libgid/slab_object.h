// SPDX-License-Identifier: MIT
/**
 * The inside of a gid_slab, our own or an imported one. slab.c: the object itself; export.c: our
 * own towards gidd; slot.c: the slots of our own; import.c: those of others.
 */
#ifndef GID_SLAB_OBJECT_H
#define GID_SLAB_OBJECT_H

#include "connection.h"
#include "memory_source.h"
#include "slab.h"

struct gid_slab_listener {
	struct gid_slab_listener *next;
	gid_revoked_func func;
	void *data;
};

struct gid_slab {
	struct gid_domain *domain;    /* NULL once it was destroyed */
	struct gid_slab *prev, *next; /* in domain->slabs */
	uint32_t references;
	struct gid_slab_info info; /* `fd` and what is mapped are owned */
	char description[GID_DESCRIPTION_MAX + 1];
	const char *view; /* slot 0, or NULL */
	size_t view_size;
	const uint32_t *generations; /* of each slot, or NULL; for an own slab inside `own` */
	size_t generations_size;     /* of the mapping; 0 inside `own` */

	/* our own */
	struct gid_memory_own own; /* of gid_slab_create(), else all zero */
	struct gid_endpoint endpoint;
	bool registered; /* gidd knows it: it has a number, which stays the same */
	struct gid_slab_slot {
		uint32_t holders;
		bool taken;
		bool forced; /* to advance once nobody holds it */
	} *slots;
	uint32_t next_slot; /* where gid_slab_take() looks first */
	/* A bit for each domain. Of an imported slab: whom we lent it to. */
	uint8_t granted[256 / 8];
	uint8_t withheld[256 / 8]; /* taken back: others may not lend our slab to these, either */

	/* imported */
	bool known; /* in the domain's table of imports */
	enum {
		GID_CONFIRM_DONE,
		GID_CONFIRM_ASK, /* gidd came back: is it still ours to read? */
		GID_CONFIRM_ASKED,
	} confirm;
	struct gid_slab_listener *listeners;
	struct gid_slab *older, *newer; /* among those without a reference */
	uint32_t held; /* frames of ours that lie in it and are out: they hold one reference */
};

/* A slab without memory, with one reference. */
struct gid_slab *gid_slab_new(struct gid_domain *domain);

/* Ends all slabs of a domain that is being destroyed: the objects stay for their references. */
void gid_slab_detach_all(struct gid_domain *domain);

/* Frees a slab that has no references and is in no table. */
void gid_slab_free(struct gid_slab *slab);

/* Takes an own slab out of the domain's tables. */
void gid_slab_unregister(struct gid_slab *slab);

/* Takes an own slab back without waiting for gidd's answer. */
void gid_slab_retract(struct gid_slab *slab);

/* Whether gidd takes a grant of it from us: it is our own, or another client's of our domain. */
static inline bool gid_slab_can_be_granted(const struct gid_slab *slab) {
	return slab->registered ||
		(slab->known && gid_domain_of(slab->info.gid) == slab->domain->number);
}

/* Those whom we lent an imported slab to lose it. */
void gid_slab_end_loans(struct gid_slab *slab);

/* gidd is back, and has the slab: tells it again to whom it is granted or lent, and to whom not. */
void gid_slab_grant_again(struct gid_slab *slab);

static inline uint32_t gid_slab_generation(const struct gid_slab *slab, uint32_t slot) {
	return slab->generations == NULL
		? 0
		: __atomic_load_n(&slab->generations[slot], __ATOMIC_ACQUIRE) & 0xffff;
}

#endif
