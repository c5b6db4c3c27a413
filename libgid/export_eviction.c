// SPDX-License-Identifier: MIT
/**
 * Eviction: an own slab moves to other memory, as somebody may not read the old one any more; or to
 * another number, as another program has the old one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "closer.h"
#include "export.h"

/* --- memory that it was in -------------------------------------------------------------------- */

#define MS_NS (UINT64_C(1000) * 1000)
/*
 * How long readers that hold frames may read on, counted from gidd's request. No new frame comes
 * there: a domain that lost its right sees only what it could read before.
 */
#define EVICTION_NS (400 * MS_NS)
/* But at least this long after the slab has other memory. */
#define ARRIVED_NS (20 * MS_NS)
/*
 * How long a reader that is told of the loss has to keep what it shows. gidd waits for twice the
 * sum of all these.
 */
#define KEEP_NS (100 * MS_NS)

/* Memory that a slab has left, with the number by which frames that are out still name it. */
struct gid_evicted {
	struct gid_evicted *next;
	uint32_t number;
	uint32_t held; /* frames that were out when it was evicted, and are out still */
	uint64_t due; /* until then those frames are waited for; with `taken`: when it is emptied */
	bool taken;   /* from its readers */
	bool done;    /* it was released */
	bool in_window;
	struct gid_memory_own memory;
};

/* The move of a slab into other memory: gidd is asked for memory, and then for a number. */
struct gid_departure {
	struct gid_departure *prev, *next; /* in domain->departures */
	struct gid_domain *domain;
	struct gid_slab *slab; /* NULL: it has ended, and what gidd gives is given back */
	struct gid_evicted *old;
	uint64_t began;
	bool for_number; /* which another program has; else somebody may not read there any more */
	bool emptied;	 /* gidd said that it emptied the old memory without waiting */
	struct gid_memory_own fresh;
};

/* Also of what is mapped nowhere, see gid_memory_move(). */
static void put_memory(struct gid_memory_own *memory) {
	if (memory->data == NULL) {
		gid_closer_close(memory->fd);
	}
	gid_memory_put(memory);
}

/*
 * Raises all generations of memory that the slab has left. So a reader that has not heard of the
 * eviction yet finds its gids out of date before it finds zeroes.
 */
static void end_generations(const struct gid_slab *slab, void *memory) {
	const struct gid_slab_info *info = &slab->info;
	uint32_t *generations = (void *)((char *)memory + info->slot_count * info->slot_size);
	for (uint32_t i = 0; i < info->slot_count; i++) {
		gid_slab_raise_generation(&generations[i]);
	}
}

/* Revokes the old memory: its readers lose it, and are told so. */
static void take_evicted(const struct gid_slab *slab, struct gid_evicted *old) {
	if (!old->taken) {
		old->taken = true;
		gid_own_slab_post_unexport(slab->domain, old->number);
	}
}

/* Empties and releases the old memory: a reader that still looks there sees zeroes. */
static void release_evicted(const struct gid_slab *slab, struct gid_evicted *old) {
	const struct gid_slab_info *info = &slab->info;
	if (old->done) {
		return;
	}
	old->done = true;
	take_evicted(slab, old);
	if (old->memory.data != NULL) {
		end_generations(slab, old->memory.data);
		explicit_bzero(old->memory.data, info->slot_count * info->slot_size);
	}
	put_memory(&old->memory);
}

/* Arms the timer for the memory that is due first. */
static void arm_eviction(struct gid_slab *slab) {
	uint64_t first = UINT64_MAX;
	for (const struct gid_evicted *old = slab->evicted; old != NULL; old = old->next) {
		uint64_t due = old->held == 0 ? 0 : old->due;
		first = !old->done && due < first ? due : first;
	}
	if (first != UINT64_MAX) {
		gid_loop_arm(&slab->domain->loop, &slab->eviction, first);
	}
}

static void eviction_due(void *data) {
	struct gid_slab *slab = data;
	const uint64_t now = gid_clock_now();
	for (struct gid_evicted *old = slab->evicted; old != NULL; old = old->next) {
		bool due = now >= old->due;
		if (old->held == 0 || (due && old->taken)) {
			release_evicted(slab, old);
		} else if (due) {
			take_evicted(slab, old);
			old->due = now + KEEP_NS;
		}
	}
	arm_eviction(slab);
}

static struct gid_evicted *find_evicted(const struct gid_slab *slab, gid_id gid) {
	struct gid_evicted *old = slab->evicted;
	while (old != NULL && old->number != gid_slab_of(gid)) {
		old = old->next;
	}
	return old;
}

