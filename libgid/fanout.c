// SPDX-License-Identifier: MIT
/** The frames of a producer: one ring for each consumer, one count of holders for each slot. */
#include <errno.h>
#include <gid/timeline.h>

#include "futex.h"
#include "producer.h"
#include "socket.h"

/* --- the timeline ----------------------------------------------------------------------------- */

static void write_sent(const struct gid_producer *producer, const struct gid_frame *frame) {
	struct gid_timeline_point point = {
		.event = GID_TIMELINE_CAPTURE,
		.time = frame->capture_time,
		.gid = frame->gid,
		.stream = producer->name,
		.sequence = frame->sequence,
		.domain = gid_domain_number(producer->domain),
	};
	if (frame->capture_time != GID_TIME_NONE) {
		gid_timeline_write(producer->timeline, &point);
	}
	point.event = GID_TIMELINE_SUBMIT;
	point.time = frame->submit_time;
	gid_timeline_write(producer->timeline, &point);
}

/* Which frame was in the slot last, who reads the points can tell. */
static void write_freed(const struct gid_producer *producer, gid_id gid) {
	gid_timeline_write(producer->timeline,
		&(struct gid_timeline_point){
			.event = GID_TIMELINE_FREED,
			.time = gid_socket_now(),
			.gid = gid,
			.domain = gid_domain_number(producer->domain),
		});
}

/* --- back ------------------------------------------------------------------------------------- */

void gid_fanout_let_go(struct gid_producer *producer, gid_id gid, bool by_force) {
	struct gid_slab *slab = gid_slab_find_held(producer->domain, gid);
	if (slab == NULL) {
		return; /* no picture, or of a slab that was destroyed */
	}
	uint32_t slot = gid_slot_of(gid);
	uint32_t left =
		by_force ? gid_slab_let_go_by_force(slab, slot) : gid_slab_let_go(slab, slot);
	if (left == 0) {
		producer->freed++;
		if (producer->timeline != NULL) {
			write_freed(producer, gid);
		}
		if (producer->options.released != NULL) {
			producer->options.released(producer->options.data, gid);
		}
	}
}

void gid_fanout_collect(struct gid_subscription *subscription) {
	struct gid_ring_sent released;
	int got = 0;
	while (!subscription->dead &&
		(got = gid_ring_collect(&subscription->ring, &released)) == 1) {
		gid_fanout_let_go(subscription->producer, released.gid, false);
	}
	if (got < 0) {
		gid_fanout_end(subscription, GID_END_BROKEN, got);
	}
}

void gid_fanout_collect_all(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		gid_fanout_collect(sub);
	}
}

/* --- out -------------------------------------------------------------------------------------- */

/*
 * Takes back the oldest picture that was not read yet; it is let go once the new frame is held by
 * all, for it may lie in the same slot. Returns 1, 0 where all were claimed, -EPROTO.
 */
static int drop_oldest(struct gid_subscription *subscription) {
	struct gid_ring_sent oldest, taken;
	int found;
	while ((found = gid_ring_oldest_unread(&subscription->ring, &oldest)) == 1) {
		while ((found = gid_ring_take_back(
				&subscription->ring, oldest.index + 1, &taken)) == 1) {
			if (taken.gid != GID_NONE) {
				subscription->victim = taken.gid;
				subscription->dropped++;
				subscription->producer->stats.dropped++;
				return 1;
			}
		}
		if (found < 0) {
			break;
		}
	}
	return found;
}

/* For people, who read it by gidctl. */
static void publish_counts(struct gid_subscription *subscription) {
	const struct gid_producer_stats *stats = &subscription->producer->stats;
	struct gid_wire_ring *ring = subscription->ring.ring;
	__atomic_store_n(&ring->frames, stats->frames, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->dropped, subscription->dropped, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->copied_frames, stats->copied_frames, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->copied_bytes, stats->copied_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->leases_expired, subscription->leases_expired, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->held, subscription->ring.pictures, __ATOMIC_RELAXED);
}

/* As it asked to be woken. */
static void wake_consumer(const struct gid_subscription *subscription) {
	const struct gid_ring_producer *ring = &subscription->ring;
	if (__atomic_load_n(&ring->page->wake, __ATOMIC_RELAXED) == GID_WIRE_FUTEX) {
		gid_futex_wake_shared((const uint32_t *)&ring->ring->tail);
	} else {
		gid_doorbell_ring(&subscription->doorbell);
	}
}

/* Whether the consumer gets the frame. Runs no callback. */
static bool send_to(struct gid_subscription *subscription, const struct gid_wire_frame *frame,
	struct gid_slab *slab, uint64_t now) {
	struct gid_producer *producer = subscription->producer;
	bool seen = slab == NULL || gid_stream_slabs_can_see(subscription, slab);
	int error = slab == NULL || !seen
		? 0
		: gid_stream_slabs_grant_one(producer, slab, subscription->domain);
	int sent = error < 0 || !seen ? 0 : gid_ring_send(&subscription->ring, frame, now);
	if (sent == 0 && error == 0 && slab != NULL && seen && subscription->drop_old) {
		error = drop_oldest(subscription);
		sent = error == 1 ? gid_ring_send(&subscription->ring, frame, now) : 0;
	}
	/* Without gidd there can be no grant now, but there can be one for a later frame. */
	if (error < 0 && error != -ENOTCONN && error != -ETIMEDOUT) {
		subscription->failed = error;
	}
	if (sent == 0) {
		subscription->dropped++;
		producer->stats.dropped++;
		return false;
	}
	if (slab != NULL) {
		gid_slab_hold(slab, gid_slot_of(frame->gid));
	}
	producer->stats.delivered++;
	publish_counts(subscription);
	if (gid_ring_should_wake_consumer(&subscription->ring)) {
		producer->stats.doorbells++;
		wake_consumer(subscription);
	}
	return true;
}

