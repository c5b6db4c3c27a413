// SPDX-License-Identifier: MIT
/** Both ends of a ring, and how they touch shared memory. */
#include "ring.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* --- shared memory: each word at once, in the orders of ring.h -------------------------------- */

#define RING_LINE_WORDS 8

static inline uint64_t ring_load(const uint64_t *word) {
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/*
 * No load that comes later may be before it. QEMU's translator lets one (ARM's STLR, then LDAR) on
 * an x86 host: then neither side sees what the other has just written. An exchange it orders as a
 * whole, and on x86 a store of this order is one anyway.
 */
static inline void ring_store(uint64_t *word, uint64_t value) {
	(void)__atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

/*
 * Word by word: the other side may read or write the place meanwhile. And not by a copy of the
 * whole in between, which would wait for its single words to be stored.
 */
static inline uint64_t ring_word(const struct gid_wire_frame *frame, size_t number) {
	uint64_t word;
	memcpy(&word, (const uint64_t *)frame + number, sizeof(word));
	return word;
}

static inline void ring_put_entry(struct gid_wire_ring *ring, const struct gid_wire_frame *frame,
		uint64_t index, uint64_t at) {
	uint64_t *place = &ring->frames_ring[at].index;
	__atomic_store_n(place, index, __ATOMIC_RELEASE);
#pragma GCC unroll 8
	for (size_t i = 1; i < RING_LINE_WORDS; i++) {
		__atomic_store_n(place + i, ring_word(frame, i), __ATOMIC_RELEASE);
	}
	if (frame->more == 0) {
		return; /* as for most entries */
	}
	uint64_t *more = ring->more_ring[at].words;
#pragma GCC unroll 8
	for (size_t i = 0; i < RING_LINE_WORDS; i++) {
		uint64_t word = ring_word(frame, RING_LINE_WORDS + i);
		__atomic_store_n(more + i, word, __ATOMIC_RELEASE);
	}
}

static inline void ring_get_line(void *copy, const uint64_t *place) {
#pragma GCC unroll 8
	for (size_t i = 0; i < RING_LINE_WORDS; i++) {
		uint64_t word = __atomic_load_n(place + i, __ATOMIC_ACQUIRE);
		memcpy((uint64_t *)copy + i, &word, sizeof(word));
	}
}

static inline void ring_get_entry(
		struct gid_wire_frame *copy, const struct gid_wire_ring *ring, uint64_t at) {
	ring_get_line(copy, &ring->frames_ring[at].index);
	if (copy->more != 0) {
		ring_get_line(&copy->present_time, ring->more_ring[at].words);
	} else {
		memset(&copy->present_time, 0, sizeof(struct gid_wire_more));
	}
}

/* Likewise. Most entries have none, and shall not save registers for this. */
static __attribute__((noinline)) void ring_put_note(
		struct gid_wire_note *place, const void *note, size_t size) {
	for (size_t i = 0; i * sizeof(uint64_t) < size; i++) {
		size_t left = size - i * sizeof(uint64_t);
		uint64_t word = 0;
		memcpy(&word, (const char *)note + i * sizeof(word),
				left < sizeof(word) ? left : sizeof(word));
		__atomic_store_n(&place->words[i], word, __ATOMIC_RELEASE);
	}
}

static __attribute__((noinline)) void ring_get_note(
		struct gid_wire_note *copy, const struct gid_wire_note *place, size_t size) {
	size = size < sizeof(*copy) ? size : sizeof(*copy);
	for (size_t i = 0; i * sizeof(uint64_t) < size; i++) {
		copy->words[i] = __atomic_load_n(&place->words[i], __ATOMIC_ACQUIRE);
	}
}

/* `own` is our copy of the word at `asleep`, which we alone write. */
static inline void ring_sleep(uint64_t *asleep, uint64_t *own) {
	*own |= 1;
	ring_store(asleep, *own);
}

static inline void ring_wake(uint64_t *asleep, uint64_t *own) {
	*own += *own & 1;
	__atomic_store_n(asleep, *own, __ATOMIC_RELAXED);
}

/* Whether the other side sleeps, by its word, and was not rung for this sleep. */
static inline bool ring_sleeps_unrung(uint64_t asleep, uint64_t rung) {
	return (asleep & 1) != 0 && asleep != rung;
}

/* Where an entry lies, in a ring of so many. */
static inline uint64_t place_of(uint64_t index, uint32_t entries) {
	return index & (entries - 1);
}

static inline uint64_t release_place(uint64_t number, uint32_t entries) {
	return number & (GID_RING_RELEASES_EACH * entries - 1);
}

/* ===== the producer's end ==================================================================== */

/*
 * So few that many rings fit in the caches, for they are used in rotation; and enough for entries
 * without a picture, and places that are left out.
 */
static uint32_t entries_for(uint32_t credit) {
	uint32_t entries = GID_RING_ENTRIES_MIN;
	while (entries < 2 * credit) {
		entries *= 2;
	}
	return entries < GID_RING_ENTRIES ? entries : GID_RING_ENTRIES;
}

void gid_ring_producer_init(struct gid_ring_producer *end, struct gid_wire_ring *ring,
		const struct gid_wire_page *page, uint32_t credit) {
	*end = (struct gid_ring_producer){
			.ring = ring,
			.page = page,
			.credit = credit,
			.entries = entries_for(credit),
	};
	ring->entries = end->entries;
	ring->credit = credit;
	ring->magic = GID_RING_MAGIC;
}

/* --- sending ---------------------------------------------------------------------------------- */

/* Marks the entry at a place, or what comes to it, as taken by force or not. */
static void mark_taken(struct gid_ring_producer *end, uint64_t index, bool taken) {
	uint64_t bit = UINT64_C(1) << place_of(index, end->entries);
	uint64_t marks = taken ? end->taken | bit : end->taken & ~bit;
	if (marks != end->taken) {
		end->taken = marks;
		ring_store(&end->ring->taken, marks);
	}
}

bool gid_ring_has_room(const struct gid_ring_producer *end) {
	return end->in_flight < end->entries && end->pictures < end->credit;
}

int gid_ring_put(struct gid_ring_producer *end, const struct gid_wire_frame *frame,
		const void *note, uint64_t now) {
	bool picture = frame->gid != GID_NONE;
	if (picture ? !gid_ring_has_room(end) : end->in_flight == end->entries) {
		return 0;
	}
	uint64_t index = end->tail, at = place_of(index, end->entries);
	while (end->sent[at].in_flight) {
		at = place_of(++index, end->entries);
	}
	ring_put_entry(end->ring, frame, index, at);
	mark_taken(end, index, false);
	if (frame->note_size > 0) {
		ring_put_note(&end->ring->notes[at], note, frame->note_size);
	}
	end->sent[at] = (struct gid_ring_sent){
			.index = index,
			.gid = frame->gid,
			.time = now,
			.in_flight = true,
	};
	end->in_flight++;
	end->pictures += picture;
	end->tail = index + 1;
	return 1;
}

void gid_ring_publish(struct gid_ring_producer *end) {
	if (end->published != end->tail) {
		end->published = end->tail;
		ring_store(&end->ring->tail, end->tail);
	}
}

int gid_ring_send(struct gid_ring_producer *end, const struct gid_wire_frame *frame,
		const void *note, uint64_t now) {
	int sent = gid_ring_put(end, frame, note, now);
	gid_ring_publish(end);
	return sent;
}

/*
 * One that fell asleep behind all that there is has seen it, and is rung for what comes next: there
 * is but one ring for a sleep, and by a futex it is lost where nobody waits yet.
 */
bool gid_ring_should_wake_consumer(struct gid_ring_producer *end) {
	uint64_t asleep = ring_load(&end->page->asleep);
	if (!ring_sleeps_unrung(asleep, end->rung) || end->floor >= end->published ||
			ring_load(&end->page->head) >= end->published) {
		return false;
	}
	end->rung = asleep;
	return true;
}

bool gid_ring_was_renewed(struct gid_ring_producer *end) {
	uint64_t renewed = ring_load(&end->page->renewed);
	bool changed = renewed != end->renewed;
	end->renewed = renewed;
	return changed;
}

uint32_t gid_ring_room(const struct gid_ring_producer *end) {
	uint32_t places = end->entries - end->in_flight, credit = end->credit - end->pictures;
	return places < credit ? places : credit;
}

uint32_t gid_ring_unread(const struct gid_ring_producer *end) {
	uint64_t head = ring_load(&end->page->head);
	uint32_t count = 0;
	for (uint32_t i = 0; i < end->entries; i++) {
		count += end->sent[i].in_flight && end->sent[i].index >= head;
	}
	return count;
}

bool gid_ring_get_shown(const struct gid_ring_producer *end, struct gid_shown *shown) {
	const struct gid_wire_page *page = end->page;
	uint64_t before = ring_load(&page->shown_count);
	*shown = (struct gid_shown){
			.sequence = ring_load(&page->shown_sequence),
			.time = ring_load(&page->shown_time),
			.refresh_ns = ring_load(&page->shown_refresh_ns),
	};
	return before != 0 && (before & 1) == 0 && ring_load(&page->shown_count) == before;
}

int gid_ring_get_showable(const struct gid_ring_producer *end,
		struct gid_showable showable[static GID_SHOWABLE_MAX]) {
	const struct gid_wire_page *page = end->page;
	uint64_t before = ring_load(&page->showable_count);
	uint64_t number = ring_load(&page->showable_number);
	if (before == 0 || (before & 1) != 0 || number > GID_SHOWABLE_MAX) {
		return -ENODATA;
	}
	for (uint64_t i = 0; i < number; i++) {
		uint64_t format = ring_load(&page->showable[i].format);
		showable[i] = (struct gid_showable){
				.fourcc = (uint32_t)format,
				.memory = (uint32_t)(format >> 32),
				.modifier = ring_load(&page->showable[i].modifier),
		};
	}
	return ring_load(&page->showable_count) == before ? (int)number : -ENODATA;
}

/* --- getting back ----------------------------------------------------------------------------- */

static struct gid_ring_sent *find_entry(struct gid_ring_producer *end, uint64_t index) {
	struct gid_ring_sent *sent = &end->sent[place_of(index, end->entries)];
	return sent->in_flight && sent->index == index ? sent : NULL;
}

/* The oldest entry in flight that is not older than `from`, which nearly always is `from` itself.
 */
static struct gid_ring_sent *find_from(struct gid_ring_producer *end, uint64_t from) {
	struct gid_ring_sent *first = find_entry(end, from);
	if (first != NULL || from >= end->tail) {
		return first;
	}
	for (uint32_t i = 0; i < end->entries; i++) {
		struct gid_ring_sent *sent = &end->sent[i];
		if (sent->in_flight && sent->index >= from &&
				(first == NULL || sent->index < first->index)) {
			first = sent;
		}
	}
	return first;
}

static void free_entry(struct gid_ring_producer *end, struct gid_ring_sent *sent,
		struct gid_ring_sent *freed) {
	*freed = *sent;
	sent->in_flight = false;
	end->in_flight--;
	end->pictures -= sent->gid != GID_NONE;
}

/* The head goes forward, and not past what was sent. */
int gid_ring_look(struct gid_ring_producer *end) {
	uint64_t head = ring_load(&end->page->head);
	if (head < end->head || head > end->tail) {
		return -EPROTO;
	}
	end->head = head;
	return 0;
}

/* Looks for new releases: no entry is released twice, so they are no more than entries. */
static int look_at_releases(struct gid_ring_producer *end) {
	uint64_t tail = ring_load(&end->page->release_tail);
	if (tail < end->release_tail || tail > end->tail ||
			tail - end->released > GID_RING_RELEASES_EACH * end->entries) {
		return -EPROTO;
	}
	end->release_tail = tail;
	return 0;
}

int gid_ring_collect(struct gid_ring_producer *end, struct gid_ring_sent *released) {
	if (end->released == end->release_tail && look_at_releases(end) < 0) {
		return -EPROTO;
	}
	while (end->released < end->release_tail) {
		uint64_t at = release_place(end->released, end->entries);
		uint64_t index = ring_load(&end->page->releases[at]);
		end->released++;
		if (index >= end->tail) {
			return -EPROTO;
		}
		struct gid_ring_sent *sent = find_entry(end, index);
		if (sent == NULL) {
			continue; /* taken back before its release was seen */
		}
		if (index >= end->head && (gid_ring_look(end) < 0 || index >= end->head)) {
			return -EPROTO;
		}
		free_entry(end, sent, released);
		return 1;
	}
	return 0;
}

int gid_ring_oldest_unread(struct gid_ring_producer *end, struct gid_ring_sent *oldest) {
	if (gid_ring_look(end) < 0) {
		return -EPROTO;
	}
	uint64_t from = end->head > end->floor ? end->head : end->floor;
	struct gid_ring_sent *sent = find_from(end, from);
	while (sent != NULL && sent->gid == GID_NONE) {
		sent = find_from(end, sent->index + 1);
	}
	if (sent == NULL) {
		return 0;
	}
	*oldest = *sent;
	return 1;
}

bool gid_ring_oldest(struct gid_ring_producer *end, struct gid_ring_sent *oldest) {
	struct gid_ring_sent *sent = find_from(end, 0);
	if (sent == NULL) {
		return false;
	}
	*oldest = *sent;
	return true;
}

void gid_ring_outdate_all(struct gid_ring_producer *end, uint64_t first, uint64_t now) {
	for (uint32_t i = 0; i < end->entries; i++) {
		if (end->sent[i].index >= first) {
			end->sent[i].outdated = now;
		}
	}
}

static void raise_floor(struct gid_ring_producer *end, uint64_t floor) {
	if (floor > end->floor) {
		end->floor = floor;
		ring_store(&end->ring->floor, floor);
	}
}

/*
 * One entry at a time: a consumer that goes over to the floor gives back the last entry below it,
 * for which its head may have been taken for a claim. So no other can have been mistaken.
 */
int gid_ring_take_back(struct gid_ring_producer *end, uint64_t below, struct gid_ring_sent *taken) {
	for (uint32_t i = 0; i < end->entries; i++) {
		if (gid_ring_look(end) < 0) {
			return -EPROTO;
		}
		uint64_t from = end->head > end->floor ? end->head : end->floor;
		struct gid_ring_sent *sent = from < below ? find_from(end, from) : NULL;
		if (sent == NULL || sent->index >= below) {
			return 0;
		}
		raise_floor(end, sent->index + 1);
		if (gid_ring_look(end) < 0) {
			return -EPROTO;
		}
		if (end->head <= sent->index) {
			free_entry(end, sent, taken);
			return 1;
		}
	}
	return 0;
}

bool gid_ring_take_by_force(
		struct gid_ring_producer *end, uint64_t index, struct gid_ring_sent *taken) {
	struct gid_ring_sent *sent = find_entry(end, index);
	if (sent == NULL) {
		return false;
	}
	/* So that a consumer that is just copying it, or the picture, sees that it comes too late.
	 */
	raise_floor(end, index + 1);
	mark_taken(end, index, true);
#ifndef __SANITIZE_THREAD__ /* which knows no fences */
	/* Whoever sees what is drawn into the slot from now on sees the mark, too. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	free_entry(end, sent, taken);
	return true;
}

/* --- the end, and sleep ----------------------------------------------------------------------- */

uint64_t gid_ring_last_words(const struct gid_ring_producer *end) {
	uint64_t after = end->floor;
	for (uint32_t i = 0; i < end->entries; i++) {
		const struct gid_ring_sent *sent = &end->sent[i];
		if (sent->in_flight && sent->gid != GID_NONE && sent->index >= after) {
			after = sent->index + 1;
		}
	}
	return after;
}

void gid_ring_close(struct gid_ring_producer *end) {
	__atomic_store_n(&end->ring->closed, 1, __ATOMIC_RELEASE);
}

bool gid_ring_producer_sleep(struct gid_ring_producer *end) {
	ring_sleep(&end->ring->asleep, &end->asleep);
	return ring_load(&end->page->release_tail) != end->released;
}

void gid_ring_producer_wake(struct gid_ring_producer *end) {
	ring_wake(&end->ring->asleep, &end->asleep);
}

/* ===== the consumer's end ==================================================================== */

/* An honest producer can make an end look further than this only by taking back without a pause. */
#define TRIES_MAX (2 * GID_RING_ENTRIES)

int gid_ring_consumer_init(struct gid_ring_consumer *end, const struct gid_wire_ring *ring,
		struct gid_wire_page *page) {
	uint32_t entries = __atomic_load_n(&ring->entries, __ATOMIC_RELAXED);
	bool good = gid_wire_are_entries(entries);
	*end = (struct gid_ring_consumer){
			.ring = ring,
			.page = page,
			.entries = good ? entries : GID_RING_ENTRIES,
	};
	page->magic = GID_RING_MAGIC;
	return good ? 0 : -EPROTO;
}

/* --- receiving -------------------------------------------------------------------------------- */

/* Unseen by the producer until gid_ring_publish_releases(). */
static void put_release(struct gid_ring_consumer *end, uint64_t index) {
	uint64_t *place = &end->page->releases[release_place(end->release_tail, end->entries)];
	__atomic_store_n(place, index, __ATOMIC_RELAXED);
	end->release_tail++;
}

void gid_ring_publish_releases(struct gid_ring_consumer *end) {
	ring_store(&end->page->release_tail, end->release_tail);
}

/* The entry that comes next, in `*index`: 1, 0 or -EPROTO. */
static inline int find_next(struct gid_ring_consumer *end, uint64_t *index) {
	uint64_t floor = ring_load(&end->ring->floor);
	*index = floor > end->head ? floor : end->head;
	if (*index >= end->tail) {
		uint64_t tail = ring_load(&end->ring->tail);
		/* The floor was loaded first and never rises above the tail. */
		if (tail < end->tail || tail < floor) {
			return -EPROTO;
		}
		end->tail = tail;
	}
	return *index < end->tail;
}

/* Makes a claimed entry a held one. What is held at its place can only have been taken by force. */
static int hold(struct gid_ring_consumer *end, uint64_t index, uint64_t floor) {
	uint64_t *place = &end->held_until[place_of(index, end->entries)];
	if (*place > floor) {
		return -EPROTO;
	}
	end->held += *place == 0;
	*place = index + 1;
	return 1;
}

/* Claims the entries that come next, from `*first` on: how many, 0 or -EPROTO. */
static inline __attribute__((always_inline)) int claim(
		struct gid_ring_consumer *end, uint32_t most, uint64_t *first) {
	int found = find_next(end, first);
	if (found <= 0) {
		return found;
	}
	uint64_t left = end->tail - *first;
	/* There is one at least. */
	uint32_t count = most == 1 || left >= most ? most : (uint32_t)left;
	bool jumped = *first > end->head;
	end->head = *first + count;
	ring_store(&end->page->head, end->head);
	if (jumped) {
		/* The producer may have looked just now and taken this for a claim of it. */
		put_release(end, *first - 1);
		gid_ring_publish_releases(end);
	}
	return (int)count;
}

/*
 * Sorts out what was claimed and copied, after a look at the floor: what was taken back meanwhile
 * goes back unread. Returns how many are held now, or -EPROTO.
 */
static inline __attribute__((always_inline)) int keep_claimed(struct gid_ring_consumer *end,
		struct gid_wire_frame *copies, uint64_t first, uint32_t claimed, uint64_t floor) {
	uint32_t kept = 0;
	for (uint32_t i = 0; i < claimed; i++) {
		uint64_t index = first + i;
		if (floor > index) {
			put_release(end, index);
			gid_ring_publish_releases(end);
			continue;
		}
		if (copies[i].index != index) {
			/* Left out: the place has the entry that held it, or one that came to it
			 * since. */
			if (place_of(copies[i].index - index, end->entries) != 0) {
				return -EPROTO;
			}
			continue;
		}
		if (hold(end, index, floor) < 0) {
			return -EPROTO;
		}
		if (kept < i) {
			copies[kept] = copies[i];
			end->notes[kept] = end->notes[i];
		}
		kept++;
	}
	return (int)kept;
}

/* Inline, so that receiving one has no loops over one. */
static inline __attribute__((always_inline)) int receive(
		struct gid_ring_consumer *end, struct gid_wire_frame *copies, uint32_t most) {
	for (uint32_t try = 0; try < TRIES_MAX; try++) {
		uint64_t first;
		int claimed = claim(end, most, &first);
		if (claimed <= 0) {
			return claimed;
		}
		for (uint32_t i = 0; i < (uint32_t)claimed; i++) {
			uint64_t place = place_of(first + i, end->entries);
			ring_get_entry(&copies[i], end->ring, place);
			if (copies[i].note_size > 0) {
				ring_get_note(&end->notes[i], &end->ring->notes[place],
						copies[i].note_size);
			}
		}
		uint64_t floor = ring_load(&end->ring->floor);
		int kept = keep_claimed(end, copies, first, (uint32_t)claimed, floor);
		if (kept != 0) {
			return kept;
		}
	}
	return 0;
}

int gid_ring_receive_burst(
		struct gid_ring_consumer *end, struct gid_wire_frame *copies, uint32_t most) {
	return receive(end, copies, most < GID_BURST_MAX ? most : GID_BURST_MAX);
}

int gid_ring_receive(struct gid_ring_consumer *end, struct gid_wire_frame *copy) {
	return receive(end, copy, 1);
}

int gid_ring_put_back(struct gid_ring_consumer *end, uint64_t index) {
	uint64_t *place = &end->held_until[place_of(index, end->entries)];
	if (index == UINT64_MAX || *place != index + 1) {
		return -EINVAL;
	}
	*place = 0;
	end->held--;
	put_release(end, index);
	return 0;
}

int gid_ring_release(struct gid_ring_consumer *end, uint64_t index) {
	int error = gid_ring_put_back(end, index);
	if (error == 0) {
		gid_ring_publish_releases(end);
	}
	return error;
}

void gid_ring_renew(struct gid_ring_consumer *end) {
	end->renewed++;
	ring_store(&end->page->renewed, end->renewed);
}

bool gid_ring_is_held(const struct gid_ring_consumer *end, uint64_t index) {
	uint64_t place = place_of(index, end->entries);
#ifndef __SANITIZE_THREAD__ /* which knows no fences, and no memory of other processes */
	/* What was read of the picture was read before. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	bool taken = (ring_load(&end->ring->taken) >> place & 1) != 0;
	return !taken && end->held_until[place] == index + 1 &&
			ring_load(&end->ring->frames_ring[place].index) == index;
}

uint32_t gid_ring_readable(const struct gid_ring_consumer *end) {
	uint64_t floor = ring_load(&end->ring->floor), tail = ring_load(&end->ring->tail);
	uint64_t from = floor > end->head ? floor : end->head;
	uint64_t count = tail > from ? tail - from : 0;
	return count < end->entries ? (uint32_t)count : end->entries;
}

void gid_ring_tell_shown(struct gid_ring_consumer *end, const struct gid_shown *shown) {
	struct gid_wire_page *page = end->page;
	end->shown_count += 2;
	ring_store(&page->shown_count, end->shown_count - 1);
	ring_store(&page->shown_sequence, shown->sequence);
	ring_store(&page->shown_time, shown->time);
	ring_store(&page->shown_refresh_ns, shown->refresh_ns);
	ring_store(&page->shown_count, end->shown_count);
}

void gid_ring_tell_showable(struct gid_ring_consumer *end, const struct gid_showable *showable,
		uint32_t number) {
	struct gid_wire_page *page = end->page;
	end->showable_count += 2;
	ring_store(&page->showable_count, end->showable_count - 1);
	ring_store(&page->showable_number, number);
	for (uint32_t i = 0; i < number; i++) {
		uint64_t memory = showable[i].memory;
		ring_store(&page->showable[i].format, memory << 32 | showable[i].fourcc);
		ring_store(&page->showable[i].modifier, showable[i].modifier);
	}
	ring_store(&page->showable_count, end->showable_count);
}

bool gid_ring_should_wake_producer(struct gid_ring_consumer *end) {
	uint64_t asleep = ring_load(&end->ring->asleep);
	if (!ring_sleeps_unrung(asleep, end->rung)) {
		return false;
	}
	end->rung = asleep;
	return true;
}

/* --- sleep ------------------------------------------------------------------------------------ */

bool gid_ring_is_readable(const struct gid_ring_consumer *end) {
	uint64_t tail = ring_load(&end->ring->tail), floor = ring_load(&end->ring->floor);
	return (floor > end->head ? floor : end->head) != tail;
}

bool gid_ring_consumer_sleep(struct gid_ring_consumer *end) {
	ring_sleep(&end->page->asleep, &end->asleep);
	return gid_ring_is_readable(end);
}

void gid_ring_consumer_wake(struct gid_ring_consumer *end) {
	ring_wake(&end->page->asleep, &end->asleep);
}
