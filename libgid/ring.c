// SPDX-License-Identifier: MIT
/** Both ends of a ring: what is not done with each frame. ring_frame.h has the rest. */
#include "ring.h"

#include <stddef.h>

static void put_note(struct gid_wire_note *place, const void *note, size_t size) {
	for (size_t i = 0; i * sizeof(uint64_t) < size; i++) {
		size_t left = size - i * sizeof(uint64_t);
		uint64_t word = 0;
		memcpy(&word, (const char *)note + i * sizeof(word),
				left < sizeof(word) ? left : sizeof(word));
		__atomic_store_n(&place->words[i], word, __ATOMIC_RELEASE);
	}
}

static void get_note(struct gid_wire_note *copy, const struct gid_wire_note *place, size_t size) {
	size = size < sizeof(*copy) ? size : sizeof(*copy);
	for (size_t i = 0; i * sizeof(uint64_t) < size; i++) {
		copy->words[i] = __atomic_load_n(&place->words[i], __ATOMIC_ACQUIRE);
	}
}

void ring_put_more(struct gid_wire_ring *ring, uint64_t at, const struct gid_wire_frame *frame,
		const void *note) {
	for (size_t i = 0; i < RING_LINE_WORDS; i++) {
		uint64_t word = ring_word(frame, RING_LINE_WORDS + i);
		__atomic_store_n(&ring->more_ring[at].words[i], word, __ATOMIC_RELEASE);
	}
	put_note(&ring->notes[at], note, frame->note_size);
}

