// SPDX-License-Identifier: MIT
/**
 * The frames of a producer: one ring for each consumer, one count of holders for each slot. What
 * comes back and what is taken back, and sending.
 */
#include <errno.h>
#include <gid/timeline.h>
#include <string.h>

#include "producer.h"
#include "sleep.h"
#include "socket.h"

/* --- the timeline ----------------------------------------------------------------------------- */

static __attribute__((noinline)) void write_sent(
		const struct gid_producer *producer, const struct gid_frame *frame) {
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
					.time = gid_clock_now(),
					.gid = gid,
					.domain = gid_domain_number(producer->domain),
			});
}

/* --- back ------------------------------------------------------------------------------------- */

/* Nobody holds the slot any more. What was to be let go with it is let go already: who hears of it
 * may destroy the domain. */
static inline void slot_is_free(struct gid_producer *producer, gid_id gid) {
	producer->freed++;
	if (producer->timeline != NULL && producer->domain != NULL) {
		write_freed(producer, gid);
	}
	if (producer->options.released != NULL) {
		producer->options.released(producer->options.data, gid);
	}
}

/*
 * Lets go of a slot for one consumer, which by force may be reading it still. Returns whether that
 * was its last holder.
 */
static inline __attribute__((always_inline)) bool let_go_quietly(
		const struct gid_subscription *subscription, gid_id gid, bool by_force) {
	struct gid_slab *slab = gid_slab_find_held(subscription->producer->domain, gid);
	if (slab == NULL) {
		return false; /* no picture, or of a slab that was destroyed */
	}
	uint32_t slot = gid_slot_of(gid);
	if (slab->left != NULL) {
		gid_slab_frame_left(slab, gid);
	}
	uint32_t left = by_force ? gid_slab_let_go_by_force(slab, slot, subscription->domain)
				 : gid_slab_let_go(slab, slot);
	return left == 0;
}

/* The same, and tells of it. */
static inline void let_go(struct gid_subscription *subscription, gid_id gid, bool by_force) {
	if (let_go_quietly(subscription, gid, by_force)) {
		slot_is_free(subscription->producer, gid);
	}
}

/* And for the producer itself, of what is in one of its fields. */
static void let_go_own(struct gid_producer *producer, gid_id *field) {
	gid_id gid = *field;
	*field = GID_NONE;
	struct gid_slab *slab = gid == GID_NONE ? NULL : gid_slab_find_held(producer->domain, gid);
	if (slab != NULL && gid_slab_let_go(slab, gid_slot_of(gid)) == 0) {
		slot_is_free(producer, gid);
	}
}

void gid_producer_forget_shown(struct gid_producer *producer) {
	producer->has_shown = false;
	let_go_own(producer, &producer->shown.gid);
}

void gid_subscription_collect(struct gid_subscription *subscription) {
	struct gid_ring_sent released;
	int got = 0;
	while (!subscription->dead && gid_ring_has_releases(&subscription->ring) &&
			(got = gid_ring_collect(&subscription->ring, &released)) == 1) {
		let_go(subscription, released.gid, false);
	}
	if (got < 0) {
		gid_subscription_end(subscription, GID_END_BROKEN, got);
	}
}

static void collect_all(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		gid_subscription_collect(sub);
	}
}

/* --- the end of a subscription ---------------------------------------------------------------- */

struct freed {
	gid_id gid;
	bool by_force;
};

/* Takes everything back: what was not claimed first. Returns how many slots. */
static uint32_t take_all(struct gid_ring_producer *ring, enum gid_subscription_end end,
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

void gid_subscription_end(
		struct gid_subscription *subscription, enum gid_subscription_end end, int reason) {
	if (subscription->dead) {
		return;
	}
	struct gid_producer *producer = subscription->producer;
	gid_producer_enter(producer);
	subscription->dead = true;
	producer->has_dead = true;
	producer->consumers--;
	struct freed freed[GID_RING_ENTRIES];
	if (end == GID_END_STREAM && reason == 0) {
		gid_ring_close(&subscription->ring); /* first: what is taken now is taken by the end
						      */
	}
	uint32_t count = take_all(&subscription->ring, end, freed);
	gid_loop_disarm(&producer->loop, &subscription->look);
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
	uint32_t unheld = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (let_go_quietly(subscription, freed[i].gid, freed[i].by_force)) {
			freed[unheld++].gid = freed[i].gid;
		}
	}
	for (uint32_t i = 0; i < unheld; i++) {
		slot_is_free(producer, freed[i].gid);
	}
	if (producer->options.subscriber != NULL) {
		producer->options.subscriber(producer->options.data, subscription->domain, false,
				producer->consumers);
	}
	gid_producer_leave(producer);
}

