// SPDX-License-Identifier: MIT
/** How the frames of a producer come back: released, or as a consumer goes. */
#include <errno.h>
#include <gid/timeline.h>

#include "producer.h"

/* Has no sequence number: readers of the timeline know which frame was in the slot last. */
static void write_freed(const struct gid_producer *producer, gid_id gid) {
	gid_timeline_write(producer->timeline,
			&(struct gid_timeline_point){
					.event = GID_TIMELINE_FREED,
					.time = gid_clock_now(),
					.gid = gid,
					.domain = gid_domain_number(producer->domain),
			});
}

/* --- slots that nobody holds any more --------------------------------------------------------- */

/*
 * Reports a slot that nobody holds any more. All slots of the same call are let go before, as the
 * callback may destroy the domain.
 */
static inline void slot_is_free(struct gid_producer *producer, gid_id gid) {
	producer->freed++;
	if (producer->timeline != NULL && producer->domain != NULL) {
		write_freed(producer, gid);
	}
	if (producer->options.released != NULL) {
		producer->options.released(producer->options.data, gid);
	}
}

void gid_producer_report_all_freed(struct gid_producer *producer) {
	while (producer->freed_first < producer->freed_end) {
		slot_is_free(producer, producer->freed_slots[producer->freed_first++]);
	}
	producer->freed_first = producer->freed_end = 0;
}

/* Whether free slots are reported to anybody. */
static inline bool tells_freed(const struct gid_producer *producer) {
	return producer->options.released != NULL || producer->timeline != NULL;
}

/*
 * Remembers a free slot, to be reported later. One collection has no more of them than a ring has
 * entries.
 */
static inline void note_freed(struct gid_producer *producer, gid_id gid) {
	if (tells_freed(producer)) {
		producer->freed_slots[producer->freed_end++] = gid;
	} else {
		producer->freed++;
	}
}

/*
 * Ends one consumer's hold on a slot without reporting it. `by_force_of`: the domain of a consumer
 * that may still be reading the slot; 0: it was released. Returns whether that was the last holder.
 * To be called after gid_slab_refresh().
 */
static inline __attribute__((always_inline)) bool let_go_quietly(
		struct gid_producer *producer, gid_id gid, uint32_t by_force_of) {
	struct gid_slab *slab =
			gid_slab_find_held_next(producer->domain, gid, &producer->slab_memo);
	if (slab == NULL) {
		return false; /* no picture, or of a slab that was destroyed */
	}
	uint32_t slot = gid_slot_of(gid);
	if (slab->evicted != NULL) {
		gid_slab_put_evicted(slab, gid);
	}
	uint32_t left = by_force_of != 0 ? gid_slab_let_go_by_force(slab, slot, by_force_of)
					 : gid_slab_let_go(slab, slot);
	return left == 0;
}

void gid_subscription_let_go(struct gid_subscription *subscription, gid_id gid, bool by_force) {
	struct gid_producer *producer = subscription->producer;
	gid_slab_refresh(producer->domain, &producer->slab_memo);
	if (let_go_quietly(producer, gid, by_force ? subscription->domain : 0)) {
		slot_is_free(producer, gid);
	}
}

void gid_producer_let_go_own(struct gid_producer *producer, gid_id *field) {
	gid_id gid = *field;
	*field = GID_NONE;
	struct gid_slab *slab = gid == GID_NONE
			? NULL
			: gid_slab_find_held(producer->domain, gid, &producer->slab_memo);
	if (slab != NULL && slab->evicted != NULL) {
		gid_slab_put_evicted(slab, gid);
	}
	if (slab != NULL && gid_slab_let_go(slab, gid_slot_of(gid)) == 0) {
		slot_is_free(producer, gid);
	}
}

void gid_producer_forget_shown(struct gid_producer *producer) {
	producer->has_shown = false;
	gid_producer_let_go_own(producer, &producer->shown.gid);
}

/* A collection of the releases of one or more consumers. */
struct collecting {
	struct gid_producer *producer;
	struct gid_slab_own own; /* that was found last, until a callback runs; all zeroes: none */
	uint32_t freed;		 /* slots that nobody is told of, and that are not counted yet */
	bool tells;
};

static inline struct gid_slab_own recall_own(struct gid_producer *producer) {
	gid_slab_refresh(producer->domain, &producer->slab_memo);
	const struct gid_slab *slab = producer->slab_memo.slab;
	return slab != NULL && slab->evicted == NULL ? gid_slab_own(slab)
						     : (struct gid_slab_own){0};
}

static inline struct collecting begin_collecting(struct gid_producer *producer) {
	struct collecting collecting = {.producer = producer, .tells = tells_freed(producer)};
	if (producer->domain != NULL) {
		collecting.own = recall_own(producer);
	}
	return collecting;
}

static __attribute__((noinline)) struct gid_slab_own take_of_other(
		struct gid_producer *producer, gid_id gid) {
	gid_slab_refresh(producer->domain, &producer->slab_memo);
	if (let_go_quietly(producer, gid, 0)) {
		note_freed(producer, gid);
	}
	return recall_own(producer);
}

/* An entry came back. */
static inline __attribute__((always_inline)) void take_released(
		void *data, const struct gid_ring_sent *sent) {
	struct collecting *collecting = data;
	struct gid_producer *producer = collecting->producer;
	const gid_id gid = sent->gid;
	int left = gid_slab_own_let_go(&collecting->own, gid);
	if (RING_RARELY(left < 0)) {
		collecting->own = take_of_other(producer, gid);
	} else if (left == 0 && collecting->tells) {
		producer->freed_slots[producer->freed_end++] = gid;
	} else if (left == 0) {
		collecting->freed++;
	}
}

