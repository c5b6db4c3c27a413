// SPDX-License-Identifier: MIT
/**
 * The slab, our own or an imported one: references, what it is, its memory to read; its slots, and
 * who holds which; who may read it. export.c makes our own, import.c gets those of others.
 */
#include "slab_object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "closer.h"
#include "memory_pages.h"
#include "window_dmabuf.h"

/* --- the object ------------------------------------------------------------------------------- */

struct gid_slab *gid_slab_new(struct gid_domain *domain, const struct gid_slab_kind *kind) {
	struct gid_slab *slab = calloc(1, sizeof(*slab));
	if (slab == NULL) {
		return NULL;
	}
	slab->kind = kind;
	slab->domain = domain;
	slab->references = 1;
	slab->info.fd = -1;
	slab->info.description = slab->description;
	slab->own.fd = -1;
	slab->stand_in = -1;
	slab->window_dmabuf = -1;
	slab->next = domain->slabs;
	if (slab->next != NULL) {
		slab->next->prev = slab;
	}
	domain->slabs = slab;
	return slab;
}

void gid_slab_close_memory(struct gid_slab *slab) {
	if (slab->generations_size > 0) {
		gid_memory_unmap(slab->generations, slab->generations_size);
	}
	if (slab->own.data != NULL) {
		gid_memory_put(&slab->own);
	} else {
		gid_memory_let_go(slab->view, slab->view_size, gid_domain_of(slab->info.gid));
		gid_memory_let_go(slab->filled, slab->filled_size, gid_domain_of(slab->info.gid));
		/* Last: a small slab may lie in a large file, which goes where this is closed. */
		gid_closer_close(slab->info.fd);
	}
	slab->filled = NULL;
	gid_closer_close(slab->window_dmabuf);
	slab->generations = NULL;
	slab->generations_size = 0;
	slab->view = NULL;
	slab->info.fd = slab->window_dmabuf = -1;
}

static void detach(struct gid_slab *slab) {
	struct gid_domain *domain = slab->domain;
	if (slab->prev != NULL) {
		slab->prev->next = slab->next;
	} else {
		domain->slabs = slab->next;
	}
	if (slab->next != NULL) {
		slab->next->prev = slab->prev;
	}
	slab->domain = NULL;
}

/*
 * An imported slab's memory is given up: its owner's account gets the bytes back, but for copies
 * that are kept. Without those the number of copies would have no bound.
 */
static void discharge(struct gid_slab *slab, uint64_t kept) {
	const uint64_t left = kept < slab->charged ? kept : slab->charged;
	if (slab->charged > 0 && slab->domain != NULL) {
		struct gid_imported_of *of =
				&slab->domain->imported_of[gid_domain_of(slab->info.gid)];
		of->bytes -= slab->charged - left;
		of->slabs -= left == 0;
	}
	slab->charged = left;
}

size_t gid_slab_content_size(const struct gid_slab *slab, uint32_t slot) {
	const uint64_t at = (uint64_t)slot * slab->info.slot_size;
	const uint64_t used = gid_layout_size(&slab->info.layout);
	const uint64_t rest = at < slab->view_size ? slab->view_size - at : 0;
	uint64_t size = slab->info.slot_size;
	size = used != 0 && used < size ? used : size;
	return (size_t)(size < rest ? size : rest);
}

static bool is_touched(const struct gid_slab *slab, uint32_t slot) {
	return slab->touched == NULL || (slab->touched[slot / 8] >> slot % 8 & 1) != 0;
}

/*
 * Reading a missing page would allocate it, charged to us for as long as its owner keeps the file.
 */
static int check_pages(const struct gid_slab *slab, uint32_t slot) {
	const struct gid_slab_info *info = &slab->info;
	return is_touched(slab, slot)
			? 0
			: gid_memory_check_pages(info->fd, info->offset + slot * info->slot_size,
					  info->slot_size, gid_slab_view_untouched(slab, slot));
}