void gid_producer_end_all(struct gid_producer *producer, int reason) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		gid_subscription_end(sub, GID_END_STREAM, reason);
	}
}

/* --- leases ----------------------------------------------------------------------------------- */

/* Takes back an entry whose lease is over; what was left unread before it goes first. */
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
		subscription->leases_expired++;
		producer->stats.leases_expired++;
	} else if (taken.gid != GID_NONE) {
		subscription->dropped++;
		producer->stats.dropped++;
	}
	let_go(subscription, taken.gid, by_force);
}

/*
 * When the lease of an entry began; UINT64_MAX: it has none. What the stream shows now has none: a
 * display has that for as long as nothing else is to be shown, and who comes late to it, as a
 * machine that was paused, still finds it. Where its slot is needed, gid_producer_reclaim() takes
 * it. A consumer that says that it uses what it claimed has it anew from then on, but not for so
 * long that the producer stands still for want of memory.
 */
static uint64_t lease_begin(const struct gid_subscription *subscription,
		const struct gid_ring_sent *sent, bool renewable) {
	if (subscription->dead || !sent->in_flight || sent->index >= subscription->newest) {
		return UINT64_MAX;
	}
	bool renewed = renewable && sent->index < subscription->ring.head &&
			subscription->renewed > sent->outdated;
	return renewed ? subscription->renewed : sent->outdated;
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

/* Takes back what is over. Returns when the first lease of what is left began. */
static uint64_t expire(struct gid_subscription *subscription, uint64_t now) {
	const struct gid_producer *producer = subscription->producer;
	uint64_t lease = producer->options.lease_ns;
	bool renewable = !is_stuck(producer, now);
	if (gid_ring_was_renewed(&subscription->ring)) {
		subscription->renewed = now;
	}
	if (!subscription->dead && gid_ring_look(&subscription->ring) < 0) {
		gid_subscription_end(subscription, GID_END_BROKEN, -EPROTO);
	}
	struct gid_ring_sent oldest;
	uint64_t begin;
	while ((begin = find_leased(subscription, renewable, &oldest)) != UINT64_MAX &&
			now - begin >= lease) {
		take_entry(subscription, &oldest);
	}
	return begin;
}

static void arm(struct gid_producer *producer, uint64_t since) {
	uint64_t deadline;
	if (__builtin_add_overflow(since, producer->options.lease_ns, &deadline)) {
		deadline = INT64_MAX;
	}
	gid_loop_arm(&producer->loop, &producer->lease, deadline);
}

void gid_producer_run_leases(struct gid_producer *producer, uint64_t now) {
	gid_producer_enter(producer);
	collect_all(producer);
	uint64_t first = UINT64_MAX;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		uint64_t begin = expire(sub, now);
		first = begin < first ? begin : first;
	}
	if (lacks_memory(producer, now) && !is_stuck(producer, now) &&
			producer->lacking_since < first) {
		first = producer->lacking_since; /* then it is, whatever was renewed */
	}
	if (first != UINT64_MAX) {
		arm(producer, first);
	} else {
		gid_loop_disarm(&producer->loop, &producer->lease);
	}
	gid_producer_leave(producer);
}

/* Something was sent at `now`. Costs a system call once a lease, not once a frame. */
static void start_lease(struct gid_producer *producer, uint64_t now) {
	if (producer->lease.next == NULL) {
		arm(producer, now);
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
				subscription->producer->unsettled = true;
				return 1;
			}
		}
		if (found < 0) {
			break;
		}
	}
	return found;
}