/* What sending led to, now that callbacks may run. */
static void settle(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		gid_id victim = sub->victim;
		int failed = sub->failed;
		sub->victim = GID_NONE;
		sub->failed = 0;
		if (victim != GID_NONE) {
			gid_fanout_let_go(producer, victim, false);
		}
		if (failed < 0) {
			gid_fanout_end(sub, GID_END_BROKEN, failed);
		}
	}
}

/* The picture's slab, or NULL where there is no picture. */
static int find_slab(struct gid_producer *producer, gid_id gid, struct gid_slab **slab) {
	*slab = NULL;
	if (gid == GID_NONE) {
		return 0;
	}
	int error = gid_slab_find_sendable(producer->domain, gid, slab);
	return error < 0 ? error : gid_stream_slabs_add(producer, gid);
}

static int send_to_all(struct gid_producer *producer, const struct gid_frame *frame, uint64_t now) {
	struct gid_slab *slab;
	int error = find_slab(producer, frame->gid, &slab);
	if (error == 0 && slab != NULL && producer->options.granted != NULL) {
		error = gid_stream_slabs_ask(producer, slab, frame->gid);
	}
	if (error < 0) {
		return error;
	}
	struct gid_frame sent = *frame;
	sent.sequence = producer->sequence + 1;
	sent.submit_time = now;
	struct gid_wire_frame entry;
	error = gid_wire_put_frame(&entry, &sent);
	if (error < 0) {
		return error;
	}
	producer->sequence++;
	producer->stats.frames++;
	int count = 0;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && send_to(sub, &entry, slab, now)) {
			count++;
		}
	}
	if (count > 0) {
		gid_lease_start(producer, now);
	}
	if (producer->timeline != NULL) {
		write_sent(producer, &sent);
	}
	return count;
}

int gid_producer_send(struct gid_producer *producer, const struct gid_frame *frame) {
	gid_producer_enter(producer);
	int count = -EPIPE;
	uint64_t now = gid_socket_now();
	gid_fanout_collect_all(producer);
	if (producer->lease.next != NULL && producer->lease.deadline <= now) {
		gid_lease_run(producer, now);
	}
	if (!producer->destroyed && producer->domain != NULL) {
		count = send_to_all(producer, frame, now);
		settle(producer);
	}
	gid_producer_leave(producer);
	return count;
}

/* --- the end ---------------------------------------------------------------------------------- */

struct freed {
	gid_id gid;
	bool by_force;
};

/* Takes everything back: what was not claimed first. Returns how many slots. */
static uint32_t take_all(struct gid_ring_producer *ring, enum gid_fanout_end end,
	struct freed freed[static GID_RING_ENTRIES]) {
	struct gid_ring_sent sent;
	uint32_t count = 0;
	/* What the stream says last, as its end, stays readable. */
	uint64_t below = end == GID_END_STREAM ? gid_ring_last_words(ring) : ring->tail;
	while (gid_ring_take_back(ring, below, &sent) == 1) {
		freed[count++] = (struct freed){.gid = sent.gid};
	}
	while (ring->pictures > 0 && gid_ring_oldest(ring, &sent) &&
		gid_ring_take_by_force(ring, sent.index, &sent)) {
		freed[count++] = (struct freed){sent.gid, end != GID_END_CONSUMER_LEFT};
	}
	return count;
}

void gid_fanout_end(struct gid_subscription *subscription, enum gid_fanout_end end, int reason) {
	if (subscription->dead) {
		return;
	}
	struct gid_producer *producer = subscription->producer;
	gid_producer_enter(producer);
	subscription->dead = true;
	producer->has_dead = true;
	producer->consumers--;
	struct freed freed[GID_RING_ENTRIES];
	uint32_t count = take_all(&subscription->ring, end, freed);
	if (end == GID_END_STREAM && reason == 0) {
		gid_ring_close(&subscription->ring);
	}
	gid_loop_unwatch(&producer->loop, subscription->doorbell.fd);
	gid_doorbell_finish(&subscription->doorbell);
	if (subscription->number != 0) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
		message.subscription_end.subscription = subscription->number;
		message.subscription_end.reason = reason;
		gid_domain_post(producer->domain, &message, NULL, 0);
	}
	for (uint32_t i = 0; i < count; i++) {
		gid_fanout_let_go(producer, freed[i].gid, freed[i].by_force);
	}
	if (producer->options.subscriber != NULL) {
		producer->options.subscriber(
			producer->options.data, subscription->domain, false, producer->consumers);
	}
	gid_producer_leave(producer);
}

void gid_fanout_end_all(struct gid_producer *producer, int reason) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		gid_fanout_end(sub, GID_END_STREAM, reason);
	}
}