int gid_slab_keep(struct gid_slab *slab, uint32_t slot) {
	const struct gid_slab_info *info = &slab->info;
	if (slot >= info->slot_count || slab->view == NULL) {
		return -EINVAL;
	}
	int error = check_pages(slab, slot);
	if (error < 0) {
		return error;
	}
	if (slab->stand_in < 0) {
		slab->stand_in = gid_memory_make_blank(info->offset + slab->view_size);
		if (slab->stand_in < 0) {
			return slab->stand_in;
		}
	}
	const uint64_t at = (uint64_t)slot * info->slot_size, begin = info->offset + at;
	const size_t size = gid_slab_content_size(slab, slot);
	/* Counted even if filling fails: all pages that the slot touches. */
	slab->kept += gid_memory_round_up(begin + size) - gid_memory_round_up(begin + 1) +
			gid_memory_round_up(1);
	return gid_memory_fill(slab->stand_in, begin, slab->view + at, size);
}

/*
 * Puts another file behind the same descriptor number, which callers may have. Not for a dma-buf: a
 * device may still use it. The old file may be large, and its last close would take longer than a
 * frame: a helper does it.
 */
static void replace_descriptor(struct gid_slab *slab, int by) {
	if (by >= 0 && slab->info.fd >= 0 && slab->info.memory != GID_MEMORY_DMABUF) {
		int before = fcntl(slab->info.fd, F_DUPFD_CLOEXEC, 0);
		dup3(by, slab->info.fd, O_CLOEXEC);
		gid_closer_close(before);
	}
}

void gid_slab_blank(struct gid_slab *slab) {
	const uint64_t offset = slab->info.offset;
	int kept = slab->stand_in;
	slab->stand_in = -1;
	if (kept >= 0 && gid_memory_seal(kept) < 0) {
		close(kept);
		kept = -1;
	}
	if (slab->view != NULL &&
			gid_memory_replace(slab->view, slab->view_size,
					gid_domain_of(slab->info.gid), kept, offset) < 0) {
		goto out;
	}
	if (slab->generations_size > 0) {
		gid_memory_unmap(slab->generations, slab->generations_size);
		slab->generations = NULL;
		slab->generations_size = 0;
	}
	/*
	 * While the domain is sealed no file is made for that; the old one stays behind the
	 * descriptor.
	 */
	bool may_make = slab->domain == NULL || slab->domain->sealed == 0;
	if (kept < 0 && may_make && (kept = gid_memory_make_blank(offset + slab->view_size)) >= 0) {
		gid_memory_seal(kept);
	}
	replace_descriptor(slab, kept);
	discharge(slab, slab->kept);
out:
	if (kept >= 0) {
		close(kept);
	}
}

void gid_slab_free(struct gid_slab *slab) {
	discharge(slab, 0);
	if (slab->domain != NULL) {
		detach(slab);
	}
	gid_slab_close_memory(slab);
	while (slab->listeners != NULL) {
		struct gid_slab_listener *listener = slab->listeners;
		slab->listeners = listener->next;
		free(listener);
	}
	if (slab->stand_in >= 0) {
		close(slab->stand_in);
	}
	free(slab->touched);
	free(slab->slots);
	free(slab);
}

void gid_slab_detach_all(struct gid_domain *domain) {
	while (domain->slabs != NULL) {
		struct gid_slab *slab = domain->slabs;
		slab->kind->forget(slab);
		slab->info.revoked = true;
		gid_slab_close_memory(slab);
		detach(slab);
		if (slab->references == 0) {
			gid_slab_free(slab);
		}
	}
}

struct gid_slab *gid_slab_ref(struct gid_slab *slab) {
	if (slab->references == 0) {
		slab->kind->wake(slab);
	}
	slab->references++;
	return slab;
}

void gid_slab_unref(struct gid_slab *slab) {
	if (slab != NULL && --slab->references == 0) {
		slab->kind->unused(slab);
	}
}

void gid_slab_get_info(const struct gid_slab *slab, struct gid_slab_info *info) {
	*info = slab->info;
}

