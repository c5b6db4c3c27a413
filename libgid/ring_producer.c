// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "atomics.h"
#include "ring.h"

static struct gid_ring_entry *entry_at(struct gid_ring_producer *producer, uint64_t index) {
	return &producer->entries[index % GID_RING_ENTRIES];
}

void gid_ring_producer_init(struct gid_ring_producer *producer, struct gid_wire_ring *ring,
	const struct gid_wire_page *page, uint32_t credit) {
	*producer = (struct gid_ring_producer){.ring = ring, .page = page, .credit = credit};
	ring->magic = GID_RING_MAGIC;
	ring->entries = GID_RING_ENTRIES;
}

/* Entries are freed in any order: `oldest` follows over those that are. */
static void producer_free(struct gid_ring_producer *producer, struct gid_ring_entry *entry) {
	entry->in_flight = false;
	producer->in_flight--;
	while (producer->oldest < producer->tail && !entry_at(producer, producer->oldest)->in_flight) {
		producer->oldest++;
	}
}

static void entry_forgive(struct gid_ring_producer *producer, struct gid_ring_entry *entry) {
	if (entry->expired) {
		entry->expired = false;
		producer->expired--;
	}
}

int gid_ring_send(struct gid_ring_producer *producer, const struct gid_frame *frame) {
	struct gid_ring_entry *entry = entry_at(producer, producer->tail);
	/*
	 * Entries without a picture hold no slot and need no credit. One place stays unused: while it
	 * is filled, the consumer can tell by `tail` that it is no longer what it was.
	 */
	if ((frame->gid != GID_NONE && producer->in_flight >= producer->credit) ||
		producer->tail - producer->oldest >= GID_RING_ENTRIES - 1) {
		return -ENOBUFS;
	}
	struct gid_wire_frame wire;
	int ret = gid_wire_put_frame(&wire, frame);
	if (ret < 0) {
		return ret;
	}
	entry_forgive(producer, entry);
	*entry = (struct gid_ring_entry){
		.gid = frame->gid,
		.index = producer->tail,
		.sent = frame->submit_time,
		.in_flight = true,
	};
	producer->in_flight++;
	wire.index = producer->tail;
	/*
	 * A consumer that slept over its lease may be copying what is overwritten here: it looks at
	 * `tail` afterwards and throws its copy away. The order of the words keeps that race defined.
	 */
	uint64_t words[sizeof(wire) / sizeof(uint64_t)];
	memcpy(words, &wire, sizeof(wire));
	uint64_t *place =
		(uint64_t *)(void *)&producer->ring->frames_ring[producer->tail % GID_RING_ENTRIES];
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		__atomic_store_n(&place[i], words[i], __ATOMIC_RELEASE);
	}
	producer->tail++;
	shared_announce(&producer->ring->tail, producer->tail);
	return 0;
}

bool gid_ring_must_ring_consumer(struct gid_ring_producer *producer) {
	uint64_t asleep = shared_look(&producer->page->asleep);
	if (asleep % 2 == 0 || asleep == producer->rung) {
		return false;
	}
	producer->rung = asleep;
	return true;
}

int gid_ring_collect(
	struct gid_ring_producer *producer, gid_id freed[static GID_RING_RELEASES]) {
	uint64_t tail = shared_load(&producer->page->release_tail);
	if (tail - producer->release_head > GID_RING_RELEASES) {
		return -EPROTO;
	}
	int count = 0;
	for (; producer->release_head != tail; producer->release_head++) {
		uint64_t place = producer->release_head % GID_RING_RELEASES;
		uint64_t index = __atomic_load_n(&producer->page->releases[place], __ATOMIC_RELAXED);
		if (index >= producer->tail) {
			return -EPROTO;
		}
		struct gid_ring_entry *entry = entry_at(producer, index);
		if (entry->index != index) {
			continue;
		}
		entry_forgive(producer, entry);
		if (entry->in_flight) {
			freed[count++] = entry->gid;
			producer_free(producer, entry);
		}
	}
	return count;
}

/* Where the consumer's claims end, or -EPROTO in `*error`. */
static uint64_t producer_read_head(const struct gid_ring_producer *producer, int *error) {
	uint64_t head = shared_look(&producer->page->head);
	*error = head > producer->tail ? -EPROTO : 0;
	return head;
}

int gid_ring_take_back(struct gid_ring_producer *producer, gid_id *freed) {
	int error;
	uint64_t head = producer_read_head(producer, &error);
	if (error < 0) {
		return error;
	}
	uint64_t index = head > producer->floor ? head : producer->floor;
	for (; index < producer->tail; index++) {
		producer->floor = index + 1;
		shared_announce(&producer->ring->floor, producer->floor);
		head = producer_read_head(producer, &error);
		if (error < 0) {
			return error;
		}
		struct gid_ring_entry *entry = entry_at(producer, index);
		if (head <= index && entry->in_flight) {
			*freed = entry->gid;
			producer_free(producer, entry);
			return 1;
		}
	}
	return 0;
}

int gid_ring_take_by_force(
	struct gid_ring_producer *producer, uint64_t before, gid_id *freed, bool *claimed) {
	struct gid_ring_entry *entry = entry_at(producer, producer->oldest);
	if (producer->in_flight == 0 || entry->sent >= before) {
		return 0;
	}
	int error;
	uint64_t head = producer_read_head(producer, &error);
	if (error < 0) {
		return error;
	}
	*claimed = entry->index < head;
	if (!*claimed) {
		int ret = gid_ring_take_back(producer, freed);
		if (ret != 0) {
			return ret;
		}
		*claimed = true; /* it was claimed just now */
	}
	*freed = entry->gid;
	entry->expired = true;
	producer->expired++;
	producer_free(producer, entry);
	return 1;
}

uint64_t gid_ring_oldest_sent(const struct gid_ring_producer *producer) {
	return producer->in_flight == 0
		? UINT64_MAX
		: producer->entries[producer->oldest % GID_RING_ENTRIES].sent;
}

uint32_t gid_ring_room(const struct gid_ring_producer *producer) {
	uint64_t places = GID_RING_ENTRIES - 1 - (producer->tail - producer->oldest);
	uint64_t credit =
		producer->credit > producer->in_flight ? producer->credit - producer->in_flight : 0;
	return (uint32_t)(places < credit ? places : credit);
}

uint32_t gid_ring_unread(const struct gid_ring_producer *producer) {
	uint64_t head = shared_load(&producer->page->head);
	uint64_t read = head > producer->floor ? head : producer->floor;
	uint64_t unread = read < producer->tail ? producer->tail - read : 0;
	return (uint32_t)(unread < producer->in_flight ? unread : producer->in_flight);
}

bool gid_ring_has_expired(const struct gid_ring_producer *producer, gid_id gid) {
	for (size_t i = 0; producer->expired > 0 && i < GID_RING_ENTRIES; i++) {
		if (producer->entries[i].expired && producer->entries[i].gid == gid) {
			return true;
		}
	}
	return false;
}

void gid_ring_producer_sleep(struct gid_ring_producer *producer) {
	if (producer->asleep % 2 == 0) {
		producer->asleep++;
		shared_announce(&producer->ring->asleep, producer->asleep);
	}
}

void gid_ring_producer_wake(struct gid_ring_producer *producer) {
	if (producer->asleep % 2 == 1) {
		producer->asleep++;
		shared_store(&producer->ring->asleep, producer->asleep);
	}
}
