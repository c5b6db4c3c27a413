// SPDX-License-Identifier: MIT
#include <errno.h>

#include "ring.h"
#include "ring_memory.h"

void gid_ring_producer_init(struct gid_ring_producer *end, struct gid_wire_ring *ring,
	const struct gid_wire_page *page, uint32_t credit) {
	*end = (struct gid_ring_producer){.ring = ring, .page = page, .credit = credit};
	ring->entries = GID_RING_ENTRIES;
	ring->magic = GID_RING_MAGIC;
}

/* --- sending ---------------------------------------------------------------------------------- */

int gid_ring_send(struct gid_ring_producer *end, const struct gid_wire_frame *frame, uint64_t now) {
	bool picture = frame->gid != GID_NONE;
	if (end->in_flight == GID_RING_ENTRIES || (picture && end->pictures >= end->credit)) {
		return 0;
	}
	uint64_t index = end->tail;
	while (end->sent[index % GID_RING_ENTRIES].in_flight) {
		index++;
	}
	struct gid_wire_frame entry = *frame;
	entry.index = index;
	ring_put_entry(&end->ring->frames_ring[index % GID_RING_ENTRIES], &entry);
	end->sent[index % GID_RING_ENTRIES] = (struct gid_ring_sent){
		.index = index,
		.gid = frame->gid,
		.time = now,
		.in_flight = true,
	};
	end->in_flight++;
	end->pictures += picture;
	end->tail = index + 1;
	ring_store(&end->ring->tail, end->tail);
	return 1;
}

bool gid_ring_should_wake_consumer(struct gid_ring_producer *end) {
	return ring_should_wake(&end->page->asleep, &end->rung);
}

uint32_t gid_ring_room(const struct gid_ring_producer *end) {
	uint32_t places = GID_RING_ENTRIES - end->in_flight, credit = end->credit - end->pictures;
	return places < credit ? places : credit;
}

uint32_t gid_ring_unread(const struct gid_ring_producer *end) {
	uint64_t head = ring_load(&end->page->head);
	uint32_t count = 0;
	for (uint32_t i = 0; i < GID_RING_ENTRIES; i++) {
		count += end->sent[i].in_flight && end->sent[i].index >= head;
	}
	return count;
}

/* --- getting back ----------------------------------------------------------------------------- */

static struct gid_ring_sent *find_entry(struct gid_ring_producer *end, uint64_t index) {
	struct gid_ring_sent *sent = &end->sent[index % GID_RING_ENTRIES];
	return sent->in_flight && sent->index == index ? sent : NULL;
}

/* The oldest entry in flight that is not older than `from`, which nearly always is `from` itself. */
static struct gid_ring_sent *find_from(struct gid_ring_producer *end, uint64_t from) {
	struct gid_ring_sent *first = find_entry(end, from);
	if (first != NULL || from >= end->tail) {
		return first;
	}
	for (uint32_t i = 0; i < GID_RING_ENTRIES; i++) {
		struct gid_ring_sent *sent = &end->sent[i];
		if (sent->in_flight && sent->index >= from &&
			(first == NULL || sent->index < first->index)) {
			first = sent;
		}
	}
	return first;
}

static void free_entry(
	struct gid_ring_producer *end, struct gid_ring_sent *sent, struct gid_ring_sent *freed) {
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
		tail - end->released > GID_RING_RELEASES) {
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
		uint64_t index = ring_load(&end->page->releases[end->released % GID_RING_RELEASES]);
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
int gid_ring_take_back(
	struct gid_ring_producer *end, uint64_t below, struct gid_ring_sent *taken) {
	for (uint32_t i = 0; i < GID_RING_ENTRIES; i++) {
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
	/* So that a consumer that is just copying it sees that it comes too late. */
	raise_floor(end, index + 1);
	free_entry(end, sent, taken);
	return true;
}

/* --- the end, and sleep ----------------------------------------------------------------------- */

uint64_t gid_ring_last_words(const struct gid_ring_producer *end) {
	uint64_t after = end->floor;
	for (uint32_t i = 0; i < GID_RING_ENTRIES; i++) {
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
