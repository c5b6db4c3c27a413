// SPDX-License-Identifier: MIT
/** What a producer takes back: frames that were out for too long, and slots that it needs now. */
#include <errno.h>

#include "producer.h"
#include "socket.h"

/* --- leases ----------------------------------------------------------------------------------- */

/* Takes back the oldest entry, read or not. */
static void take_entry(struct gid_subscription *subscription, const struct gid_ring_sent *entry) {
	struct gid_producer *producer = subscription->producer;
	struct gid_ring_sent taken = {0};
	int got = gid_ring_take_back(&subscription->ring, entry->index + 1, &taken);
	if (got < 0) {
		gid_fanout_end(subscription, GID_END_BROKEN, got);
		return;
	}
	bool by_force =
		got == 0 && gid_ring_take_by_force(&subscription->ring, entry->index, &taken);
	if (by_force) {
		subscription->leases_expired++;
		producer->stats.leases_expired++;
	} else if (taken.gid != GID_NONE) {
		subscription->dropped++;
		producer->stats.dropped++;
	}
	gid_fanout_let_go(producer, taken.gid, by_force);
}

static void expire(struct gid_subscription *subscription, uint64_t now) {
	struct gid_ring_sent oldest;
	while (!subscription->dead && gid_ring_oldest(&subscription->ring, &oldest) &&
		now - oldest.time >= subscription->producer->options.lease_ns) {
		take_entry(subscription, &oldest);
	}
}

static void arm(struct gid_producer *producer, uint64_t since) {
	uint64_t deadline;
	if (__builtin_add_overflow(since, producer->options.lease_ns, &deadline)) {
		deadline = INT64_MAX;
	}
	gid_loop_arm(&producer->loop, &producer->lease, deadline);
}

void gid_lease_run(struct gid_producer *producer, uint64_t now) {
	gid_producer_enter(producer);
	gid_fanout_collect_all(producer);
	uint64_t first = UINT64_MAX;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		struct gid_ring_sent oldest;
		expire(sub, now);
		if (!sub->dead && gid_ring_oldest(&sub->ring, &oldest) && oldest.time < first) {
			first = oldest.time;
		}
	}
	if (first != UINT64_MAX) {
		arm(producer, first);
	} else {
		gid_loop_disarm(&producer->loop, &producer->lease);
	}
	gid_producer_leave(producer);
}

void gid_lease_start(struct gid_producer *producer, uint64_t now) {
	if (producer->lease.next == NULL) {
		arm(producer, now);
	}
}

/* --- slots that are needed now ---------------------------------------------------------------- */

/* The oldest picture in flight that was sent after `after`; false where there is none. */
static bool find_oldest(
	struct gid_producer *producer, uint64_t after, struct gid_ring_sent *oldest) {
	oldest->in_flight = false;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		for (uint32_t i = 0; !sub->dead && i < GID_RING_ENTRIES; i++) {
			const struct gid_ring_sent *sent = &sub->ring.sent[i];
			if (sent->in_flight && sent->gid != GID_NONE && sent->time > after &&
				(!oldest->in_flight || sent->time < oldest->time)) {
				*oldest = *sent;
			}
		}
	}
	return oldest->in_flight;
}

/* Whether all who hold the slot are consumers of this stream that can be made to let go of it. */
static bool can_be_freed(struct gid_producer *producer, gid_id gid, bool force) {
	struct gid_slab *slab = gid_slab_find_held(producer->domain, gid);
	if (slab == NULL) {
		return false;
	}
	uint32_t holders = gid_slab_holders(slab, gid_slot_of(gid));
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		for (uint32_t i = 0; !sub->dead && i < GID_RING_ENTRIES; i++) {
			const struct gid_ring_sent *sent = &sub->ring.sent[i];
			if (sent->in_flight && sent->gid == gid) {
				if (!force && sent->index < sub->ring.head) {
					return false;
				}
				holders--;
			}
		}
	}
	return holders == 0;
}

/* Takes back the entries of one consumer that lie in the slot, and older ones that it left unread. */
static void free_slot(struct gid_subscription *subscription, gid_id gid, bool force) {
	struct gid_ring_producer *ring = &subscription->ring;
	struct gid_producer *producer = subscription->producer;
	for (uint32_t i = 0; !subscription->dead && i < GID_RING_ENTRIES; i++) {
		struct gid_ring_sent wanted = ring->sent[i], taken;
		if (!wanted.in_flight || wanted.gid != gid) {
			continue;
		}
		int got;
		while ((got = gid_ring_take_back(ring, wanted.index + 1, &taken)) == 1) {
			subscription->dropped += taken.gid != GID_NONE;
			producer->stats.dropped += taken.gid != GID_NONE;
			gid_fanout_let_go(producer, taken.gid, false);
		}
		if (got < 0) {
			gid_fanout_end(subscription, GID_END_BROKEN, got);
		} else if (force && gid_ring_take_by_force(ring, wanted.index, &taken)) {
			subscription->leases_expired++;
			producer->stats.leases_expired++;
			gid_fanout_let_go(producer, taken.gid, true);
		}
	}
}

static void look_at_claims(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && gid_ring_look(&sub->ring) < 0) {
			gid_fanout_end(sub, GID_END_BROKEN, -EPROTO);
		}
	}
}

int gid_producer_reclaim(struct gid_producer *producer, bool force) {
	gid_producer_enter(producer);
	uint64_t freed = producer->freed;
	gid_fanout_collect_all(producer);
	look_at_claims(producer);
	struct gid_ring_sent oldest = {0};
	while (producer->freed == freed && find_oldest(producer, oldest.time, &oldest)) {
		if (!can_be_freed(producer, oldest.gid, force)) {
			continue;
		}
		for (struct gid_subscription *sub = producer->subscriptions; sub != NULL;
			sub = sub->next) {
			free_slot(sub, oldest.gid, force);
		}
	}
	bool any = producer->freed != freed;
	gid_producer_leave(producer);
	return any;
}