bool gid_eviction_is_emptied(const struct gid_slab *slab, gid_id gid) {
	const struct gid_evicted *old = find_evicted(slab, gid);
	return old != NULL && old->in_window;
}

void gid_slab_put_evicted(struct gid_slab *slab, gid_id gid) {
	struct gid_evicted *old = find_evicted(slab, gid);
	if (old == NULL || old->held == 0) {
		return;
	}
	old->held--;
	if (old->held == 0) {
		arm_eviction(slab);
	}
}

static void end_departure(struct gid_departure *departure) {
	struct gid_domain *domain = departure->domain;
	if (departure->prev != NULL) {
		departure->prev->next = departure->next;
	} else {
		domain->departures = departure->next;
	}
	if (departure->next != NULL) {
		departure->next->prev = departure->prev;
	}
	if (departure->slab != NULL) {
		departure->slab->departure = NULL;
	}
	put_memory(&departure->fresh);
	free(departure->old);
	free(departure);
}

void gid_eviction_forget(struct gid_slab *slab) {
	if (slab->departure != NULL) {
		slab->departure->slab = NULL;
		slab->departure = NULL;
	}
}

void gid_slab_end_departures(struct gid_domain *domain) {
	while (domain->departures != NULL) {
		end_departure(domain->departures);
	}
}

void gid_eviction_end(struct gid_slab *slab) {
	gid_loop_disarm(&slab->domain->loop, &slab->eviction);
	while (slab->evicted != NULL) {
		struct gid_evicted *old = slab->evicted;
		slab->evicted = old->next;
		release_evicted(slab, old);
		gid_table_remove(&slab->domain->own_slabs, old->number);
		free(old);
	}
}

/* --- its way into other memory ---------------------------------------------------------------- */

/* Gives the slab that memory and number. After an error nothing has changed. */
static int adopt_there(
		struct gid_slab *slab, const struct gid_memory_own *memory, uint32_t number) {
	struct gid_memory_own own = slab->own;
	gid_id gid = slab->info.gid;
	slab->own = *memory;
	gid_own_slab_use_memory(slab);
	slab->info.gid = GID_NONE;
	int error = gid_own_slab_adopt_number(slab, number);
	if (error < 0) {
		slab->own = own;
		gid_own_slab_use_memory(slab);
		slab->info.gid = gid;
	}
	return error;
}

/* Undoes adopt_there(): gives the new number back, and restores the old memory and number. */
static void come_back(struct gid_slab *slab, const struct gid_evicted *old, gid_id gid) {
	gid_own_slab_post_unexport(slab->domain, gid_slab_of(slab->info.gid));
	gid_table_remove(&slab->domain->own_slabs, gid_slab_of(slab->info.gid));
	slab->own = old->memory;
	gid_own_slab_use_memory(slab);
	slab->info.gid = gid;
}

/*
 * The slab is in its new memory: keeps track of the frames that lie in the old one. `began`: when
 * the move began.
 */
static void settle(struct gid_slab *slab, struct gid_evicted *old, uint64_t began) {
	const uint64_t due = began + EVICTION_NS, least = gid_clock_now() + ARRIVED_NS;
	for (uint32_t i = 0; i < slab->info.slot_count; i++) {
		old->held += slab->slots[i].use & GID_SLOT_HOLDERS;
		if (gid_slab_generation(slab, i) == 0) {
			gid_slab_raise_generation((uint32_t *)&slab->generations[i]);
		}
	}
	/* Frames that lie in still older memory do not lie in what it leaves now. */
	for (const struct gid_evicted *older = slab->evicted; older != NULL; older = older->next) {
		old->held -= older->held < old->held ? older->held : old->held;
	}
	old->due = due > least ? due : least;
	old->next = slab->evicted;
	slab->evicted = old;
	memset(slab->granted, 0,
			sizeof(slab->granted)); /* streams ask for them with their frames */
	gid_slab_grant_again(slab);		/* and repeat to whom others may not lend it */
	slab->eviction.expired = eviction_due;
	slab->eviction.data = slab;
	arm_eviction(slab);
}

/*
 * Moves the content to new memory that only present readers see, mapped at the same address. Frames
 * that are out stay in the old memory under the old number, for readers that still may read them.
 */
