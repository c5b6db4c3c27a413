// SPDX-License-Identifier: MIT
/* The frames of a producer: one ring for each consumer, one count of holders for each slot. */
#include "producer.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "atomics.h"
#include "doorbell.h"

static uint64_t time_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool producer_has_expired(const struct gid_producer *producer, gid_id gid) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (gid_ring_has_expired(&sub->ring, gid)) {
			return true;
		}
	}
	return false;
}

void gid_fanout_let_go(struct gid_producer *producer, gid_id gid) {
	struct gid_slab *slab = gid_slab_find(producer->domain, gid);
	if (slab == NULL || gid_slab_let_go(slab, gid_slot_of(gid)) > 0) {
		return;
	}
	producer->stats.held--;
	if (producer_has_expired(producer, gid)) {
		gid_slab_advance(slab, gid_slot_of(gid));
	}
	if (producer->options.released != NULL) {
		producer->options.released(producer->options.data, gid);
	}
}

void gid_fanout_end(
	struct gid_producer *producer, struct gid_subscription *subscription, int reason) {
	if (subscription->dead) {
		return;
	}
	subscription->dead = true;
	producer->has_dead = true;
	producer->consumers--;
	gid_loop_unwatch(&producer->loop, subscription->doorbell);
	if (subscription->number != 0) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
		message.subscription_end.subscription = subscription->number;
		message.subscription_end.reason = reason;
		gid_domain_post(producer->domain, &message, NULL, 0);
	}
	producer->busy++;
	struct gid_ring_producer *ring = &subscription->ring;
	for (size_t i = 0; i < GID_RING_ENTRIES; i++) {
		if (ring->entries[i].in_flight) {
			ring->entries[i].in_flight = false;
			gid_fanout_let_go(producer, ring->entries[i].gid);
		}
	}
	ring->in_flight = 0;
	if (producer->options.subscriber != NULL) {
		producer->options.subscriber(
			producer->options.data, subscription->domain, false, producer->consumers);
	}
	producer->busy--;
}

void gid_fanout_reap(struct gid_producer *producer) {
	if (producer->busy > 0 || !producer->has_dead) {
		return;
	}
	struct gid_subscription **link = &producer->subscriptions;
	while (*link != NULL) {
		struct gid_subscription *subscription = *link;
		if (subscription->dead) {
			*link = subscription->next;
			gid_subscription_destroy(subscription);
		} else {
			link = &subscription->next;
		}
	}
	producer->has_dead = false;
}

static void subscription_collect(
	struct gid_producer *producer, struct gid_subscription *subscription) {
	gid_id freed[GID_RING_RELEASES];
	int count = gid_ring_collect(&subscription->ring, freed);
	for (int i = 0; i < count; i++) {
		gid_fanout_let_go(producer, freed[i]);
	}
	if (count < 0) {
		gid_fanout_end(producer, subscription, count);
	}
}

void gid_fanout_collect(struct gid_producer *producer) {
	producer->busy++;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead) {
			subscription_collect(producer, sub);
		}
	}
	producer->busy--;
	gid_fanout_reap(producer);
}

/* 1 where a frame that was not read yet was taken back; ends a subscription that lies. */
static int subscription_take_back(
	struct gid_producer *producer, struct gid_subscription *subscription) {
	gid_id freed;
	int ret = gid_ring_take_back(&subscription->ring, &freed);
	if (ret < 0) {
		gid_fanout_end(producer, subscription, ret);
		return 0;
	}
	if (ret == 1) {
		producer->stats.dropped++;
		gid_fanout_let_go(producer, freed);
	}
	return ret;
}

static void subscription_publish_counts(
	const struct gid_producer *producer, struct gid_subscription *subscription) {
	struct gid_wire_ring *ring = subscription->ring.ring;
	shared_store(&ring->frames, producer->stats.frames);
	shared_store(&ring->dropped, producer->stats.dropped);
	shared_store(&ring->copied_frames, producer->stats.copied_frames);
	shared_store(&ring->copied_bytes, producer->stats.copied_bytes);
	shared_store(&ring->leases_expired, producer->stats.leases_expired);
	shared_store(&ring->held, subscription->ring.in_flight);
}