static void publish_copies(struct gid_wire_ring *ring, const struct gid_producer *producer) {
	const struct gid_producer_stats *stats = &producer->stats;
	__atomic_store_n(&ring->copied_frames, stats->copied_frames, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->copied_bytes, stats->copied_bytes, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < GID_COPY_REASONS_MAX; i++) {
		__atomic_store_n(&ring->copy_reasons[i], producer->copy_reasons[i],
				__ATOMIC_RELAXED);
	}
}

/* For people, who read it by gidctl. */
static void publish_counts(struct gid_subscription *subscription) {
	const struct gid_producer_stats *stats = &subscription->producer->stats;
	struct gid_wire_ring *ring = subscription->ring.ring;
	__atomic_store_n(&ring->frames, stats->frames, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->dropped, subscription->dropped, __ATOMIC_RELAXED);
	if (ring->copied_frames != stats->copied_frames) {
		publish_copies(ring, subscription->producer);
	}
	__atomic_store_n(&ring->leases_expired, subscription->leases_expired, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->held, subscription->ring.pictures, __ATOMIC_RELAXED);
}

/* As it asked to be woken. */
static void wake_consumer(const struct gid_subscription *subscription) {
	const struct gid_ring_producer *ring = &subscription->ring;
	if (__atomic_load_n(&ring->page->wake, __ATOMIC_RELAXED) == GID_WIRE_FUTEX) {
		gid_sleep_wake_futex((const uint32_t *)&ring->ring->tail);
	} else {
		gid_doorbell_ring(&subscription->doorbell);
	}
}

/*
 * Another picture is what the stream shows from now on: the lease of those before it begins. A
 * picture that is sent again, and an entry without one, are about the same.
 */
static inline void outdate(struct gid_subscription *subscription, gid_id gid, uint64_t now) {
	if (gid != GID_NONE && gid != subscription->producer->present) {
		gid_ring_outdate(&subscription->ring, subscription->newest, now);
		subscription->newest = UINT64_MAX;
	}
}

/* What was put into its ring becomes known to it. */
static void publish_to(struct gid_subscription *subscription) {
	if (subscription->ring.published == subscription->ring.tail) {
		return;
	}
	publish_counts(subscription);
	gid_ring_publish(&subscription->ring);
	if (gid_ring_should_wake_consumer(&subscription->ring)) {
		subscription->producer->stats.doorbells++;
		wake_consumer(subscription);
	}
}

/* Makes room by what the consumer did not read yet, and puts the frame in: 1, 0 or -EPROTO. */
static int put_for_old(struct gid_subscription *subscription, const struct gid_wire_frame *frame,
		const void *note, uint64_t now) {
	publish_to(subscription);
	int dropped = drop_oldest(subscription);
	return dropped == 1 ? gid_ring_put(&subscription->ring, frame, note, now) : dropped;
}

/* Where it cannot just be put in: it needs a grant, or there is no room, or it cannot see it. */
static __attribute__((noinline)) bool put_hard(struct gid_subscription *subscription,
		const struct gid_wire_frame *frame, const void *note, struct gid_slab *slab,
		uint64_t now) {
	struct gid_producer *producer = subscription->producer;
	bool seen = slab == NULL || gid_subscription_can_see(subscription, slab);
	bool granted = slab == NULL || !seen || !gid_subscription_needs_grant(subscription, slab);
	int error = granted ? 0 : gid_slab_grant(slab, subscription->domain);
	int sent = error < 0 || !seen ? 0 : gid_ring_put(&subscription->ring, frame, note, now);
	if (sent == 0 && error == 0 && slab != NULL && seen && subscription->drop_old) {
		error = put_for_old(subscription, frame, note, now);
		sent = error == 1;
	}
	/* Without gidd there can be no grant now, but there can be one for a later frame. */
	if (error < 0 && error != -ENOTCONN && error != -ETIMEDOUT) {
		subscription->failed = error;
		producer->unsettled = true;
	}
	if (sent == 0) {
		subscription->missed = slab != NULL && seen && error == 0;
		subscription->dropped += slab != NULL;
		producer->stats.dropped += slab != NULL;
	}
	return sent == 1;
}