void ring_get_more(struct gid_wire_frame *copy, struct gid_wire_note *note,
		const struct gid_wire_ring *ring, uint64_t at) {
	ring_get_line(&copy->present_time, ring->more_ring[at].words);
	get_note(note, &ring->notes[at], copy->note_size);
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

/* ===== the producer's end ==================================================================== */

/*
 * Few places, so that many rings fit in the caches: they are used in rotation. But enough for
 * entries without a picture, and for places that are skipped.
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
	for (uint32_t i = 0; i < GID_RING_ENTRIES; i++) {
		end->sent[i].index = GID_RING_NO_INDEX;
	}
	ring->entries = end->entries;
	ring->credit = credit;
	ring->magic = GID_RING_MAGIC;
}

/* --- sending ---------------------------------------------------------------------------------- */

int gid_ring_send(struct gid_ring_producer *end, const struct gid_wire_frame *frame,
		const void *note, uint64_t now) {
	int sent = gid_ring_put(end, frame, note, now);
	gid_ring_publish(end);
	return sent;
}

void gid_ring_put_check(struct gid_ring_producer *end, const struct gid_wire_check *check) {
	uint64_t index = end->tail - 1;
	struct gid_wire_check *place = &end->ring->checks[ring_place_of(index, end->entries)];
	__atomic_store_n(&place->index, index + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&place->kind, check->kind, __ATOMIC_RELEASE);
	for (size_t i = 0; i < GID_CHECK_SIZE / sizeof(uint64_t); i++) {
		__atomic_store_n(&place->words[i], check->words[i], __ATOMIC_RELEASE);
	}
	__atomic_store_n(&end->ring->checked, 1, __ATOMIC_RELEASE);
}

bool gid_ring_was_renewed(struct gid_ring_producer *end) {
	uint64_t renewed = ring_load(&end->page->renewed);
	bool changed = renewed != end->renewed;
	end->renewed = renewed;
	return changed;
}

uint32_t gid_ring_unread(const struct gid_ring_producer *end) {
	uint64_t head = ring_load(&end->page->head);
	uint32_t count = 0;
	for (uint32_t i = 0; i < end->entries; i++) {
		count += gid_ring_is_out(&end->sent[i]) && end->sent[i].index >= head;
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
			.window_ns = ring_load(&page->shown_window_ns),
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

/* The oldest entry in flight that is not older than `from`, which nearly always is `from` itself.
 */
static struct gid_ring_sent *find_from(struct gid_ring_producer *end, uint64_t from) {
	struct gid_ring_sent *first = ring_find_entry(end, from);
	if (first != NULL || from >= end->tail) {
		return first;
	}
	for (uint32_t i = 0; i < end->entries; i++) {
		struct gid_ring_sent *sent = &end->sent[i];
		if (gid_ring_is_out(sent) && sent->index >= from &&
				(first == NULL || sent->index < first->index)) {
			first = sent;
		}
	}
	return first;
}

int gid_ring_oldest_unread(struct gid_ring_producer *end, struct gid_ring_sent *oldest) {
	if (gid_ring_poll_claims(end) < 0) {
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
 * One entry at a time: a consumer that skips to the floor gives back the last entry below it, as
 * the producer may take its new head for a claim of that entry. So this can concern no other entry.
 */
int gid_ring_take_back(struct gid_ring_producer *end, uint64_t below, struct gid_ring_sent *taken) {
	for (uint32_t i = 0; i < end->entries; i++) {
		if (gid_ring_poll_claims(end) < 0) {
			return -EPROTO;
		}
		uint64_t from = end->head > end->floor ? end->head : end->floor;
		struct gid_ring_sent *sent = from < below ? find_from(end, from) : NULL;
		if (sent == NULL || sent->index >= below) {
			return 0;
		}
		raise_floor(end, sent->index + 1);
		if (gid_ring_poll_claims(end) < 0) {
			return -EPROTO;
		}
		if (end->head <= sent->index) {
			ring_free_entry(end, sent, taken);
			return 1;
		}
	}
	return 0;
}

bool gid_ring_take_by_force(
		struct gid_ring_producer *end, uint64_t index, struct gid_ring_sent *taken) {
	struct gid_ring_sent *sent = ring_find_entry(end, index);
	if (sent == NULL) {
		return false;
	}
	/*
	 * A consumer that is just copying the entry or the picture sees by these that it is too
	 * late.
	 */
	raise_floor(end, index + 1);
	ring_mark_taken(end, index, true);
#ifndef __SANITIZE_THREAD__ /* which knows no fences */
	/* Whoever sees what is drawn into the slot from now on also sees the mark. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	ring_free_entry(end, sent, taken);
	return true;
}

/* --- the end, and sleep ----------------------------------------------------------------------- */

void gid_ring_disown(struct gid_ring_producer *end, uint64_t below) {
	raise_floor(end, below < end->published ? below : end->published);
	end->taken = UINT64_MAX;
	ring_store(&end->ring->taken, end->taken);
}

uint64_t gid_ring_last_words(const struct gid_ring_producer *end) {
	uint64_t after = end->floor;
	for (uint32_t i = 0; i < end->entries; i++) {
		const struct gid_ring_sent *sent = &end->sent[i];
		if (gid_ring_is_out(sent) && sent->gid != GID_NONE && sent->index >= after) {
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

int gid_ring_keep(struct gid_ring_consumer *end, uint64_t index, struct gid_wire_frame *copy,
		uint32_t number) {
	const struct gid_wire_ring *const ring = end->ring;
	const uint64_t place = ring_place_of(index, end->entries);
	struct gid_wire_entry line;
	ring_get_line(&line, &ring->frames_ring[place].index);
	*copy = ring_begin_frame(line);
	if (copy->more != 0) {
		ring_get_more(copy, &end->notes[number], ring, place);
	}
	const uint64_t floor = ring_load(&ring->floor), before = end->held_until[place];
	if (floor > index) {
		ring_put_release(end, index);
		gid_ring_publish_releases(end);
		return 0;
	}
	if (line.index != index) {
		/* The index was skipped: the place has the entry that held it, or a later one. */
		return ring_place_of(line.index - index, end->entries) != 0 ? -EPROTO : 0;
	}
	if (before > floor) {
		return -EPROTO; /* what is held there can only have been taken by force */
	}
	end->held += before == 0;
	end->held_until[place] = index + 1;
	return 1;
}

void gid_ring_renew(struct gid_ring_consumer *end) {
	end->renewed++;
	ring_store(&end->page->renewed, end->renewed);
}

bool gid_ring_is_held(const struct gid_ring_consumer *end, uint64_t index) {
	uint64_t place = ring_place_of(index, end->entries);
#ifndef __SANITIZE_THREAD__ /* which knows no fences, and no memory of other processes */
	/* The picture was read before this. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
	bool taken = (ring_load(&end->ring->taken) >> place & 1) != 0;
	return !taken && end->held_until[place] == index + 1 &&
			ring_load(&end->ring->frames_ring[place].index) == index;
}

int gid_ring_get_check(const struct gid_ring_consumer *end, uint64_t index,
		struct gid_wire_frame *copy, struct gid_wire_check *check) {
	uint64_t at = ring_place_of(index, end->entries);
	const struct gid_wire_check *place = &end->ring->checks[at];
	bool checked = ring_load(&end->ring->checked) != 0;
	ring_get_line(copy, &end->ring->frames_ring[at].index);
	memset(&copy->present_time, 0, sizeof(struct gid_wire_more));
	if (copy->more != 0) {
		ring_get_line(&copy->present_time, end->ring->more_ring[at].words);
	}
	/* An older producer's memory has something else there, or nothing. */
	*check = (struct gid_wire_check){0};
	if (checked) {
		check->index = ring_load(&place->index);
		check->kind = ring_load(&place->kind);
		for (size_t i = 0; i < GID_CHECK_SIZE / sizeof(uint64_t); i++) {
			check->words[i] = ring_load(&place->words[i]);
		}
	}
	if (copy->index != index || !gid_ring_is_held(end, index)) {
		return -ESTALE;
	}
	return check->index == index + 1 ? 0 : -ENODATA;
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
	ring_store(&page->shown_window_ns, shown->window_ns);
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