/* The dma-buf of a window is made of the view, which begins at a page: so `offset` is 0. */
int gid_slab_get_dmabuf(struct gid_slab *slab, uint64_t *offset) {
	if (slab->info.memory == GID_MEMORY_DMABUF) {
		*offset = slab->info.offset;
		return slab->info.fd >= 0 ? slab->info.fd : -EINVAL;
	}
	/* Not of our own slabs, which may move to other memory. */
	if (slab->info.memory != GID_MEMORY_WINDOW || !slab->info.imported || slab->view == NULL) {
		return -ENOTSUP;
	}
	*offset = 0;
	if (slab->window_dmabuf >= 0) {
		return slab->window_dmabuf;
	}
	if (slab->info.revoked) {
		return -EINVAL; /* there are zeroes in its place */
	}
	int fd = gid_window_dmabuf_make(slab->view, slab->view_size, false);
	if (fd >= 0) {
		slab->window_dmabuf = fd;
	}
	return fd;
}

int gid_slab_open_dmabuf(struct gid_slab *slab, uint32_t slot) {
	const struct gid_slab_info *info = &slab->info;
	if (slot >= info->slot_count || info->revoked) {
		return -EINVAL;
	}
	if (slab->own.data == NULL || info->memory != GID_MEMORY_WINDOW ||
			!gid_memory_is_dax(info->fd)) {
		return -ENOTSUP;
	}
	int fd = gid_window_dmabuf_make(gid_slab_data(slab, slot), info->slot_size, true);
	slab->stays = slab->stays || fd >= 0;
	return fd;
}

gid_id gid_slab_gid(const struct gid_slab *slab, uint32_t slot) {
	if (slot >= slab->info.slot_count || slab->info.gid == GID_NONE) {
		return GID_NONE;
	}
	return slab->info.gid | slot << 16 | gid_slab_generation(slab, slot);
}

uint64_t gid_slab_emptied(const struct gid_slab *slab) {
	return slab->emptied;
}

const void *gid_slab_view_untouched(const struct gid_slab *slab, uint32_t slot) {
	return slab->view == NULL || slot >= slab->info.slot_count
			? NULL
			: slab->view + slot * slab->info.slot_size;
}

const void *gid_slab_view(const struct gid_slab *slab, uint32_t slot) {
	const void *view = gid_slab_view_untouched(slab, slot);
	if (view == NULL || is_touched(slab, slot)) {
		return view;
	}
	/* What was revoked is our own memory, or zeroes. */
	if (!slab->info.revoked && check_pages(slab, slot) < 0) {
		return NULL;
	}
	slab->touched[slot / 8] |= (uint8_t)(1u << slot % 8);
	gid_memory_touch(view, slab->info.slot_size);
	return view;
}

bool gid_slab_is_current(const struct gid_slab *slab, gid_id gid) {
	return gid_slab_has(slab, gid);
}

/* --- slots: who holds which, which are free, taking one back by force ------------------------- */

void *gid_slab_data(const struct gid_slab *slab, uint32_t slot) {
	if (slab->own.data == NULL || slot >= slab->info.slot_count) {
		return NULL;
	}
	return (char *)slab->own.data + slot * slab->info.slot_size;
}

uint32_t gid_slab_holders(const struct gid_slab *slab, uint32_t slot) {
	bool has = slab->slots != NULL && slot < slab->info.slot_count;
	return has ? slab->slots[slot].use & GID_SLOT_HOLDERS : 0;
}

static inline int take_slot(struct gid_slab *slab, uint32_t slot) {
	slab->slots[slot].use = GID_SLOT_TAKEN;
	/* May be beyond the last slot: then the search begins at the first one. */
	slab->next_slot = slot + 1;
	return (int)slot;
}

/* The first free one of the slots from `first` to `end`. */
static inline int take_from(struct gid_slab *slab, uint32_t first, uint32_t end) {
	const struct gid_slab_slot *const slots = slab->slots;
	uint32_t slot = first;
	while (slot < end && slots[slot].use != 0) {
		slot++;
	}
	return slot < end ? take_slot(slab, slot) : -EAGAIN;
}

static __attribute__((noinline)) int take_any(struct gid_slab *slab) {
	uint32_t next = slab->next_slot;
	int slot = take_from(slab, next, slab->info.slot_count);
	return slot >= 0 ? slot : take_from(slab, 0, next);
}

static inline bool has_pool(const struct gid_slab *slab) {
	return slab->slots != NULL && !slab->info.revoked && !slab->info.imported;
}