/* Whether the consumer gets the frame, once publish_to() is called. Runs no callback. */
static bool put_to(struct gid_subscription *subscription, const struct gid_wire_frame *frame,
		const void *note, struct gid_slab *slab, uint64_t now) {
	bool simple = slab == NULL ||
			(gid_subscription_can_see(subscription, slab) &&
					!gid_subscription_needs_grant(subscription, slab));
	outdate(subscription, frame->gid, now);
	if ((!simple || gid_ring_put(&subscription->ring, frame, note, now) != 1) &&
			!put_hard(subscription, frame, note, slab, now)) {
		return false;
	}
	subscription->missed = false;
	if (subscription->newest == UINT64_MAX) {
		subscription->newest = subscription->ring.tail - 1;
	}
	if (slab != NULL) {
		gid_slab_hold(slab, gid_slot_of(frame->gid));
		subscription->producer->stats.delivered++;
	}
	return true;
}

/* --- what is shown, for who comes late -------------------------------------------------------- */

/* Neither the end of a film nor a seek takes the last picture from a display. */
static void keep_shown(struct gid_producer *producer, const struct gid_wire_frame *frame,
		const void *note, struct gid_slab *slab) {
	if (!producer->options.keeps_shown ||
			(slab == NULL && (frame->flags & GID_FRAME_HIDDEN) == 0)) {
		return;
	}
	if (slab != NULL) {
		gid_slab_hold(slab, gid_slot_of(frame->gid));
	}
	producer->outdated = producer->shown.gid;
	producer->unsettled |= producer->outdated != GID_NONE;
	producer->shown = *frame;
	producer->has_shown = true;
	if (frame->note_size > 0) {
		memcpy(&producer->shown_note, note, frame->note_size);
	}
}

void gid_producer_send_shown(struct gid_producer *producer, struct gid_subscription *subscription) {
	struct gid_wire_frame frame = producer->shown;
	struct gid_slab *slab = NULL;
	uint64_t now = gid_clock_now();
	if (!producer->has_shown ||
			(frame.gid != GID_NONE &&
					gid_slab_find_sendable(producer->domain, frame.gid, &slab) <
							0)) {
		return;
	}
	frame.submit_time = now;
	if (frame.present_time != 0 && ~frame.present_time < now) {
		frame.present_time = ~now;
	}
	put_to(subscription, &frame, &producer->shown_note, slab, now);
	publish_to(subscription);
}

void gid_producer_catch_up(struct gid_producer *producer) {
	if (!producer->options.keeps_shown) {
		return;
	}
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (sub->dead || !sub->missed) {
			continue;
		}
		gid_ring_producer_sleep(
				&sub->ring); /* its next release rings, also for the quiet */
		gid_subscription_collect(sub);
		if (!sub->dead && gid_ring_has_room(&sub->ring)) {
			gid_producer_send_shown(producer, sub);
			start_lease(producer, gid_clock_now());
		}
	}
}

static void let_go_all(struct gid_producer *producer) {
	let_go_own(producer, &producer->untaken);
	let_go_own(producer, &producer->outdated);
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		gid_id victim = sub->victim;
		int failed = sub->failed;
		sub->victim = GID_NONE;
		sub->failed = 0;
		if (victim != GID_NONE) {
			let_go(sub, victim, false);
		}
		if (failed < 0) {
			gid_subscription_end(sub, GID_END_BROKEN, failed);
		}
	}
	/* Not before: a callback that sends has to find what is left of this. */
	producer->unsettled = false;
}

void gid_producer_settle(struct gid_producer *producer) {
	if (producer->unsettled) {
		let_go_all(producer);
	}
	gid_producer_catch_up(producer);
}

/* The picture's slab, or NULL where there is no picture. */
static int find_slab(struct gid_producer *producer, gid_id gid, struct gid_slab **slab) {
	*slab = NULL;
	if (gid == GID_NONE) {
		return 0;
	}
	int error = gid_slab_find_sendable(producer->domain, gid, slab);
	if (error < 0 || producer->slab_last == gid_slab_key(gid)) {
		return error;
	}
	return gid_producer_add_slab(producer, gid);
}

