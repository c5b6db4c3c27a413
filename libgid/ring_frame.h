// SPDX-License-Identifier: MIT
/**
 * What the two ends of a ring do with each frame, and how they touch shared memory. Inline, for a
 * frame costs little more than the calls would: only what is rare is one. For ring.h alone, which
 * includes this, has the rules, and says what each is for.
 */
#ifndef GID_RING_FRAME_H
#define GID_RING_FRAME_H

#include <errno.h>
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

/* The first line. */
static inline void ring_put_entry(struct gid_wire_ring *ring, const struct gid_wire_frame *frame,
		uint64_t index, uint64_t at) {
	uint64_t *place = &ring->frames_ring[at].index;
	__atomic_store_n(place, index, __ATOMIC_RELEASE);
#pragma GCC unroll 8
	for (size_t i = 1; i < RING_LINE_WORDS; i++) {
		__atomic_store_n(place + i, ring_word(frame, i), __ATOMIC_RELEASE);
	}
}

static inline void ring_get_line(void *copy, const uint64_t *place) {
#pragma GCC unroll 8
	for (size_t i = 0; i < RING_LINE_WORDS; i++) {
		uint64_t word = __atomic_load_n(place + i, __ATOMIC_ACQUIRE);
		memcpy((uint64_t *)copy + i, &word, sizeof(word));
	}
}

/* What most entries do not have: the second line, and a note. */
void ring_put_more(struct gid_wire_ring *ring, uint64_t at, const struct gid_wire_frame *frame,
		const void *note);
void ring_get_more(struct gid_wire_frame *copy, struct gid_wire_note *note,
		const struct gid_wire_ring *ring, uint64_t at);

/* Whether the other side sleeps, by its word, and was not rung for this sleep. */
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

static inline __attribute__((always_inline)) int gid_ring_put(struct gid_ring_producer *end,
		const struct gid_wire_frame *frame, const void *note, uint64_t now) {
	bool picture = frame->gid != GID_NONE;
	if (end->in_flight == end->entries || (picture && end->pictures >= end->credit)) {
		return 0;
	}
	uint64_t index = end->tail, at = ring_place_of(index, end->entries);
	while (end->sent[at].in_flight) {
		at = ring_place_of(++index, end->entries);
	}
	ring_put_entry(end->ring, frame, index, at);
	if (frame->more != 0) {
		ring_put_more(end->ring, at, frame, note);
	}
	if (end->taken != 0) {
		ring_mark_taken(end, index, false);
	}
	end->sent[at] = (struct gid_ring_sent){
			.index = index,
			.gid = frame->gid,
			.time = now,
			.outdated = now, /* if something else comes in this very moment */
			.in_flight = true,
	};
	end->in_flight++;
	end->pictures += picture;
	end->tail = index + 1;
	return 1;
}

static inline void gid_ring_publish(struct gid_ring_producer *end) {
	if (end->published != end->tail) {
		end->published = end->tail;
		ring_store(&end->ring->tail, end->tail);
	}
}

/*
 * One that fell asleep behind all that there is has seen it, and is rung for what comes next: there
 * is but one ring for a sleep, and by a futex it is lost where nobody waits yet.
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
	return sent->in_flight && sent->index == index ? sent : NULL;
}

static inline void ring_free_entry(struct gid_ring_producer *end, struct gid_ring_sent *sent,
		struct gid_ring_sent *freed) {
	*freed = *sent;
	sent->in_flight = false;
	end->in_flight--;
	end->pictures -= sent->gid != GID_NONE;
}

/* No entry is released twice, so they are no more than entries. */
static inline int gid_ring_poll_releases(struct gid_ring_producer *end) {
	uint64_t tail = ring_load(&end->page->release_tail);
	if (tail < end->release_tail || tail > end->tail ||
			tail - end->released > GID_RING_RELEASES_EACH * end->entries) {
		return -EPROTO;
	}
	end->release_tail = tail;
	return 0;
}