int gid_slab_take(struct gid_slab *slab) {
	if (!has_pool(slab)) {
		return -EAGAIN;
	}
	/* Nearly always the next one is free, for they are taken in turn. */
	uint32_t next = slab->next_slot;
	bool free = next < slab->info.slot_count && slab->slots[next].use == 0;
	return free ? take_slot(slab, next) : take_any(slab);
}

/* Takes up to `count` free slots from `first` to `end`, and writes their gids. Returns how many. */
static inline uint32_t take_each(
		struct gid_slab *slab, uint32_t first, uint32_t end, uint32_t count, gid_id *gids) {
	struct gid_slab_slot *const slots = slab->slots;
	const uint32_t *const generations = slab->generations;
	const gid_id of_slab = slab->info.gid;
	uint64_t slot = first;
	uint32_t taken = 0;
	while (slot < end && taken < count) {
		const uint64_t at = slot++;
		if (slots[at].use == 0) {
			slots[at].use = GID_SLOT_TAKEN;
			gids[taken++] = of_slab | at << 16 |
					(generations != NULL ? generations[at] & 0xffff : 0);
		}
	}
	slab->next_slot = taken > 0 ? (uint32_t)slot : slab->next_slot;
	return taken;
}

int gid_slab_take_burst(struct gid_slab *slab, gid_id *gids, uint32_t count) {
	if (count == 0) {
		return -EINVAL;
	}
	if (!has_pool(slab)) {
		return -EAGAIN;
	}
	uint32_t next = slab->next_slot;
	uint32_t taken = take_each(slab, next, slab->info.slot_count, count, gids);
	taken += take_each(slab, 0, next, count - taken, gids + taken);
	return taken > 0 ? (int)taken : -EAGAIN;
}

void gid_slab_begin_generations(struct gid_slab *slab) {
	const uint32_t first = gid_slab_next_generation((uint32_t)(gid_clock_now() % 0xffff));
	uint32_t *generations = (uint32_t *)slab->generations;
	for (uint32_t i = 0; i < slab->info.slot_count; i++) {
		__atomic_store_n(&generations[i], first, __ATOMIC_RELAXED);
	}
}

void gid_slab_give(struct gid_slab *slab, uint32_t slot) {
	if (slab->slots != NULL && slot < slab->info.slot_count) {
		slab->slots[slot].use &= ~GID_SLOT_TAKEN;
	}
}

void gid_slab_give_burst(struct gid_slab *slab, const gid_id *gids, uint32_t count) {
	struct gid_slab_slot *const slots = slab->slots;
	const uint32_t slot_count = slots != NULL ? slab->info.slot_count : 0;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t slot = gid_slot_of(gids[i]);
		if (slot < slot_count) {
			slots[slot].use &= ~GID_SLOT_TAKEN;
		}
	}
}

void gid_slab_advance(struct gid_slab *slab, uint32_t slot) {
	slab->slots[slot].use &= ~GID_SLOT_FORCED;
	if (!slab->info.imported && slab->generations != NULL) {
		gid_slab_raise_generation((uint32_t *)&slab->generations[slot]);
		if (slab->domain != NULL) {
			slab->slots[slot].renamed = ++slab->domain->renamed;
		}
	} else {
		slab->kind->take_back(slab);
	}
}

/* --- grants of our own, and loans of other clients' of our domain: to gidd one request -------- */

static void put_grant(const struct gid_slab *slab, uint32_t reader, bool allow,
		union gid_wire_message *message) {
	gid_wire_begin(message, GID_WIRE_GRANT, 0);
	message->grant.slab = gid_slab_of(slab->info.gid);
	message->grant.domain = reader;
	message->grant.allow = allow;
}

static void set_domain(uint8_t set[256 / 8], uint32_t domain, bool present) {
	uint8_t bit = (uint8_t)(1u << domain % 8);
	if (present) {
		set[domain / 8] |= bit;
	} else {
		set[domain / 8] &= (uint8_t)~bit;
	}
}

void gid_slab_set_granted(struct gid_slab *slab, uint32_t reader, bool granted) {
	set_domain(slab->granted, reader, granted);
	if (granted) {
		set_domain(slab->withheld, reader, false);
	}
}