/* Puts a frame into the rings of all who take it. Returns how many, or -errno. Runs no callback. */
static int put_to_all(struct gid_producer *producer, struct gid_frame *frame, uint64_t now) {
	struct gid_slab *slab;
	int error = find_slab(producer, frame->gid, &slab);
	if (error == 0 && slab != NULL && producer->options.granted != NULL) {
		error = gid_producer_ask_grants(producer, slab, frame->gid);
	}
	if (error < 0) {
		return error;
	}
	struct gid_wire_frame entry;
	if (frame->metadata != GID_NONE) {
		gid_producer_bind_metadata(producer, frame);
	}
	frame->submit_time = now;
	error = gid_wire_put_frame(&entry, frame);
	if (error < 0) {
		return error;
	}
	entry.sequence = frame->sequence = ++producer->sequence;
	if (frame->gid != producer->present) { /* the same again takes no memory */
		producer->lacking_since = 0;
	}
	producer->stats.frames += slab != NULL;
	int count = 0;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && put_to(sub, &entry, frame->note, slab, now)) {
			count++;
		}
	}
	producer->present = frame->gid != GID_NONE ? frame->gid : producer->present;
	keep_shown(producer, &entry, frame->note, slab);
	if (producer->consumers > 0) { /* also of what they got before, and is outdated now */
		start_lease(producer, now);
	}
	if (producer->timeline != NULL) {
		write_sent(producer, frame);
	}
	return count;
}

/* What was put becomes known, and what that led to is done. Runs callbacks. */
static void finish_sending(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead) {
			publish_to(sub);
		}
	}
	gid_producer_settle(producer);
}

/* Which of the frames lie in slots that nobody has lost since they had these gids: a bit each. */
static inline uint32_t find_present(
		struct gid_domain *domain, const struct gid_frame *frames, uint32_t count) {
	_Static_assert(GID_BURST_MAX <= 32, "a bit for each frame");
	uint32_t present = 0;
	for (uint32_t i = 0; i < count; i++) {
		present |= (uint32_t)gid_slab_is_present(domain, frames[i].gid) << i;
	}
	return present;
}

/*
 * Before frames are sent: collects what came back and is over, and gives the frames the gids that
 * they have then. False: there is nothing to send to any more.
 */
static bool begin_sending(struct gid_producer *producer, struct gid_frame *frames, uint32_t count,
		uint64_t now) {
	if (producer->busy > 1) {
		/* A callback sends: what the call around it took back must not be forgotten. */
		gid_producer_settle(producer);
	}
	struct gid_domain *domain = producer->domain;
	/* A slot may be taken back from somebody now, and so get another gid, as by moving. */
	uint32_t renamed = domain == NULL ? 0 : domain->renamed;
	uint32_t present = domain == NULL ? 0 : find_present(domain, frames, count);
	collect_all(producer);
	if (producer->lease.next != NULL && producer->lease.deadline <= now) {
		gid_producer_run_leases(producer, now);
	}
	if (producer->destroyed || producer->domain == NULL) {
		return false;
	}
	for (uint32_t i = 0; domain->renamed != renamed && i < count; i++) {
		if ((present >> i & 1) != 0) {
			frames[i].gid = gid_slab_present_gid(domain, frames[i].gid);
		}
	}
	return true;
}

/*
 * A point that has a gid alone is of the frame that was last submitted: with a timeline frames are
 * sent after what was taken back before them.
 */
static inline uint64_t time_of_sending(const struct gid_producer *producer, uint64_t now) {
	return producer->timeline != NULL ? gid_clock_now() : now;
}

int gid_producer_send(struct gid_producer *producer, struct gid_frame *frame) {
	gid_producer_enter(producer);
	int count = -EPIPE;
	uint64_t now = gid_clock_now();
	if (begin_sending(producer, frame, 1, now)) {
		count = put_to_all(producer, frame, time_of_sending(producer, now));
		finish_sending(producer);
	}
	gid_producer_leave(producer);
	return count;
}

