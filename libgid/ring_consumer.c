// SPDX-License-Identifier: MIT
#include <errno.h>

#include "ring.h"
#include "ring_memory.h"

/* An honest producer can make an end look further than this only by taking back without a pause. */
#define TRIES_MAX (2 * GID_RING_ENTRIES)

void gid_ring_consumer_init(struct gid_ring_consumer *end, const struct gid_wire_ring *ring,
	struct gid_wire_page *page) {
	*end = (struct gid_ring_consumer){.ring = ring, .page = page};
	page->magic = GID_RING_MAGIC;
}

/* --- receiving -------------------------------------------------------------------------------- */

static void put_release(struct gid_ring_consumer *end, uint64_t index) {
	uint64_t *place = &end->page->releases[end->release_tail % GID_RING_RELEASES];
	__atomic_store_n(place, index, __ATOMIC_RELAXED);
	end->release_tail++;
	ring_store(&end->page->release_tail, end->release_tail);
}

/* The entry that comes next, in `*index`: 1, 0 or -EPROTO. */
static int find_next(struct gid_ring_consumer *end, uint64_t *index) {
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
	uint64_t *place = &end->held_until[index % GID_RING_ENTRIES];
	if (*place > floor) {
		return -EPROTO;
	}
	end->held += *place == 0;
	*place = index + 1;
	return 1;
}

int gid_ring_receive(struct gid_ring_consumer *end, struct gid_wire_frame *copy) {
	for (uint32_t i = 0; i < TRIES_MAX; i++) {
		uint64_t index;
		int found = find_next(end, &index);
		if (found <= 0) {
			return found;
		}
		bool jumped = index > end->head;
		end->head = index + 1;
		ring_store(&end->page->head, end->head);
		if (jumped) {
			/* The producer may have looked just now and taken this for a claim of it. */
			put_release(end, index - 1);
		}
		ring_get_entry(copy, &end->ring->frames_ring[index % GID_RING_ENTRIES]);
		uint64_t floor = ring_load(&end->ring->floor);
		if (floor > index) {
			put_release(end, index);
			continue;
		}
		if (copy->index == index) {
			return hold(end, index, floor);
		}
		/* Left out: the place has the entry that held it, or one that came to it since. */
		if ((copy->index - index) % GID_RING_ENTRIES != 0) {
			return -EPROTO;
		}
	}
	return 0;
}

int gid_ring_release(struct gid_ring_consumer *end, uint64_t index) {
	uint64_t *place = &end->held_until[index % GID_RING_ENTRIES];
	if (index == UINT64_MAX || *place != index + 1) {
		return -EINVAL;
	}
	*place = 0;
	end->held--;
	put_release(end, index);
	return 0;
}

bool gid_ring_should_wake_producer(struct gid_ring_consumer *end) {
	return ring_should_wake(&end->ring->asleep, &end->rung);
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
