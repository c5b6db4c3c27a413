// SPDX-License-Identifier: MIT
/** The slab, our own or an imported one, as the parts of the library see it. */
#ifndef GID_SLAB_OBJECT_H
#define GID_SLAB_OBJECT_H

#include <errno.h>

#include "connection.h"
#include "memory_source.h"

/* In the word of a slot, which is 0 for one that is free. */
#define GID_SLOT_TAKEN (UINT32_C(1) << 31)
#define GID_SLOT_FORCED (UINT32_C(1) << 30) /* to advance once nobody holds it */
#define GID_SLOT_HOLDERS (GID_SLOT_FORCED - 1)

struct gid_slab_listener {
	struct gid_slab_listener *next;
	gid_revoked_func func;
	void *data;
};

struct gid_evicted;
struct gid_departure;

/* What our own slabs and imported ones do each in their way. */
struct gid_slab_kind {
	/*
	 * It gets a reference after it had none. NULL: a slab of this kind ends with its last
	 * reference.
	 */
	void (*wake)(struct gid_slab *slab);
	/* The last reference is gone: frees the slab, or keeps it for the next import. */
	void (*unused)(struct gid_slab *slab);
	/* Takes it out of the domain's tables, as the domain is being destroyed. */
	void (*forget)(struct gid_slab *slab);
	/*
	 * A slot is taken by force, but has no generation that we could raise: its readers lose the
	 * slab.
	 */
	void (*take_back)(struct gid_slab *slab);
};

struct gid_slab {
	/* --- used with each frame --- */
	const uint32_t *generations; /* of each slot, or NULL; for an own slab inside `own` */
	struct gid_slab_slot {
		uint32_t use;	  /* how many hold it, and GID_SLOT_TAKEN, GID_SLOT_FORCED */
		uint32_t renamed; /* the domain's count as it advanced last */
	} *slots;
	struct gid_evicted *evicted; /* memory and numbers that it had before */
	/*
	 * Of an imported one: how many frames of ours in it are out, which together hold one
	 * reference.
	 */
	uint32_t held;
	uint32_t next_slot; /* where gid_slab_take() looks first */
	/* A bit for each domain. Of an imported slab: whom we lent it to. */
	uint8_t granted[256 / 8];
	struct gid_slab_info info; /* `fd` and what is mapped are owned */

	/* --- the rest --- */
	const struct gid_slab_kind *kind;
	struct gid_domain *domain;    /* NULL once it was destroyed */
	struct gid_slab *prev, *next; /* in domain->slabs */
	uint32_t references;
	char description[GID_DESCRIPTION_MAX + 1];
	const char *view; /* slot 0, or NULL */
	size_t view_size;
	const void *filled; /* all of brought memory that had holes, mapped so that none comes back
			     */
	size_t filled_size;
	int window_dmabuf;	 /* of `view`, made when it is asked for; -1: none */
	size_t generations_size; /* of their mapping; 0 inside `own` */

	/* our own */
	struct gid_memory_own own;	 /* of gid_slab_create(), else all zero */
	char stream[GID_NAME_MAX + 1];	 /* that the memory was asked for; "": any */
	struct gid_timer eviction;	 /* armed: some of `evicted` was not released yet */
	struct gid_departure *departure; /* it is on its way to other memory; NULL: it is not */
	bool made;			 /* by gid_slab_create() */
	bool renewed;			 /* it had memory before that gidd revoked */
	uint64_t refused;		 /* when gidd last refused it memory; 0: it has memory */
	bool stays;			 /* devices may write there: it cannot be anywhere else */
	uint64_t emptied;		 /* see gid_slab_emptied() */
	struct gid_endpoint endpoint;
	enum {
		GID_SLAB_HAS_ASKED_NOTHING,
		GID_SLAB_ASKED_FOR_MEMORY,
		GID_SLAB_ASKED_FOR_NUMBER,
	} asking;		    /* of gidd, which has not answered */
	int answer;		    /* to the last request: 0 or -errno */
	gid_exported_func exported; /* NULL: its owner waits for gidd */
	void *exported_data;
	bool registered; /* gidd knows it: it has a number, which stays the same */
	/* Grants that were taken back: other clients may not lend our slab to these, either. */
	uint8_t withheld[256 / 8];
	uint8_t forced[256 / 8]; /* who lost a slot by force: the loans of these end */