/* A frame that nobody took: its slot is free, unless it is held for another reason. */
static void finish_untaken(struct gid_producer *producer, gid_id gid) {
	struct gid_slab *slab = gid_slab_find_of_domain(producer->domain, gid_slab_key(gid));
	gid_slab_hold(slab, gid_slot_of(gid));
	producer->untaken = gid;
	producer->unsettled = true;
	finish_sending(producer);
}

int gid_producer_send_burst(
		struct gid_producer *producer, struct gid_frame *frames, uint32_t count) {
	if (count == 0 || count > GID_BURST_MAX) {
		return -EINVAL;
	}
	gid_producer_enter(producer);
	uint64_t now = gid_clock_now();
	int ret = begin_sending(producer, frames, count, now) ? 0 : -EPIPE;
	uint32_t sent = 0;
	while (ret >= 0 && sent < count && !producer->destroyed && producer->domain != NULL) {
		gid_id gid = frames[sent].gid;
		ret = put_to_all(producer, &frames[sent], time_of_sending(producer, now));
		sent += ret >= 0;
		if (ret == 0 && gid != GID_NONE) {
			finish_untaken(producer, gid);
		} else if (ret >= 0 && producer->unsettled) {
			finish_sending(producer); /* the next frame may need what was taken back */
		}
	}
	if (!producer->destroyed && producer->domain != NULL) {
		finish_sending(producer);
	}
	gid_producer_leave(producer);
	return sent > 0 ? (int)sent : ret;
}

/* --- slots that are needed now ---------------------------------------------------------------- */

/* The oldest picture in flight that was sent after `after`; false where there is none. */
static bool find_oldest(
		struct gid_producer *producer, uint64_t after, struct gid_ring_sent *oldest) {
	oldest->in_flight = false;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		for (uint32_t i = 0; !sub->dead && i < sub->ring.entries; i++) {
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
		for (uint32_t i = 0; !sub->dead && i < sub->ring.entries; i++) {
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

/* Takes back one consumer's entries that lie in the slot, and older ones that it left unread. */
static void free_slot(struct gid_subscription *subscription, gid_id gid, bool force) {
	struct gid_ring_producer *ring = &subscription->ring;
	struct gid_producer *producer = subscription->producer;
	for (uint32_t i = 0; !subscription->dead && i < ring->entries; i++) {
		struct gid_ring_sent wanted = ring->sent[i], taken;
		if (!wanted.in_flight || wanted.gid != gid) {
			continue;
		}
		int got;
		while ((got = gid_ring_take_back(ring, wanted.index + 1, &taken)) == 1) {
			subscription->dropped += taken.gid != GID_NONE;
			producer->stats.dropped += taken.gid != GID_NONE;
			let_go(subscription, taken.gid, false);
		}
		if (got < 0) {
			gid_subscription_end(subscription, GID_END_BROKEN, got);
		} else if (force && gid_ring_take_by_force(ring, wanted.index, &taken)) {
			subscription->leases_expired++;
			producer->stats.leases_expired++;
			let_go(subscription, taken.gid, true);
		}
	}
}

static void look_at_claims(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && gid_ring_look(&sub->ring) < 0) {
			gid_subscription_end(sub, GID_END_BROKEN, -EPROTO);
		}
	}
}

/* Frees the oldest slot that can be, unless one was freed since. */
static void free_oldest(struct gid_producer *producer, uint64_t freed, bool force) {
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
}

int gid_producer_reclaim(struct gid_producer *producer, bool force) {
	gid_producer_enter(producer);
	uint64_t freed = producer->freed;
	collect_all(producer);
	look_at_claims(producer);
	free_oldest(producer, freed, force);
	if (producer->freed == freed && producer->has_shown) {
		/* who comes late has to wait for the next one */
		gid_producer_forget_shown(producer);
		free_oldest(producer, freed, force);
	}
	bool any = producer->freed != freed;
	gid_producer_leave(producer);
	return any;
}