static __attribute__((noinline)) void tell_collected(
		struct gid_subscription *subscription, int error) {
	if (subscription->given_up) {
		gid_subscription_take_up(subscription);
	}
	gid_producer_report_freed(subscription->producer);
	if (error < 0) {
		gid_subscription_end(subscription, GID_END_BROKEN, error);
	}
}

/* Inline, so that who collects from all does not call it for each. */
static inline __attribute__((always_inline)) void collect(
		struct gid_subscription *subscription, struct collecting *collecting) {
	if (subscription->dead) {
		return;
	}
	/* One pass is enough: later releases ring the doorbell if it was asked for. */
	int error = gid_ring_collect_all(&subscription->ring, take_released, collecting);
	if (RING_RARELY(error < 0 || subscription->given_up) ||
			(collecting->tells && collecting->producer->freed_end > 0)) {
		tell_collected(subscription, error);
		/* In a callback the slab may have gone; or the domain, and all consumers. */
		collecting->own = (struct gid_slab_own){0};
	}
}

/* First reports what a call around this one collected. */
void gid_subscription_collect(struct gid_subscription *subscription) {
	gid_producer_report_freed(subscription->producer);
	struct collecting collecting = begin_collecting(subscription->producer);
	collect(subscription, &collecting);
	collecting.producer->freed += collecting.freed;
	gid_subscription_tell_counts(subscription, subscription->producer);
}

void gid_producer_collect_all(struct gid_producer *producer) {
	gid_producer_report_freed(producer);
	struct collecting collecting = begin_collecting(producer);
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		collect(sub, &collecting);
	}
	producer->freed += collecting.freed;
}

/* --- what people are told --------------------------------------------------------------------- */

static void publish_copies(struct gid_wire_ring *ring, const struct gid_producer *producer) {
	const struct gid_producer_stats *stats = &producer->stats;
	__atomic_store_n(&ring->copied_frames, stats->copied_frames, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->copied_bytes, stats->copied_bytes, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < GID_COPY_REASONS_MAX; i++) {
		__atomic_store_n(&ring->copy_reasons[i], producer->copy_reasons[i],
				__ATOMIC_RELAXED);
	}
}

void gid_subscription_recount(struct gid_subscription *subscription) {
	struct gid_wire_ring *ring = subscription->ring.ring;
	__atomic_store_n(&ring->dropped, subscription->dropped, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->leases_expired, subscription->leases_expired, __ATOMIC_RELAXED);
	publish_copies(ring, subscription->producer);
	subscription->recounted = false;
}

/* --- the end of a subscription ---------------------------------------------------------------- */

struct freed {
	gid_id gid;
	bool by_force;
};

/* Reclaims all entries, unclaimed ones first. Returns how many. */
static uint32_t take_all(struct gid_ring_producer *ring, enum gid_subscription_end end,
		struct freed freed[static GID_RING_ENTRIES]) {
	struct gid_ring_sent sent;
	uint32_t count = 0;
	/* Entries after the last picture, such as the end of the stream, stay readable. */
	uint64_t below = end == GID_END_STREAM ? gid_ring_last_words(ring) : ring->tail;
	while (gid_ring_take_back(ring, below, &sent) == 1) {
		freed[count++] = (struct freed){.gid = sent.gid};
	}
	while (ring->pictures > 0 && gid_ring_oldest(ring, &sent) &&
			gid_ring_take_by_force(ring, sent.index, &sent)) {
		freed[count++] = (struct freed){sent.gid, end != GID_END_CONSUMER_LEFT};
	}
	gid_ring_disown(ring, below);
	return count;
}

static void end_subscription(
		struct gid_subscription *subscription, enum gid_subscription_end end, int reason) {
	struct gid_producer *producer = subscription->producer;
	subscription->dead = true;
	producer->has_dead = true;
	producer->consumers--;
	struct freed freed[GID_RING_ENTRIES];
	if (end == GID_END_STREAM && reason == 0) {
		/* First: consumers have to see that the end took the frames, and not force. */
		gid_ring_close(&subscription->ring);
	}
	uint32_t count = take_all(&subscription->ring, end, freed);
	gid_loop_disarm(&producer->loop, &subscription->poll);
	gid_loop_unwatch(&producer->loop, subscription->doorbell.fd);
	gid_loop_unwatch(&producer->loop, subscription->doorbell.hear);
	gid_doorbell_finish(&subscription->doorbell);
	if (subscription->number != 0) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
		message.subscription_end.subscription = subscription->number;
		message.subscription_end.reason = reason;
		gid_domain_post(producer->domain, &message, NULL, 0);
	}
	gid_slab_refresh(producer->domain, &producer->slab_memo);
	for (uint32_t i = 0; i < count; i++) {
		if (let_go_quietly(producer, freed[i].gid,
				    freed[i].by_force ? subscription->domain : 0)) {
			note_freed(producer, freed[i].gid);
		}
	}
	gid_producer_report_freed(producer);
	if (producer->options.subscriber != NULL) {
		producer->options.subscriber(producer->options.data, subscription->domain, false,
				producer->consumers);
	}
}

void gid_subscription_end(
		struct gid_subscription *subscription, enum gid_subscription_end end, int reason) {
	if (subscription->dead) {
		return;
	}
	struct gid_producer *producer = subscription->producer;
	gid_producer_enter(producer);
	gid_producer_report_freed(producer);
	if (!subscription->dead) {
		end_subscription(subscription, end, reason);
	}
	gid_producer_leave(producer);
}

void gid_producer_end_all(struct gid_producer *producer, int reason) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		gid_subscription_end(sub, GID_END_STREAM, reason);
	}
}
