// SPDX-License-Identifier: MIT
/**
 * The two ends of one subscription's ring: pure shared-memory algorithms, no system call, no
 * allocation, no wait. wire.h has the memory; each word of it has exactly one writer.
 *
 * Frames: the producer writes an entry, then `tail`. The consumer claims the next one by writing
 * `head`, then copies it. To take back what was not claimed, the producer writes `floor` and then
 * reads `head`, while the consumer writes `head` and then reads `floor`, each with a full fence
 * between (Dekker): at least one of them sees the other, so an entry is never both taken back and
 * used. Where only the consumer saw it, it puts in a release that the producer knows nothing of,
 * and that is ignored.
 *
 * Everything read from the other side is copied once and checked. -EPROTO means that the other
 * side broke the rules: the caller ends this subscription and nothing else.
 */
#ifndef GID_RING_H
#define GID_RING_H

#include "wire.h"

/* An entry that the consumer has or may take. */
struct gid_ring_entry {
	gid_id gid;
	uint64_t index;
	uint64_t sent; /* ns */
	bool in_flight;
	bool expired; /* taken back by force, and the consumer may still look at it */
};

struct gid_ring_producer {
	struct gid_wire_ring *ring;       /* ours; borrowed */
	const struct gid_wire_page *page; /* the consumer's; borrowed */
	uint64_t tail, floor, asleep, rung, release_head;
	uint64_t oldest; /* no entry below it is in flight */
	uint32_t credit, in_flight, expired;
	struct gid_ring_entry entries[GID_RING_ENTRIES];
};

/* Prepares zeroed `ring` memory. `credit` is 1..GID_CREDIT_MAX. */
void gid_ring_producer_init(struct gid_ring_producer *producer, struct gid_wire_ring *ring,
	const struct gid_wire_page *page, uint32_t credit);

/* Puts a frame in. Returns 0, -ENOBUFS: no credit, or -EINVAL: the frame cannot be sent. */
int gid_ring_send(struct gid_ring_producer *producer, const struct gid_frame *frame);

/* Whether the consumer sleeps and was not rung for yet; it counts as rung then. */
bool gid_ring_must_ring_consumer(struct gid_ring_producer *producer);

/*
 * Collects what the consumer gave back: at most GID_RING_RELEASES gids go to `freed`.
 * Returns their number or -EPROTO.
 */
int gid_ring_collect(
	struct gid_ring_producer *producer, gid_id freed[static GID_RING_RELEASES]);

/* Takes back the oldest entry that the consumer did not claim. 1: `*freed` is it; 0: none; -EPROTO. */
int gid_ring_take_back(struct gid_ring_producer *producer, gid_id *freed);

/* Takes back the oldest entry in flight that was sent before `before`, claimed or not. */
int gid_ring_take_by_force(
	struct gid_ring_producer *producer, uint64_t before, gid_id *freed, bool *claimed);

/* When the oldest entry in flight was sent, UINT64_MAX for none. */
uint64_t gid_ring_oldest_sent(const struct gid_ring_producer *producer);

/* How many frames can be put in now, and how many the consumer did not claim yet. */
uint32_t gid_ring_room(const struct gid_ring_producer *producer);
uint32_t gid_ring_unread(const struct gid_ring_producer *producer);

/* Whether the consumer was made to give `gid` up and did not say since that it stopped reading. */
bool gid_ring_has_expired(const struct gid_ring_producer *producer, gid_id gid);

/* The producer wants a doorbell for the next release, or no longer. */
void gid_ring_producer_sleep(struct gid_ring_producer *producer);
void gid_ring_producer_wake(struct gid_ring_producer *producer);

struct gid_ring_consumer {
	const struct gid_wire_ring *ring; /* the producer's; borrowed */
	struct gid_wire_page *page;       /* ours; borrowed */
	uint64_t head, asleep, rung, release_tail;
	uint32_t held;
	/* index + 1 of the entry that is held, by its place; 0: none */
	uint64_t holds[GID_RING_ENTRIES];
};

void gid_ring_consumer_init(struct gid_ring_consumer *consumer, const struct gid_wire_ring *ring,
	struct gid_wire_page *page);

/* Takes the next entry. 1: `*copy` is it, unchecked but for its place; 0: empty; -EPROTO. */
int gid_ring_receive(struct gid_ring_consumer *consumer, struct gid_wire_frame *copy);

/* Gives an entry back. 0, or -EINVAL: it is not held. */
int gid_ring_release(struct gid_ring_consumer *consumer, uint64_t index);

/* Whether the producer sleeps for a release and was not rung for yet; it counts as rung then. */
bool gid_ring_must_ring_producer(struct gid_ring_consumer *consumer);

/*
 * The consumer wants a doorbell for the next frame. Returns false where one came meanwhile: then
 * it is awake still. Waking is idempotent.
 */
bool gid_ring_consumer_sleep(struct gid_ring_consumer *consumer);
void gid_ring_consumer_wake(struct gid_ring_consumer *consumer);

/* Whether there is something to receive, or something wrong to be found out by receiving. */
bool gid_ring_has_more(const struct gid_ring_consumer *consumer);

#endif
