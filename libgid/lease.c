// SPDX-License-Identifier: MIT
/**
 * What a producer reclaims from its consumers: frames whose lease is over, and frames in slots that
 * are needed now.
 */
#include <errno.h>

#include "producer.h"

/* --- leases ----------------------------------------------------------------------------------- */

/* Reclaims an entry whose lease is over; older entries that are unclaimed go first. */
static void take_entry(struct gid_subscription *subscription, const struct gid_ring_sent *entry) {
	struct gid_producer *producer = subscription->producer;
	struct gid_ring_sent taken = {0};
	int got = gid_ring_take_back(&subscription->ring, entry->index + 1, &taken);
	if (got < 0) {
		gid_subscription_end(subscription, GID_END_BROKEN, got);
		return;
	}
	bool by_force = got == 0 &&
			gid_ring_take_by_force(&subscription->ring, entry->index, &taken);
	if (by_force) {
		gid_subscription_count_expired(subscription);
		producer->stats.leases_expired++;
	} else if (taken.gid != GID_NONE) {
		gid_subscription_count_dropped(subscription);
	}
	if (taken.gid != GID_NONE && producer->options.patient) {
		gid_subscription_give_up(subscription);
	}
	gid_subscription_let_go(subscription, taken.gid, by_force);
}

/*
 * When the lease of an entry began; UINT64_MAX: it has none. What the stream shows now has none: a
 * display keeps it until something else is to be shown, and a late reader, such as a machine that
 * was paused, still finds it. gid_producer_reclaim() takes it if its slot is needed.
 *
 * A consumer renews the lease of what it has claimed by saying that it uses it. With a patient
 * producer each claim renews the lease of what is still unclaimed. Neither counts (`renewable` is
 * false) once the producer stands still for want of memory.
 */
static uint64_t lease_begin(const struct gid_subscription *subscription,
		const struct gid_ring_sent *sent, bool renewable) {
	if (subscription->dead || !gid_ring_is_out(sent) || sent->index >= subscription->newest) {
		return UINT64_MAX;
	}
	bool claimed = sent->index < subscription->ring.head;
	uint64_t renewed = claimed ? subscription->renewed : subscription->moved;
	return renewable && renewed > sent->outdated ? renewed : sent->outdated;
}

/* The entry whose lease began first. */
static uint64_t find_leased(const struct gid_subscription *subscription, bool renewable,
		struct gid_ring_sent *oldest) {
	uint64_t first = UINT64_MAX;
	for (uint32_t i = 0; i < subscription->ring.entries; i++) {
		const struct gid_ring_sent *sent = &subscription->ring.sent[i];
		uint64_t begin = lease_begin(subscription, sent, renewable);
		if (begin < first) {
			first = begin;
			*oldest = *sent;
		}
	}
	return first;
}

static bool lacks_memory(const struct gid_producer *producer, uint64_t now) {
	return producer->lacking_since != 0 && now - producer->lacking_at < GID_LACKING_NS;
}

/* Whether the producer could send no other picture for a lease, as it lacks memory. */
static bool is_stuck(const struct gid_producer *producer, uint64_t now) {
	return lacks_memory(producer, now) &&
			now - producer->lacking_since >= producer->options.lease_ns;
}

/*
 * Reclaims what is over. Returns when the oldest lease that is left began. As slots come back their
 * owner may send, so some leases may be younger than `now`.
 */
static uint64_t expire(struct gid_subscription *subscription, uint64_t now) {
	const struct gid_producer *producer = subscription->producer;
	uint64_t lease = producer->options.lease_ns;
	bool renewable = !is_stuck(producer, now);
	if (gid_ring_was_renewed(&subscription->ring)) {
		subscription->renewed = now;
	}
	if (!subscription->dead && gid_ring_poll_claims(&subscription->ring) < 0) {
		gid_subscription_end(subscription, GID_END_BROKEN, -EPROTO);
	}
	if (producer->options.patient && subscription->ring.head != subscription->claimed) {
		subscription->claimed = subscription->ring.head;
		subscription->moved = now;
	}
	struct gid_ring_sent oldest;
	uint64_t begin;
	while ((begin = find_leased(subscription, renewable, &oldest)) <= now &&
			now - begin >= lease) {
		take_entry(subscription, &oldest);
	}
	if (subscription->recounted) {
		gid_subscription_tell_counts(subscription, producer);
	}
	return begin;
}

void gid_producer_arm_lease(struct gid_producer *producer, uint64_t since) {
	uint64_t deadline;
	if (__builtin_add_overflow(since, producer->options.lease_ns, &deadline)) {
		deadline = INT64_MAX;
	}
	gid_loop_arm(&producer->loop, &producer->lease, deadline);
}