/* Whether the consumer got the frame. */
static bool subscription_send(struct gid_producer *producer,
	struct gid_subscription *subscription, const struct gid_frame *frame, struct gid_slab *slab) {
	int ret = gid_ring_send(&subscription->ring, frame);
	if (ret == -ENOBUFS && (subscription->drop_old || slab == NULL) &&
		subscription_take_back(producer, subscription) == 1 && !subscription->dead) {
		ret = gid_ring_send(&subscription->ring, frame);
	}
	if (ret < 0) {
		producer->stats.dropped++;
		return false;
	}
	if (slab != NULL) {
		gid_slab_hold(slab, gid_slot_of(frame->gid));
	}
	producer->stats.delivered++;
	subscription_publish_counts(producer, subscription);
	if (gid_ring_must_ring_consumer(&subscription->ring)) {
		producer->stats.doorbells++;
		if (gid_doorbell_ring(subscription->doorbell) < 0) {
			gid_fanout_end(producer, subscription, -EPIPE);
			return false;
		}
	}
	return true;
}

static bool producer_knows_slab(struct gid_producer *producer, uint32_t key) {
	if (producer->slab_last < producer->slab_count &&
		producer->slabs[producer->slab_last] == key) {
		return true;
	}
	for (uint32_t i = 0; i < producer->slab_count; i++) {
		if (producer->slabs[i] == key) {
			producer->slab_last = i;
			return true;
		}
	}
	return false;
}

/* Forgets slabs that are gone, so that a stream of ever new slabs does not grow. */
static void producer_forget_slabs(struct gid_producer *producer) {
	uint32_t kept = 0;
	for (uint32_t i = 0; i < producer->slab_count; i++) {
		if (gid_slab_find(producer->domain, (gid_id)producer->slabs[i] << 32) != NULL) {
			producer->slabs[kept++] = producer->slabs[i];
		}
	}
	producer->slab_count = kept;
}

static int producer_add_slab(struct gid_producer *producer, struct gid_slab *slab, gid_id gid) {
	producer_forget_slabs(producer);
	uint32_t *slabs =
		realloc(producer->slabs, (producer->slab_count + 1) * sizeof(producer->slabs[0]));
	if (slabs == NULL) {
		return -ENOMEM;
	}
	producer->slabs = slabs;
	producer->slabs[producer->slab_count++] = gid_slab_key(gid);
	uint32_t own = gid_domain_number(producer->domain);
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && sub->domain != own && !gid_slab_is_granted(slab, sub->domain)) {
			/* Without gidd the consumers cannot import it yet; they ask again. */
			gid_slab_grant(slab, sub->domain);
		}
	}
	return 0;
}

static void producer_arm_lease(struct gid_producer *producer, uint64_t sent) {
	if (producer->lease.next == NULL) {
		gid_loop_arm(&producer->loop, &producer->lease, sent + producer->options.lease_ns);
	}
}

/* The slot's slab, NULL where there is no picture; -EINVAL for a gid that is not ours or old. */
static int producer_find_slab(
	struct gid_producer *producer, gid_id gid, struct gid_slab **slab) {
	*slab = NULL;
	if (gid == GID_NONE) {
		return 0;
	}
	*slab = gid_slab_find(producer->domain, gid);
	if (*slab == NULL || gid_slab_gid(*slab, gid_slot_of(gid)) != gid) {
		return -EINVAL;
	}
	if (producer_knows_slab(producer, gid_slab_key(gid))) {
		return 0;
	}
	return producer_add_slab(producer, *slab, gid);
}