	/* imported */
	uint64_t charged; /* bytes, in domain->imported_of; 0: none */
	uint8_t *touched; /* a bit for each slot whose pages were made present */
	bool known;	  /* in the domain's table of imported slabs */
	enum {
		GID_REVALIDATE_DONE,
		GID_REVALIDATE_ASK, /* gidd came back: is it still ours to read? */
		GID_REVALIDATE_ASKED,
	} revalidate;
	struct gid_slab_listener *listeners;
	int stand_in;  /* while the listeners run: the memfd of what they keep; else -1 */
	uint64_t kept; /* its size in bytes, which counts as our own memory */
	struct gid_slab *older, *newer; /* among those without a reference */
};

/* A slab without memory, with one reference. */
struct gid_slab *gid_slab_new(struct gid_domain *domain, const struct gid_slab_kind *kind);

/* Ends all slabs of a domain that is being destroyed: the objects stay for their references. */
void gid_slab_detach_all(struct gid_domain *domain);

/* Likewise ends the departures of slabs that are gone already. */
void gid_slab_end_departures(struct gid_domain *domain);

/*
 * Gives up a revoked slab's memory at once, whoever still reads it. Zeroes, and copies of what was
 * kept, take its place: at the same address, and behind the same descriptor. A dma-buf's descriptor
 * stays until the last reference goes.
 */
void gid_slab_blank(struct gid_slab *slab);

/* How many bytes of a slot its layout uses; all of them where the layout does not say. */
size_t gid_slab_content_size(const struct gid_slab *slab, uint32_t slot);

/* Gives back memory and descriptor. gid_slab_get_info() still says what it was. */
void gid_slab_close_memory(struct gid_slab *slab);

/* Frees a slab that has no references and is in no table. */
void gid_slab_free(struct gid_slab *slab);

/* Whether gidd takes a grant of it from us: it is our own, or another client's of our domain. */
static inline bool gid_slab_can_be_granted(const struct gid_slab *slab) {
	return slab->registered ||
			(slab->known && gid_domain_of(slab->info.gid) == slab->domain->number);
}

/* Takes back the loans of an imported slab from the domains that lost a slot by force. */
void gid_slab_end_loans(struct gid_slab *slab);

/* gidd is back, and has the slab: repeats all grants and loans, and all that were taken back. */
void gid_slab_grant_again(struct gid_slab *slab);

