// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "atomics.h"
#include "ring.h"

/* How often the producer may overtake us between two loads before we call it nonsense. */
#define OVERTAKEN_MAX 1000

void gid_ring_consumer_init(struct gid_ring_consumer *consumer, const struct gid_wire_ring *ring,
	struct gid_wire_page *page) {
	*consumer = (struct gid_ring_consumer){.ring = ring, .page = page};
	page->magic = GID_RING_MAGIC;
}

static void consumer_put_release(struct gid_ring_consumer *consumer, uint64_t index) {
	uint64_t place = consumer->release_tail % GID_RING_RELEASES;
	__atomic_store_n(&consumer->page->releases[place], index, __ATOMIC_RELAXED);
	consumer->release_tail++;
	shared_announce(&consumer->page->release_tail, consumer->release_tail);
}

/*
 * The next entry to claim in `*next`. 1, 0 for none, -EPROTO.
 * `floor` is read first: it never passes `tail`, so a `tail` below it is a lie.
 */
static int consumer_find_next(const struct gid_ring_consumer *consumer, uint64_t *next) {
	for (int i = 0; i < OVERTAKEN_MAX; i++) {
		uint64_t floor = shared_load(&consumer->ring->floor);
		uint64_t tail = shared_look(&consumer->ring->tail);
		uint64_t first = floor > consumer->head ? floor : consumer->head;
		if (tail < first) {
			return -EPROTO;
		}
		if (tail - first <= GID_RING_ENTRIES) {
			*next = first;
			return tail != first;
		}
	}
	return -EPROTO;
}

/* Returns false where the entry was taken back by force and its place filled again meanwhile. */
static bool consumer_copy(
	const struct gid_ring_consumer *consumer, uint64_t index, struct gid_wire_frame *copy) {
	uint64_t words[sizeof(*copy) / sizeof(uint64_t)];
	const uint64_t *place =
		(const uint64_t *)(const void *)&consumer->ring->frames_ring[index % GID_RING_ENTRIES];
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		words[i] = __atomic_load_n(&place[i], __ATOMIC_ACQUIRE);
	}
	memcpy(copy, words, sizeof(*copy));
	return shared_look(&consumer->ring->tail) - index < GID_RING_ENTRIES;
}

/* What was held in the same place is ours no more: its lease ran out. */
static void consumer_hold(struct gid_ring_consumer *consumer, uint64_t index) {
	uint64_t *hold = &consumer->holds[index % GID_RING_ENTRIES];
	if (*hold == 0) {
		consumer->held++;
	}
	*hold = index + 1;
}

int gid_ring_receive(struct gid_ring_consumer *consumer, struct gid_wire_frame *copy) {
	for (int i = 0; i < OVERTAKEN_MAX; i++) {
		uint64_t index;
		int ret = consumer_find_next(consumer, &index);
		if (ret <= 0) {
			return ret;
		}
		/* Of what was taken back, the producer may have taken the last for claimed by this. */
		if (index > consumer->head) {
			consumer_put_release(consumer, index - 1);
		}
		consumer->head = index + 1;
		shared_announce(&consumer->page->head, consumer->head);
		if (shared_look(&consumer->ring->floor) > index ||
			!consumer_copy(consumer, index, copy)) {
			consumer_put_release(consumer, index);
			continue;
		}
		if (copy->index != index) {
			return -EPROTO;
		}
		consumer_hold(consumer, index);
		return 1;
	}
	return -EPROTO;
}

int gid_ring_release(struct gid_ring_consumer *consumer, uint64_t index) {
	uint64_t place = index % GID_RING_ENTRIES;
	if (consumer->holds[place] != index + 1) {
		return -EINVAL;
	}
	consumer->holds[place] = 0;
	consumer->held--;
	consumer_put_release(consumer, index);
	return 0;
}

bool gid_ring_must_ring_producer(struct gid_ring_consumer *consumer) {
	uint64_t asleep = shared_look(&consumer->ring->asleep);
	if (asleep % 2 == 0 || asleep == consumer->rung) {
		return false;
	}
	consumer->rung = asleep;
	return true;
}

bool gid_ring_has_more(const struct gid_ring_consumer *consumer) {
	uint64_t next;
	return consumer_find_next(consumer, &next) != 0;
}

bool gid_ring_consumer_sleep(struct gid_ring_consumer *consumer) {
	if (consumer->asleep % 2 == 0) {
		consumer->asleep++;
		shared_announce(&consumer->page->asleep, consumer->asleep);
	}
	if (gid_ring_has_more(consumer)) {
		gid_ring_consumer_wake(consumer);
		return false;
	}
	return true;
}

void gid_ring_consumer_wake(struct gid_ring_consumer *consumer) {
	if (consumer->asleep % 2 == 1) {
		consumer->asleep++;
		shared_store(&consumer->page->asleep, consumer->asleep);
	}
}