void gid_producer_run_leases(struct gid_producer *producer, uint64_t now) {
	gid_producer_enter(producer);
	gid_producer_collect_all(producer);
	uint64_t first = UINT64_MAX;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		uint64_t begin = expire(sub, now);
		first = begin < first ? begin : first;
	}
	if (lacks_memory(producer, now) && !is_stuck(producer, now) &&
			producer->lacking_since < first) {
		first = producer->lacking_since; /* then it is stuck, and renewals do not count */
	}
	if (first != UINT64_MAX) {
		gid_producer_arm_lease(producer, first);
	} else {
		gid_loop_disarm(&producer->loop, &producer->lease);
	}
	gid_producer_leave(producer);
}

/* --- slots that are needed now ---------------------------------------------------------------- */

/*
 * The frames of a burst have one time. Then the index decides, and between rings that have the same
 * index the gid.
 */
static bool is_older(const struct gid_ring_sent *sent, const struct gid_ring_sent *than) {
	if (sent->time != than->time) {
		return sent->time < than->time;
	}
	return sent->index != than->index ? sent->index < than->index : sent->gid < than->gid;
}

/* The oldest picture in flight that was sent after that one; false where there is none. */
static bool find_oldest(const struct gid_producer *producer, struct gid_ring_sent after,
		struct gid_ring_sent *oldest) {
	oldest->index = GID_RING_NO_INDEX;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		for (uint32_t i = 0; !sub->dead && i < sub->ring.entries; i++) {
			const struct gid_ring_sent *sent = &sub->ring.sent[i];
			if (gid_ring_is_out(sent) && sent->gid != GID_NONE &&
					is_older(&after, sent) &&
					(!gid_ring_is_out(oldest) || is_older(sent, oldest))) {
				*oldest = *sent;
			}
		}
	}
	return gid_ring_is_out(oldest);
}

/* Whether all who hold the slot are consumers of this stream that can be made to let go of it. */
static bool can_be_freed(struct gid_producer *producer, gid_id gid, bool force) {
	struct gid_slab *slab = gid_slab_find_held(producer->domain, gid, &producer->slab_memo);
	if (slab == NULL) {
		return false;
	}
	uint32_t holders = gid_slab_holders(slab, gid_slot_of(gid));
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		for (uint32_t i = 0; !sub->dead && i < sub->ring.entries; i++) {
			const struct gid_ring_sent *sent = &sub->ring.sent[i];
			if (gid_ring_is_out(sent) && sent->gid == gid) {
				if (!force && sent->index < sub->ring.head) {
					return false;
				}
				holders--;
			}
		}
	}
	return holders == 0;
}

/* Reclaims one consumer's entries that lie in the slot, and older ones that it has not claimed. */
static void free_slot(struct gid_subscription *subscription, gid_id gid, bool force) {
	struct gid_ring_producer *ring = &subscription->ring;
	struct gid_producer *producer = subscription->producer;
	for (uint32_t i = 0; !subscription->dead && i < ring->entries; i++) {
		struct gid_ring_sent wanted = ring->sent[i], taken;
		if (!gid_ring_is_out(&wanted) || wanted.gid != gid) {
			continue;
		}
		int got;
		while ((got = gid_ring_take_back(ring, wanted.index + 1, &taken)) == 1) {
			if (taken.gid != GID_NONE) {
				gid_subscription_count_dropped(subscription);
			}
			gid_subscription_let_go(subscription, taken.gid, false);
		}
		if (got < 0) {
			gid_subscription_end(subscription, GID_END_BROKEN, got);
		} else if (force && gid_ring_take_by_force(ring, wanted.index, &taken)) {
			gid_subscription_count_expired(subscription);
			producer->stats.leases_expired++;
			gid_subscription_let_go(subscription, taken.gid, true);
		}
	}
}

static void poll_claims(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && gid_ring_poll_claims(&sub->ring) < 0) {
			gid_subscription_end(sub, GID_END_BROKEN, -EPROTO);
		}
	}
}

/*
 * How many pictures are tried. Each try looks at all frames in flight, and readers choose how many
 * those are.
 */
#define FREE_LOOKS 32

/* Frees the oldest slot that can be, unless one was freed since. */
static void free_oldest(struct gid_producer *producer, uint64_t freed, bool force) {
	struct gid_ring_sent oldest = {0};
	for (int look = 0; look < FREE_LOOKS && producer->freed == freed &&
			find_oldest(producer, oldest, &oldest);
			look++) {
		if (!can_be_freed(producer, oldest.gid, force)) {
			continue;
		}
		for (struct gid_subscription *sub = producer->subscriptions; sub != NULL;
				sub = sub->next) {
			free_slot(sub, oldest.gid, force);
		}
	}
}

int gid_producer_reclaim(struct gid_producer *producer, bool force) {
	gid_producer_enter(producer);
	uint64_t freed = producer->freed;
	gid_producer_collect_all(producer);
	poll_claims(producer);
	free_oldest(producer, freed, force);
	if (producer->freed == freed && producer->has_shown) {
		/* Later subscribers have to wait for the next frame. */
		gid_producer_forget_shown(producer);
		free_oldest(producer, freed, force);
	}
	bool any = producer->freed != freed;
	gid_producer_leave(producer);
	return any;
}