static inline int gid_ring_collect_known(
		struct gid_ring_producer *end, struct gid_ring_sent *released) {
	while (end->released < end->release_tail) {
		uint64_t at = ring_release_place(end->released, end->entries);
		uint64_t index = ring_load(&end->page->releases[at]);
		end->released++;
		if (index >= end->tail) {
			return -EPROTO;
		}
		struct gid_ring_sent *sent = ring_find_entry(end, index);
		if (sent == NULL) {
			continue; /* taken back before its release was seen */
		}
		if (index >= end->head && (gid_ring_poll_claims(end) < 0 || index >= end->head)) {
			return -EPROTO;
		}
		ring_free_entry(end, sent, released);
		return 1;
	}
	return 0;
}

static inline int gid_ring_collect(struct gid_ring_producer *end, struct gid_ring_sent *released) {
	bool none = end->released == end->release_tail;
	return none && gid_ring_poll_releases(end) < 0 ? -EPROTO
						       : gid_ring_collect_known(end, released);
}

/* ===== the consumer's end ==================================================================== */

/* An honest producer can make an end look further than this only by taking back without a pause. */
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

/* Makes a claimed entry a held one. What is held at its place can only have been taken by force. */
static inline int ring_hold(struct gid_ring_consumer *end, uint64_t index, uint64_t floor) {
	uint64_t *place = &end->held_until[ring_place_of(index, end->entries)];
	if (*place > floor) {
		return -EPROTO;
	}
	end->held += *place == 0;
	*place = index + 1;
	return 1;
}

/* Claims the entries that come next, from `*first` on: how many, 0 or -EPROTO. */
static inline __attribute__((always_inline)) int ring_claim(
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
 * Sorts out what was claimed and copied, after a look at the floor: what was taken back meanwhile
 * goes back unread. Returns how many are held now, or -EPROTO.
 */
static inline __attribute__((always_inline)) int ring_keep_claimed(struct gid_ring_consumer *end,
		struct gid_wire_frame *copies, uint64_t first, uint32_t claimed, uint64_t floor) {
	uint32_t kept = 0;
	for (uint32_t i = 0; i < claimed; i++) {
		uint64_t index = first + i;
		if (floor > index) {
			ring_put_release(end, index);
			gid_ring_publish_releases(end);
			continue;
		}
		if (copies[i].index != index) {
			/* Left out: the place has the entry that held it, or one that came to it
			 * since. */
			if (ring_place_of(copies[i].index - index, end->entries) != 0) {
				return -EPROTO;
			}
			continue;
		}
		if (ring_hold(end, index, floor) < 0) {
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

/* Receiving one has no loops over one. */
static inline __attribute__((always_inline)) int ring_receive(
		struct gid_ring_consumer *end, struct gid_wire_frame *copies, uint32_t most) {
	for (uint32_t try = 0; try < RING_TRIES_MAX; try++) {
		uint64_t first;
		int claimed = ring_claim(end, most, &first);
		if (claimed <= 0) {
			return claimed;
		}
		for (uint32_t i = 0; i < (uint32_t)claimed; i++) {
			uint64_t place = ring_place_of(first + i, end->entries);
			ring_get_line(&copies[i], &end->ring->frames_ring[place].index);
			if (copies[i].more != 0) {
				ring_get_more(&copies[i], &end->notes[i], end->ring, place);
			} else {
				memset(&copies[i].present_time, 0, sizeof(struct gid_wire_more));
			}
		}
		uint64_t floor = ring_load(&end->ring->floor);
		int kept = ring_keep_claimed(end, copies, first, (uint32_t)claimed, floor);
		if (kept != 0) {
			return kept;
		}
	}
	return 0;
}

static inline __attribute__((always_inline)) int gid_ring_receive_burst(
		struct gid_ring_consumer *end, struct gid_wire_frame *copies, uint32_t most) {
	return ring_receive(end, copies, most < GID_BURST_MAX ? most : GID_BURST_MAX);
}

static inline __attribute__((always_inline)) int gid_ring_receive(
		struct gid_ring_consumer *end, struct gid_wire_frame *copy) {
	return ring_receive(end, copy, 1);
}

static inline int gid_ring_put_back(struct gid_ring_consumer *end, uint64_t index) {
	uint64_t *place = &end->held_until[ring_place_of(index, end->entries)];
	if (index == UINT64_MAX || *place != index + 1) {
		return -EINVAL;
	}
	*place = 0;
	end->held--;
	ring_put_release(end, index);
	return 0;
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