int gid_producer_send(struct gid_producer *producer, const struct gid_frame *frame) {
	struct gid_slab *slab;
	int ret = producer_find_slab(producer, frame->gid, &slab);
	if (ret < 0) {
		return ret;
	}
	gid_fanout_collect(producer);
	uint32_t slot = gid_slot_of(frame->gid);
	bool was_held = slab != NULL && gid_slab_holders(slab, slot) > 0;
	struct gid_frame sent = *frame;
	sent.sequence = ++producer->sequence;
	sent.submit_time = time_now();
	producer->stats.frames++;
	int count = 0;
	/* We hold the slot ourselves meanwhile: it is not free before all consumers were served. */
	if (slab != NULL) {
		gid_slab_hold(slab, slot);
	}
	producer->busy++;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && subscription_send(producer, sub, &sent, slab)) {
			count++;
		}
	}
	producer->busy--;
	gid_fanout_reap(producer);
	if (slab != NULL && (count > 0 || was_held)) {
		producer->stats.held += !was_held;
		gid_fanout_let_go(producer, frame->gid);
	} else if (slab != NULL) {
		gid_slab_let_go(slab, slot);
	}
	if (count > 0) {
		producer_arm_lease(producer, sent.submit_time);
	}
	return count;
}

/* Takes back what one consumer held since before `before`. */
static void subscription_expire(
	struct gid_producer *producer, struct gid_subscription *subscription, uint64_t before) {
	gid_id freed;
	bool claimed;
	int ret;
	while ((ret = gid_ring_take_by_force(&subscription->ring, before, &freed, &claimed)) == 1) {
		if (claimed) {
			producer->stats.leases_expired++;
		} else {
			producer->stats.dropped++;
		}
		gid_fanout_let_go(producer, freed);
	}
	if (ret < 0) {
		gid_fanout_end(producer, subscription, ret);
	}
}

void gid_fanout_lease_expired(void *data) {
	struct gid_producer *producer = data;
	gid_fanout_collect(producer);
	uint64_t now = time_now(), next = UINT64_MAX;
	producer->busy++;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (sub->dead) {
			continue;
		}
		subscription_expire(producer, sub, now - producer->options.lease_ns);
		uint64_t oldest = sub->dead ? UINT64_MAX : gid_ring_oldest_sent(&sub->ring);
		next = oldest < next ? oldest : next;
	}
	producer->busy--;
	gid_fanout_reap(producer);
	if (next != UINT64_MAX) {
		producer_arm_lease(producer, next);
	}
}

/* The consumer whose oldest frame in flight has been out for longest; NULL where none is. */
static struct gid_subscription *producer_find_slowest(struct gid_producer *producer) {
	struct gid_subscription *slowest = NULL;
	uint64_t longest = UINT64_MAX;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		uint64_t oldest = sub->dead ? UINT64_MAX : gid_ring_oldest_sent(&sub->ring);
		if (oldest < longest) {
			slowest = sub;
			longest = oldest;
		}
	}
	return slowest;
}

static bool producer_take_back_unread(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && subscription_take_back(producer, sub) == 1) {
			return true;
		}
	}
	return false;
}

static bool producer_take_by_force(struct gid_producer *producer) {
	struct gid_subscription *subscription = producer_find_slowest(producer);
	if (subscription == NULL) {
		return false;
	}
	gid_id freed;
	bool claimed;
	int ret = gid_ring_take_by_force(&subscription->ring, UINT64_MAX, &freed, &claimed);
	if (ret == 1) {
		producer->stats.leases_expired++;
		gid_fanout_let_go(producer, freed);
	} else {
		gid_fanout_end(producer, subscription, -EPROTO);
	}
	return true;
}

int gid_producer_reclaim(struct gid_producer *producer, bool force) {
	uint32_t held = producer->stats.held;
	gid_fanout_collect(producer);
	/* Each round frees at least one entry, so there are no more rounds than entries. */
	producer->busy++;
	while (producer->stats.held > 0 && producer->stats.held >= held &&
		(producer_take_back_unread(producer) || (force && producer_take_by_force(producer)))) {
	}
	producer->busy--;
	gid_fanout_reap(producer);
	return producer->stats.held < held;
}

uint32_t gid_producer_room(const struct gid_producer *producer) {
	uint32_t least = UINT32_MAX;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		uint32_t room = sub->dead ? UINT32_MAX : gid_ring_room(&sub->ring);
		least = room < least ? room : least;
	}
	return least;
}

uint32_t gid_producer_unread(const struct gid_producer *producer) {
	uint32_t most = 0;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		uint32_t unread = sub->dead ? 0 : gid_ring_unread(&sub->ring);
		most = unread > most ? unread : most;
	}
	return most;
}