static int arrive(struct gid_departure *departure, uint32_t number) {
	struct gid_slab *slab = departure->slab;
	struct gid_evicted *old = departure->old;
	gid_id gid = slab->info.gid;
	if (slab->stays) {
		gid_own_slab_post_unexport(slab->domain, number);
		return -ENOTSUP;
	}
	old->number = gid_slab_of(gid);
	old->memory = slab->own;
	old->in_window = slab->info.memory == GID_MEMORY_WINDOW;
	int error = adopt_there(slab, &departure->fresh, number);
	if (error < 0) {
		return error;
	}
	error = gid_memory_move(&old->memory, &departure->fresh);
	if (error < 0) {
		come_back(slab, old, gid);
		return error;
	}
	slab->own = departure->fresh; /* where it is mapped now */
	slab->emptied += departure->emptied && old->in_window;
	departure->fresh = (struct gid_memory_own){.fd = -1};
	departure->old = NULL;
	settle(slab, old, departure->began);
	return 0;
}

/*
 * The move failed. With a gidd that is away, a new number is tried again when it is back. In all
 * other cases the slab is unexported, and its owner makes another one.
 */
static void stay(struct gid_slab *slab, bool for_number, int error) {
	if (!for_number || !gid_own_slab_is_away(error)) {
		gid_own_slab_retract(slab);
	}
}

static void fail_departure(struct gid_departure *departure, int error) {
	struct gid_slab *slab = departure->slab;
	bool for_number = departure->for_number;
	end_departure(departure);
	stay(slab, for_number, error);
}

static void handle_departed(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_departure *departure = data;
	if (departure->slab == NULL && error == 0) {
		gid_own_slab_post_unexport(departure->domain, answer->result.value);
	} else if (departure->slab != NULL) {
		error = error < 0 ? error : arrive(departure, answer->result.value);
		if (error < 0) {
			fail_departure(departure, error);
			return;
		}
	}
	end_departure(departure);
}

/* Asks for a number for the new memory. Until that comes frames go out under the old one. */
static int ask_for_number_there(struct gid_departure *departure) {
	struct gid_slab *slab = departure->slab;
	struct gid_memory_own own = slab->own;
	gid_id gid = slab->info.gid;
	union gid_wire_message message;
	slab->own = departure->fresh;
	slab->info.gid = GID_NONE;
	gid_own_slab_use_memory(slab);
	gid_own_slab_put_export(slab, &message);
	slab->own = own;
	slab->info.gid = gid;
	gid_own_slab_use_memory(slab);
	return gid_domain_request_async(departure->domain, &message, &departure->fresh.fd, 1,
			handle_departed, departure);
}

static void handle_given(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_departure *departure = data;
	const struct gid_slab *slab = departure->slab;
	if (slab == NULL) {
		if (error == 0) {
			gid_memory_decline(departure->domain, &answer->allocated, fds);
		}
		end_departure(departure);
		return;
	}
	error = gid_memory_take(departure->domain, &departure->fresh, GID_OWN_SLAB_MEMORY,
			slab->own.size, error, answer, fds);
	error = error < 0 ? error : ask_for_number_there(departure);
	if (error < 0) {
		fail_departure(departure, error);
	}
}

static struct gid_departure *begin_departure(struct gid_slab *slab, bool for_number) {
	struct gid_departure *departure = calloc(1, sizeof(*departure));
	struct gid_evicted *old = calloc(1, sizeof(*old));
	if (departure == NULL || old == NULL) {
		free(departure);
		free(old);
		return NULL;
	}
	*departure = (struct gid_departure){
			.next = slab->domain->departures,
			.domain = slab->domain,
			.slab = slab,
			.old = old,
			.began = gid_clock_now(),
			.for_number = for_number,
			.fresh = {.fd = -1},
	};
	if (departure->next != NULL) {
		departure->next->prev = departure;
	}
	slab->domain->departures = departure;
	slab->departure = departure;
	return departure;
}

void gid_eviction_begin(struct gid_slab *slab, bool for_number) {
	if (slab->departure != NULL) {
		slab->departure->emptied |= !for_number;
		slab->departure->for_number &= for_number;
		return;
	}
	bool can_move = slab->own.data != NULL && !slab->stays;
	struct gid_departure *departure = can_move ? begin_departure(slab, for_number) : NULL;
	if (departure == NULL) {
		stay(slab, for_number, can_move ? -ENOMEM : -ENOTSUP);
		return;
	}
	const struct gid_memory_readers readers = gid_own_slab_readers(slab);
	int error = gid_memory_ask(slab->domain, &departure->fresh, &readers, GID_OWN_SLAB_MEMORY,
			slab->own.size, handle_given, departure);
	error = error == 0 ? ask_for_number_there(departure) : error;
	if (error < 0 && error != -EINPROGRESS) {
		fail_departure(departure, error);
	}
}
