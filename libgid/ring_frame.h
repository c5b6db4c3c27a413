// SPDX-License-Identifier: MIT
/**
 * The fast path of both ends of a ring, and how they access shared memory. Inline, because a frame
 * costs little more than the calls would; only rare cases are calls. Included by ring.h alone,
 * which has the rules and says what each function is for.
 */
#ifndef GID_RING_FRAME_H
#define GID_RING_FRAME_H

#include <errno.h>
#include <string.h>

/* --- shared memory: each word at once, in the orders of ring.h -------------------------------- */

#define RING_LINE_WORDS 8

/* Keeps a rare case out of the way of the common one, registers included. */
#define RING_RARELY(condition) __builtin_expect(condition, 0)

static inline uint64_t ring_load(const uint64_t *word) {
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/*
 * A store that no later load may pass. QEMU's translator lets one pass on an x86 host (ARM's STLR,
 * then LDAR), and then neither side sees what the other has just written. It keeps an exchange in
 * order; and on x86 a sequentially consistent store is an exchange anyway.
 */
static inline void ring_store(uint64_t *word, uint64_t value) {
	(void)__atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

/*
 * Entries are copied word by word, as the other side may access the place meanwhile. And not
 * through a copy of the whole entry, which would stall until its single words are stored.
 */
static inline uint64_t ring_word(const struct gid_wire_frame *frame, size_t number) {
	uint64_t word;
	memcpy(&word, (const uint64_t *)frame + number, sizeof(word));
	return word;
}

/* Stores the first line, with this index. */
static inline __attribute__((always_inline)) void ring_put_line(
		struct gid_wire_entry *place, uint64_t index, struct gid_wire_entry line) {
	__atomic_store_n(&place->index, index, __ATOMIC_RELEASE);
	__atomic_store_n(&place->gid, line.gid, __ATOMIC_RELEASE);
	__atomic_store_n(&place->sequence, line.sequence, __ATOMIC_RELEASE);
	__atomic_store_n(&place->submit_time, line.submit_time, __ATOMIC_RELEASE);
	__atomic_store_n(&place->capture_time, line.capture_time, __ATOMIC_RELEASE);
	__atomic_store_n(&place->pts, line.pts, __ATOMIC_RELEASE);
	__atomic_store_n(&place->kind, line.kind, __ATOMIC_RELEASE);
	__atomic_store_n(&place->damage, line.damage, __ATOMIC_RELEASE);
}

static inline struct gid_wire_entry ring_line_of(const struct gid_wire_frame *frame) {
	return (struct gid_wire_entry){
			.gid = ring_word(frame, 1),
			.sequence = ring_word(frame, 2),
			.submit_time = ring_word(frame, 3),
			.capture_time = ring_word(frame, 4),
			.pts = ring_word(frame, 5),
			.kind = ring_word(frame, 6),
			.damage = ring_word(frame, 7),
	};
}

static inline void ring_get_line(void *copy, const uint64_t *place) {
#pragma GCC unroll 8
	for (size_t i = 0; i < RING_LINE_WORDS; i++) {
		uint64_t word = __atomic_load_n(place + i, __ATOMIC_ACQUIRE);
		memcpy((uint64_t *)copy + i, &word, sizeof(word));
	}
}

/* With nothing on the second line. */
static inline struct gid_wire_frame ring_begin_frame(struct gid_wire_entry line) {
	struct gid_wire_frame frame;
	memcpy(&frame, &line, sizeof(line));
	memset(&frame.present_time, 0, sizeof(struct gid_wire_more));
	return frame;
}

/* What most entries do not have: the second line, and a note. */
void ring_put_more(struct gid_wire_ring *ring, uint64_t at, const struct gid_wire_frame *frame,
		const void *note);
void ring_get_more(struct gid_wire_frame *copy, struct gid_wire_note *note,
		const struct gid_wire_ring *ring, uint64_t at);

/* Whether the other side sleeps, as its `asleep` says, and was not rung in this sleep yet. */
static inline bool ring_sleeps_unrung(uint64_t asleep, uint64_t rung) {
	return (asleep & 1) != 0 && asleep != rung;
}

/* Where an entry lies, in a ring of so many. */
static inline uint64_t ring_place_of(uint64_t index, uint32_t entries) {
	return index & (entries - 1);
}

static inline uint64_t ring_release_place(uint64_t number, uint32_t entries) {
	return number & (GID_RING_RELEASES_EACH * entries - 1);
}

/* ===== the producer's end ==================================================================== */

/* Marks the entry at a place, or what comes to it, as taken by force or not. */
static inline void ring_mark_taken(struct gid_ring_producer *end, uint64_t index, bool taken) {
	uint64_t bit = UINT64_C(1) << ring_place_of(index, end->entries);
	uint64_t marks = taken ? end->taken | bit : end->taken & ~bit;
	if (marks != end->taken) {
		end->taken = marks;
		ring_store(&end->ring->taken, marks);
	}
}

static inline bool gid_ring_has_room(const struct gid_ring_producer *end) {
	return end->in_flight < end->entries && end->pictures < end->credit;
}

static inline uint32_t gid_ring_room(const struct gid_ring_producer *end) {
	uint32_t places = end->entries - end->in_flight, credit = end->credit - end->pictures;
	return places < credit ? places : credit;
}

/* The first index from there on whose place is free: there is one. */
static inline uint64_t ring_find_free(
		const struct gid_ring_producer *end, const uint32_t entries, uint64_t index) {
	while (RING_RARELY(gid_ring_is_out(&end->sent[ring_place_of(index, entries)]))) {
		index++;
	}
	return index;
}

/* The line of an entry comes to its place, and the producer remembers it. */
static inline __attribute__((always_inline)) void ring_put_at(struct gid_ring_producer *end,
		struct gid_wire_entry *place, uint64_t at, uint64_t index,
		struct gid_wire_entry line, uint64_t now) {
	ring_put_line(place, index, line);
	end->sent[at] = (struct gid_ring_sent){
			.index = index,
			.gid = line.gid,
			.time = now,
			.outdated = now, /* if something else comes in this very moment */
	};
}

/* Counts entries that were put; `next` is the index after them. */
static inline void ring_count_put(
		struct gid_ring_producer *end, uint32_t count, uint32_t pictures, uint64_t next) {
	end->in_flight += count;
	end->pictures += pictures;
	end->tail = next;
}

static inline __attribute__((always_inline)) int gid_ring_put(struct gid_ring_producer *end,
		const struct gid_wire_frame *frame, const void *note, uint64_t now) {
	bool picture = frame->gid != GID_NONE;
	if (end->in_flight == end->entries || (picture && end->pictures >= end->credit)) {
		return 0;
	}
	uint64_t index = ring_find_free(end, end->entries, end->tail);
	uint64_t at = ring_place_of(index, end->entries);
	ring_put_at(end, &end->ring->frames_ring[at], at, index, ring_line_of(frame), now);
	if (frame->more != 0) {
		ring_put_more(end->ring, at, frame, note);
	}
	if (end->taken != 0) {
		ring_mark_taken(end, index, false);
	}
	ring_count_put(end, 1, picture, index + 1);
	return 1;
}

static inline __attribute__((always_inline)) int gid_ring_put_line(
		struct gid_ring_producer *end, struct gid_wire_entry line, uint64_t now) {
	if (!gid_ring_has_room(end)) {
		return 0;
	}
	uint64_t index = ring_find_free(end, end->entries, end->tail);
	uint64_t at = ring_place_of(index, end->entries);
	ring_put_at(end, &end->ring->frames_ring[at], at, index, line, now);
	if (RING_RARELY(end->taken != 0)) {
		ring_mark_taken(end, index, false);
	}
	ring_count_put(end, 1, 1, index + 1);
	return 1;
}

/* What is the same for all of them is read and written once. */
static inline __attribute__((always_inline)) uint32_t gid_ring_put_lines(
		struct gid_ring_producer *end, uint32_t count, gid_ring_line_func *make,
		const void *data, uint64_t now) {
	const uint32_t room = gid_ring_room(end), entries = end->entries;
	struct gid_wire_entry *const places = end->ring->frames_ring;
	uint64_t index = end->tail;
	count = count < room ? count : room;
	for (uint32_t i = 0; i < count; i++) {
		index = ring_find_free(end, entries, index);
		uint64_t at = ring_place_of(index, entries);
		ring_put_at(end, &places[at], at, index, make(data, i), now);
		index++;
	}
	/* Places that were left out are held, and so not marked. */
	for (uint64_t i = end->tail; RING_RARELY(end->taken != 0) && i < index; i++) {
		ring_mark_taken(end, i, false);
	}
	ring_count_put(end, count, count, index);
	return count;
}

static inline void gid_ring_show(struct gid_ring_producer *end) {
	uint64_t tail = end->tail;
	end->published = tail;
	__atomic_store_n(&end->ring->tail, tail, __ATOMIC_RELEASE);
}

static inline void gid_ring_publish(struct gid_ring_producer *end) {
	uint64_t tail = end->tail;
	end->published = tail;
	ring_store(&end->ring->tail, tail);
}

/*
 * A consumer that has claimed everything looked before it fell asleep, and needs no wake-up. One
 * would also be lost by a futex on which nobody waits yet, and there is only one ring for each
 * sleep.
 */
static inline bool gid_ring_should_wake_consumer(struct gid_ring_producer *end) {
	uint64_t asleep = ring_load(&end->page->asleep);
	if (!ring_sleeps_unrung(asleep, end->rung) || end->floor >= end->published ||
			ring_load(&end->page->head) >= end->published) {
		return false;
	}
	end->rung = asleep;
	return true;
}

static inline struct gid_ring_sent *ring_find_entry(struct gid_ring_producer *end, uint64_t index) {
	struct gid_ring_sent *sent = &end->sent[ring_place_of(index, end->entries)];
	return index != GID_RING_NO_INDEX && sent->index == index ? sent : NULL;
}

static inline void ring_free_entry(struct gid_ring_producer *end, struct gid_ring_sent *sent,
		struct gid_ring_sent *freed) {
	*freed = *sent;
	sent->index = GID_RING_NO_INDEX;
	end->in_flight--;
	end->pictures -= sent->gid != GID_NONE;
}

/* The head goes forward, and not past what was sent. */
static inline int gid_ring_poll_claims(struct gid_ring_producer *end) {
	uint64_t head = ring_load(&end->page->head);
	if (head < end->head || head > end->tail) {
		return -EPROTO;
	}
	end->head = head;
	return 0;
}

/*
 * Loads how many releases there are, once all known ones are collected. No entry is released twice,
 * so the number of new ones is bounded. A count that went down wraps around, and is far above the
 * bound.
 */
static inline int gid_ring_poll_releases(struct gid_ring_producer *end) {
	uint64_t tail = ring_load(&end->page->release_tail), more = tail - end->released;
	if (more > GID_RING_RELEASES_EACH * end->entries || tail > end->tail) {
		return -EPROTO;
	}
	end->release_tail = tail;
	return 0;
}

/* Whether an entry that the consumer gave back was claimed since its head was seen last. */
static inline bool ring_was_claimed(struct gid_ring_producer *end, uint64_t index) {
	return gid_ring_poll_claims(end) == 0 && index < end->head;
}

/*
 * Loads the peer's count again only when all releases known so far are collected. A release may
 * name GID_RING_NO_INDEX, which is equal to that of a free place, but lies beyond the head.
 */
static inline __attribute__((always_inline)) int ring_collect(
		struct gid_ring_producer *end, bool all, gid_ring_back_func *back, void *data) {
	uint64_t number = end->released;
	if (number == end->release_tail && gid_ring_poll_releases(end) < 0) {
		return -EPROTO;
	}
	const uint64_t known = end->release_tail;
	const uint32_t entries = end->entries;
	const uint64_t *const releases = end->page->releases;
	uint32_t freed = 0, pictures = 0;
	int result = 0;
	while (number < known && result == 0) {
		uint64_t index = ring_load(&releases[ring_release_place(number, entries)]);
		struct gid_ring_sent *sent = &end->sent[ring_place_of(index, entries)];
		number++;
		if (RING_RARELY(sent->index != index)) {
			/* taken back before its release was seen */
			result = index < end->tail ? 0 : -EPROTO;
			continue;
		}
		if (RING_RARELY(index >= end->head) && !ring_was_claimed(end, index)) {
			result = -EPROTO;
			continue;
		}
		const struct gid_ring_sent is_back = *sent;
		sent->index = GID_RING_NO_INDEX;
		freed++;
		pictures += is_back.gid != GID_NONE;
		back(data, &is_back);
		result = !all;
	}
	end->released = number;
	end->in_flight -= freed;
	end->pictures -= pictures;
	return result;
}

static inline __attribute__((always_inline)) int gid_ring_collect_all(
		struct gid_ring_producer *end, gid_ring_back_func *back, void *data) {
	return ring_collect(end, true, back, data);
}

static inline __attribute__((always_inline)) void ring_back_copy(
		void *data, const struct gid_ring_sent *sent) {
	*(struct gid_ring_sent *)data = *sent;
}

static inline __attribute__((always_inline)) int gid_ring_collect(
		struct gid_ring_producer *end, struct gid_ring_sent *released) {
	return ring_collect(end, false, ring_back_copy, released);
}

/* ===== the consumer's end ==================================================================== */

/* Only a producer that reclaims entries without a pause can make a consumer look more often. */
#define RING_TRIES_MAX (2 * GID_RING_ENTRIES)

/* Unseen by the producer until gid_ring_publish_releases(). */
static inline void ring_put_release(struct gid_ring_consumer *end, uint64_t index) {
	uint64_t at = ring_release_place(end->release_tail, end->entries);
	__atomic_store_n(&end->page->releases[at], index, __ATOMIC_RELAXED);
	end->release_tail++;
}

static inline void gid_ring_publish_releases(struct gid_ring_consumer *end) {
	ring_store(&end->page->release_tail, end->release_tail);
}

/* The entry that comes next, in `*index`: 1, 0 or -EPROTO. */
static inline int ring_find_next(struct gid_ring_consumer *end, uint64_t *index) {
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

/* Claims the entries that come next, from `*first` on: how many, 0 or -EPROTO. */
static inline __attribute__((always_inline)) int gid_ring_claim(
		struct gid_ring_consumer *end, uint32_t most, uint64_t *first) {
	int found = ring_find_next(end, first);
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
		ring_put_release(end, *first - 1);
		gid_ring_publish_releases(end);
	}
	return (int)count;
}

/*
 * The fast path for a claimed entry: its first line is all of it, nobody reclaimed it, and it has
 * the right index. False: the slow path has to take it, from the beginning.
 */
static inline __attribute__((always_inline)) bool ring_take_of(struct gid_ring_consumer *end,
		const struct gid_wire_ring *ring, const uint32_t entries, uint64_t index,
		gid_ring_copy_func *copy, void *data) {
	const uint64_t place = ring_place_of(index, entries);
	const struct gid_wire_entry *const line = &ring->frames_ring[place];
	if (RING_RARELY(__atomic_load_n(&line->index, __ATOMIC_ACQUIRE) != index) ||
			RING_RARELY(!copy(data, line))) {
		return false;
	}
	uint64_t *const until = &end->held_until[place];
	/* An entry that is held at this place was taken by force. */
	if (RING_RARELY(ring_load(&ring->floor) > index) || RING_RARELY(*until != 0)) {
		return false;
	}
	end->held++;
	*until = index + 1;
	return true;
}

static inline __attribute__((always_inline)) bool gid_ring_take(struct gid_ring_consumer *end,
		uint64_t index, gid_ring_copy_func *copy, void *data) {
	return ring_take_of(end, end->ring, end->entries, index, copy, data);
}

static inline __attribute__((always_inline)) int gid_ring_receive_each(
		struct gid_ring_consumer *end, uint32_t most, gid_ring_copy_func *copy,
		gid_ring_next_func *next, gid_ring_take_hard_func *take_hard, void *data) {
	const struct gid_wire_ring *const ring = end->ring;
	const uint32_t entries = end->entries;
	for (uint32_t try = 0; try < RING_TRIES_MAX; try++) {
		uint64_t first;
		int claimed = gid_ring_claim(end, most, &first);
		if (claimed <= 0) {
			return claimed;
		}
		uint32_t taken = 0;
		for (uint32_t i = 0; i < (uint32_t)claimed; i++) {
			if (RING_RARELY(!ring_take_of(end, ring, entries, first + i, copy, data))) {
				int kept = take_hard(data, end, first + i, taken);
				if (kept < 0) {
					return -EPROTO;
				}
				taken += (uint32_t)kept;
				continue;
			}
			next(data, first + i);
			taken++;
		}
		if (!RING_RARELY(taken == 0)) {
			return (int)taken;
		}
	}
	return 0;
}

/* `data` is where the next copy goes. */
static inline __attribute__((always_inline)) bool ring_copy_line(
		void *data, const struct gid_wire_entry *line) {
	struct gid_wire_frame *copy = *(struct gid_wire_frame **)data;
	if (RING_RARELY(__atomic_load_n(&line->kind, __ATOMIC_ACQUIRE) >> GID_WIRE_MORE_SHIFT !=
			    0)) {
		return false;
	}
	ring_get_line(copy, &line->index);
	memset(&copy->present_time, 0, sizeof(struct gid_wire_more));
	return copy->more == 0;
}

static inline __attribute__((always_inline)) void ring_next_copy(void *data, uint64_t index) {
	struct gid_wire_frame **copy = data;
	(*copy)++->index = index; /* as it was when it was looked at */
}

static inline __attribute__((always_inline)) int ring_take_whole(
		void *data, struct gid_ring_consumer *end, uint64_t index, uint32_t number) {
	struct gid_wire_frame **copy = data;
	int got = gid_ring_keep(end, index, *copy, number);
	*copy += got > 0;
	return got;
}

static inline __attribute__((always_inline)) int gid_ring_receive_burst(
		struct gid_ring_consumer *end, struct gid_wire_frame *copies, uint32_t most) {
	most = most < GID_BURST_MAX ? most : GID_BURST_MAX;
	return gid_ring_receive_each(
			end, most, ring_copy_line, ring_next_copy, ring_take_whole, &copies);
}

static inline __attribute__((always_inline)) int gid_ring_receive(
		struct gid_ring_consumer *end, struct gid_wire_frame *copy) {
	return gid_ring_receive_each(
			end, 1, ring_copy_line, ring_next_copy, ring_take_whole, &copy);
}

/*
 * Stores the release of a held entry under that number. False: it is not held. The caller counts.
 */
static inline bool ring_put_back_as(uint64_t held_until[static GID_RING_ENTRIES],
		uint64_t *releases, const uint32_t entries, uint64_t index, uint64_t number) {
	uint64_t *place = &held_until[ring_place_of(index, entries)];
	if (index == UINT64_MAX || *place != index + 1) {
		return false;
	}
	*place = 0;
	__atomic_store_n(&releases[ring_release_place(number, entries)], index, __ATOMIC_RELAXED);
	return true;
}

static inline int gid_ring_put_back(struct gid_ring_consumer *end, uint64_t index) {
	const uint64_t number = end->release_tail;
	if (!ring_put_back_as(end->held_until, end->page->releases, end->entries, index, number)) {
		return -EINVAL;
	}
	end->held--;
	end->release_tail = number + 1;
	return 0;
}

/* What is the same for all of them is read and written once. */
static inline __attribute__((always_inline)) uint32_t gid_ring_put_back_each(
		struct gid_ring_consumer *end, uint32_t count, gid_ring_index_func *index_of,
		gid_ring_unheld_func *unheld, void *data) {
	uint64_t *const releases = end->page->releases;
	const uint64_t first = end->release_tail;
	const uint32_t entries = end->entries;
	uint64_t number = first;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t index = index_of(data, i);
		if (RING_RARELY(!ring_put_back_as(
				    end->held_until, releases, entries, index, number))) {
			unheld(data, i);
			continue;
		}
		number++;
	}
	end->held -= (uint32_t)(number - first);
	end->release_tail = number;
	return (uint32_t)(number - first);
}

static inline int gid_ring_release(struct gid_ring_consumer *end, uint64_t index) {
	int error = gid_ring_put_back(end, index);
	if (error == 0) {
		gid_ring_publish_releases(end);
	}
	return error;
}

static inline bool gid_ring_should_wake_producer(struct gid_ring_consumer *end) {
	uint64_t asleep = ring_load(&end->ring->asleep);
	if (!ring_sleeps_unrung(asleep, end->rung)) {
		return false;
	}
	end->rung = asleep;
	return true;
}

#endif