/* A slot's present generation. 0: there is no table, or gidd emptied the table. */
static inline uint32_t gid_slab_generation_in(const uint32_t *generations, uint32_t slot) {
	if (generations == NULL) {
		return 0;
	}
#ifndef __SANITIZE_THREAD__ /* which knows no fences */
	/* What was read of the slot is read before this. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
	return __atomic_load_n(&generations[slot], __ATOMIC_ACQUIRE) & 0xffff;
}

static inline uint32_t gid_slab_generation(const struct gid_slab *slab, uint32_t slot) {
	return gid_slab_generation_in(slab->generations, slot);
}

/* The one that follows, never 0. */
static inline uint32_t gid_slab_next_generation(uint32_t generation) {
	return (generation & 0xffff) % 0xffff + 1;
}

/* For a slot of ours: old gids are out of date before anything else is written there. */
static inline void gid_slab_raise_generation(uint32_t *generation) {
	__atomic_store_n(generation,
			gid_slab_next_generation(__atomic_load_n(generation, __ATOMIC_RELAXED)),
			__ATOMIC_SEQ_CST);
#ifndef __SANITIZE_THREAD__
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * Gives all slots a first generation, another one for each new memory: a reader that has not heard
 * yet that a slab is gone does not take the one in its place for the same.
 */
void gid_slab_begin_generations(struct gid_slab *slab);

/* --- what streams need of slabs --------------------------------------------------------------- */

/* Our own slab that the gid names, whatever its generation; NULL for none. No reference taken. */
static inline struct gid_slab *gid_slab_find(struct gid_domain *domain, gid_id gid) {
	struct gid_slab *slab = gid_domain_of(gid) == domain->number
			? gid_table_find(&domain->own_slabs, gid_slab_of(gid))
			: NULL;
	return slab != NULL && gid_slot_of(gid) < slab->info.slot_count ? slab : NULL;
}

/* What gid_slab_recall() found last; all zeroes: nothing yet. */
struct gid_slab_memo {
	uint32_t key;
	uint64_t removed; /* of the domain's own slabs, by then */
	struct gid_slab *slab;
};

/* The slow path of gid_slab_recall(): the memo is of another slab, or out of date. */
struct gid_slab *gid_slab_find_anew(
		struct gid_domain *domain, gid_id gid, struct gid_slab_memo *memo);

/*
 * Clears the memo if a slab was removed meanwhile. To be called before functions that use the memo,
 * with no callback in between.
 */
static inline void gid_slab_refresh(const struct gid_domain *domain, struct gid_slab_memo *memo) {
	if (__builtin_expect(memo->removed != domain->own_slabs.removed, 0)) {
		*memo = (struct gid_slab_memo){.removed = domain->own_slabs.removed};
	}
}

/* gid_slab_find() for callers that nearly always ask for the same slab: their memo has it. */
static inline struct gid_slab *gid_slab_recall_next(
		struct gid_domain *domain, gid_id gid, struct gid_slab_memo *memo) {
	struct gid_slab *slab = memo->slab;
	if (__builtin_expect(memo->key != gid_slab_key(gid), 0)) {
		slab = gid_slab_find_anew(domain, gid, memo);
	}
	return slab != NULL && gid_slot_of(gid) < slab->info.slot_count ? slab : NULL;
}

static inline struct gid_slab *gid_slab_recall(
		struct gid_domain *domain, gid_id gid, struct gid_slab_memo *memo) {
	gid_slab_refresh(domain, memo);
	return gid_slab_recall_next(domain, gid, memo);
}

/* The slab of this key: our own, or one of another client of our domain that we have imported. */
static inline struct gid_slab *gid_slab_find_of_domain(struct gid_domain *domain, uint32_t key) {
	gid_id gid = (gid_id)key << 32;
	struct gid_slab *slab = gid_slab_find(domain, gid);
	if (slab == NULL && gid_domain_of(gid) == domain->number) {
		slab = gid_table_find(&domain->imported_slabs, key);
	}
	return slab;
}

/*
 * gid_slab_is_current(), inline for each frame. In a table that gidd emptied no gid is current, but
 * for the slab's owner, who has not heard of that yet: readers know what he sends to be out of
 * date.
 */
static inline bool gid_slab_has(const struct gid_slab *slab, gid_id gid) {
	uint32_t slot = gid_slot_of(gid), generation = gid_generation_of(gid);
	return !slab->info.revoked && gid_slab_key(gid) == gid_slab_key(slab->info.gid) &&
			slot < slab->info.slot_count &&
			generation == gid_slab_generation(slab, slot) &&
			(generation != 0 || slab->generations == NULL || !slab->info.imported);
}

/*
 * A copy of what is needed to look at many gids of one slab of our own. Valid while no callback
 * runs.
 */
struct gid_slab_own {
	struct gid_slab_slot *slots;
	const uint32_t *generations;
	gid_id first; /* of slot 0, in generation 0 */
	uint64_t count;
};

static inline struct gid_slab_own gid_slab_own(const struct gid_slab *slab) {
	return (struct gid_slab_own){
			.slots = slab->slots,
			.generations = slab->generations,
			.first = slab->info.gid,
			.count = slab->info.slot_count,
	};
}

/*
 * The slot that a gid names, whatever its generation. `count` or more: the gid is of another slab.
 */
static inline uint64_t gid_slab_own_slot(const struct gid_slab_own *own, gid_id gid) {
	return (gid - own->first) >> 16;
}

/* gid_slab_has() for a slab with generations of which another gid was just found to be current. */
static inline bool gid_slab_own_has(const struct gid_slab_own *own, gid_id gid) {
	const uint64_t slot = gid_slab_own_slot(own, gid);
	return slot < own->count &&
			((__atomic_load_n(&own->generations[slot], __ATOMIC_RELAXED) ^ gid) &
					0xffff) == 0;
}

/*
 * Makes the table of an imported slab, which has none before the first frame of ours lies there. 0
 * or -ENOMEM.
 */
int gid_slab_make_slots(struct gid_slab *slab);

/*
 * The slab of our domain of which the gid is current, so that a frame of ours may lie there.
 * Returns 0, -EINVAL: there is none, or -ENOMEM.
 */
static inline __attribute__((always_inline)) int gid_slab_find_sendable(struct gid_domain *domain,
		gid_id gid, struct gid_slab_memo *memo, struct gid_slab **result) {
	struct gid_slab *slab = gid_slab_recall(domain, gid, memo);
	if (slab == NULL) {
		slab = gid_slab_find_of_domain(domain, gid_slab_key(gid));
	}
	if (slab == NULL || !gid_slab_has(slab, gid)) {
		return -EINVAL;
	}
	*result = slab;
	return slab->slots != NULL ? 0 : gid_slab_make_slots(slab);
}

/* The slow path of gid_slab_find_held(): the imported slab of a held slot. */
struct gid_slab *gid_slab_find_lent(struct gid_domain *domain, gid_id gid);

/*
 * The slab, own or imported, of a slot that is held by gid_slab_hold(); NULL once it is gone. After
 * gid_slab_refresh().
 */
static inline struct gid_slab *gid_slab_find_held_next(
		struct gid_domain *domain, gid_id gid, struct gid_slab_memo *memo) {
	struct gid_slab *slab = gid_slab_recall_next(domain, gid, memo);
	return slab != NULL || gid_domain_of(gid) != domain->number
			? slab
			: gid_slab_find_lent(domain, gid);
}

static inline struct gid_slab *gid_slab_find_held(
		struct gid_domain *domain, gid_id gid, struct gid_slab_memo *memo) {
	gid_slab_refresh(domain, memo);
	return gid_slab_find_held_next(domain, gid, memo);
}

/*
 * The slot's generation goes up, so old gids are out of date. An exported slab has no generations
 * and is revoked instead. The generations of an imported one are not ours to write: those we lent
 * it to, and who lost a slot by force, lose it, and get it again with a later frame.
 */
void gid_slab_advance(struct gid_slab *slab, uint32_t slot);

/* Adds holds that keep a slab imported. Nothing to do for an own slab. */
static inline void gid_slab_stay(struct gid_slab *slab, uint32_t holders) {
	if (slab->info.imported) {
		if (slab->held == 0) {
			gid_slab_ref(slab);
		}
		slab->held += holders;
	}
}

/*
 * So many consumers hold the slot from now on, or one does no longer: returns the holders left. An
 * imported slab stays imported while a slot is held, and may be gone when this returns 0.
 */
static inline void gid_slab_hold(struct gid_slab *slab, uint32_t slot, uint32_t holders) {
	gid_slab_stay(slab, holders);
	slab->slots[slot].use += holders;
}

static inline uint32_t gid_slab_let_go(struct gid_slab *slab, uint32_t slot) {
	struct gid_slab_slot *at = &slab->slots[slot];
	/*
	 * A count of 0: the holder's slab was destroyed, and this one was exported under its number
	 * since.
	 */
	const uint32_t use = at->use - ((at->use & GID_SLOT_HOLDERS) != 0 ? 1 : 0);
	const uint32_t left = use & GID_SLOT_HOLDERS;
	at->use = use;
	if (left == 0 && (use & GID_SLOT_FORCED) != 0) {
		gid_slab_advance(slab, slot);
	}
	if (slab->info.imported && --slab->held == 0) {
		gid_slab_unref(slab);
	}
	return left;
}

/*
 * The fast path of gid_slab_let_go(), where that only counts: returns how many still hold the slot.
 * -ENOENT: the gid is of another slab, or there is more to do. For a slab that never moved.
 */
static inline __attribute__((always_inline)) int gid_slab_own_let_go(
		const struct gid_slab_own *own, gid_id gid) {
	const uint64_t slot = gid_slab_own_slot(own, gid);
	if (slot >= own->count) {
		return -ENOENT;
	}
	uint32_t *const use = &own->slots[slot].use;
	const uint32_t now = *use, holders = now & ~GID_SLOT_TAKEN;
	if (holders == 1) {
		*use = now - 1;
		return 0;
	}
	/* Nobody held it; or the last holder goes and the generation is to advance. */
	if (holders == 0 || holders >= GID_SLOT_FORCED) {
		return -ENOENT;
	}
	*use = now - 1;
	return (int)holders - 1;
}

/*
 * gid_slab_let_go() for a holder that did not release the slot, and may still be reading it. Its
 * generation advances once nobody holds the slot, before anybody can write it. Other holders are
 * not affected, nor are readers in other domains than `reader`, the holder's.
 */
uint32_t gid_slab_let_go_by_force(struct gid_slab *slab, uint32_t slot, uint32_t reader);

/*
 * The present gid of the slot of an own slab that had this gid, wherever it lay, when the domain's
 * count of renamed slots was `since`. Any other gid is returned as it is: it has been out of date
 * for longer.
 */
static inline gid_id gid_slab_present_gid(struct gid_domain *domain, gid_id gid, uint32_t since) {
	const struct gid_slab *slab = gid_slab_find(domain, gid);
	if (slab == NULL) {
		return gid;
	}
	uint32_t slot = gid_slot_of(gid), generation = gid_slab_generation(slab, slot);
	bool has = generation == gid_generation_of(gid);
	bool had = generation == gid_slab_next_generation(gid_generation_of(gid)) &&
			domain->renamed - slab->slots[slot].renamed < domain->renamed - since;
	return has || had ? gid_slab_gid(slab, slot) : gid;
}

/*
 * A frame of an own slab came back under this gid, which may be of memory that the slab has left.
 */
void gid_slab_put_evicted(struct gid_slab *slab, gid_id gid);

/* Whether a set, of a bit for each domain, has it. */
static inline bool gid_slab_has_domain(const uint8_t set[256 / 8], uint32_t domain) {
	return domain <= GID_DOMAIN_MAX && (set[domain / 8] >> domain % 8 & 1) != 0;
}

/* Whether `reader` has the grant already, as far as we asked for it. */
static inline bool gid_slab_is_granted(const struct gid_slab *slab, uint32_t reader) {
	return gid_slab_has_domain(slab->granted, reader);
}

/* Grants without waiting for the answer: for use before another message on the same socket. */
int gid_slab_grant_post(struct gid_slab *slab, uint32_t reader);

/* Asks for the grant. The caller's `answered` calls gid_slab_set_granted() if it was given. */
int gid_slab_grant_async(
		struct gid_slab *slab, uint32_t reader, gid_answer_func answered, void *data);

/* What gid_slab_is_granted() says from now on; gidd is not asked. */
void gid_slab_set_granted(struct gid_slab *slab, uint32_t reader, bool granted);

#endif