static int request_grant(struct gid_slab *slab, uint32_t reader, bool allow) {
	struct gid_domain *domain = slab->domain;
	if (!gid_slab_can_be_granted(slab)) {
		return -ENOENT;
	}
	if (reader < 1 || reader > GID_DOMAIN_MAX) {
		return gid_domain_fail(domain, -EINVAL, "domains are numbered 1 to %u, not %u",
				GID_DOMAIN_MAX, reader);
	}
	if (!allow) {
		/*
		 * Noted before gidd is asked: a gidd that comes back must not hear of the grant in
		 * any case.
		 */
		gid_slab_set_granted(slab, reader, false);
		set_domain(slab->withheld, reader, !slab->info.imported);
	}
	union gid_wire_message message, answer;
	put_grant(slab, reader, allow, &message);
	int error = gid_domain_request(domain, &message, NULL, 0, &answer, NULL);
	if (error == 0 && allow) {
		gid_slab_set_granted(slab, reader, true);
	}
	return error;
}

int gid_slab_grant(struct gid_slab *slab, uint32_t reader) {
	return request_grant(slab, reader, true);
}

int gid_slab_revoke(struct gid_slab *slab, uint32_t reader) {
	return request_grant(slab, reader, false);
}

int gid_slab_grant_post(struct gid_slab *slab, uint32_t reader) {
	union gid_wire_message message;
	put_grant(slab, reader, true, &message);
	int error = gid_domain_post(slab->domain, &message, NULL, 0);
	if (error == 0) {
		gid_slab_set_granted(slab, reader, true);
	}
	return error;
}

int gid_slab_grant_async(
		struct gid_slab *slab, uint32_t reader, gid_answer_func answered, void *data) {
	union gid_wire_message message;
	put_grant(slab, reader, true, &message);
	return gid_domain_request_async(slab->domain, &message, NULL, 0, answered, data);
}

static void post_revoke(struct gid_slab *slab, uint32_t reader) {
	union gid_wire_message message;
	put_grant(slab, reader, false, &message);
	gid_domain_post(slab->domain, &message, NULL, 0);
}

void gid_slab_grant_again(struct gid_slab *slab) {
	for (uint32_t reader = 1; reader <= GID_DOMAIN_MAX; reader++) {
		if (gid_slab_is_granted(slab, reader)) {
			gid_slab_grant_post(slab, reader);
		} else if (gid_slab_has_domain(slab->withheld, reader)) {
			post_revoke(slab, reader);
		}
	}
}

void gid_slab_end_loans(struct gid_slab *slab) {
	for (uint32_t reader = 1; reader <= GID_DOMAIN_MAX; reader++) {
		if (gid_slab_is_granted(slab, reader) &&
				gid_slab_has_domain(slab->forced, reader)) {
			gid_slab_set_granted(slab, reader, false);
			post_revoke(slab, reader);
		}
	}
	memset(slab->forced, 0, sizeof(slab->forced));
}

uint32_t gid_slab_let_go_by_force(struct gid_slab *slab, uint32_t slot, uint32_t reader) {
	slab->slots[slot].use |= GID_SLOT_FORCED;
	set_domain(slab->forced, reader, true);
	return gid_slab_let_go(slab, slot);
}

/* --- finding ---------------------------------------------------------------------------------- */

int gid_slab_make_slots(struct gid_slab *slab) {
	slab->slots = calloc(slab->info.slot_count, sizeof(*slab->slots));
	return slab->slots == NULL ? -ENOMEM : 0;
}

struct gid_slab *gid_slab_find_anew(
		struct gid_domain *domain, gid_id gid, struct gid_slab_memo *memo) {
	struct gid_slab *slab = gid_slab_find(domain, gid);
	if (slab != NULL) {
		*memo = (struct gid_slab_memo){gid_slab_key(gid), domain->own_slabs.removed, slab};
	}
	return slab;
}

struct gid_slab *gid_slab_find_lent(struct gid_domain *domain, gid_id gid) {
	for (struct gid_slab *slab = domain->slabs; slab != NULL; slab = slab->next) {
		if (slab->held > 0 && gid_slab_key(slab->info.gid) == gid_slab_key(gid) &&
				gid_slab_holders(slab, gid_slot_of(gid)) > 0) {
			return slab;
		}
	}
	return NULL;
}
