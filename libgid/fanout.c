// SPDX-License-Identifier: MIT
/**
 * How the frames of a producer go out: one ring for each consumer, one count of holders for each
 * slot.
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

/* --- into a ring ------------------------------------------------------------------------------ */

/*
 * Reclaims the oldest picture that the consumer has not claimed. Its slot is let go only after the
 * new frame is counted for all consumers: both may lie in the same slot. Returns 1; 0: all pictures
 * are claimed; -EPROTO.
 */
static int drop_oldest(struct gid_subscription *subscription) {
	struct gid_ring_sent oldest, taken;
	int found;
	while ((found = gid_ring_oldest_unread(&subscription->ring, &oldest)) == 1) {
		while ((found = gid_ring_take_back(
					&subscription->ring, oldest.index + 1, &taken)) == 1) {
			if (taken.gid != GID_NONE) {
				subscription->victim = taken.gid;
				gid_subscription_count_dropped(subscription);
				subscription->producer->has_deferred = true;
				return 1;
			}
		}
		if (found < 0) {
			break;
		}
	}
	return found;
}

/* By futex or by doorbell, whichever the consumer waits on. */
static __attribute__((noinline)) void wake_consumer(const struct gid_subscription *subscription) {
	const struct gid_ring_producer *ring = &subscription->ring;
	subscription->producer->stats.doorbells++;
	if (__atomic_load_n(&ring->page->wake, __ATOMIC_RELAXED) == GID_WIRE_FUTEX) {
		gid_sleep_wake_futex((const uint32_t *)&ring->ring->tail);
	} else {
		gid_doorbell_ring(&subscription->doorbell);
	}
}

/*
 * Frames that go into all rings in one step: either pictures of one slab, each another one than the
 * picture before it, for which every ring has room; or a single frame of any kind.
 */
struct batch {
	struct gid_frame *frames;
	uint32_t count;
	bool plain; /* pictures that fit in an entry's first line, without checks: no `entries` */
	bool alone; /* the only batch of its call: published while it is put */
	/*
	 * From now on the stream shows another picture, so the lease of those before it begins.
	 * False for the same picture sent again, and for an entry without a picture.
	 */
	bool other;
	uint64_t now;
	struct gid_slab *slab; /* NULL: no picture */
	struct gid_wire_frame entries[GID_BURST_MAX];
	struct gid_wire_check checks[GID_BURST_MAX]; /* of pictures, where they have checks */
};

static inline bool has_checks(const struct gid_producer *producer, const struct batch *batch) {
	return producer->make_check != NULL && batch->slab != NULL;
}

/* Afterwards nothing of the entry may change. */
static __attribute__((noinline)) int make_check(const struct gid_producer *producer,
		struct batch *batch, uint32_t number, const struct gid_frame *frame) {
	struct gid_check check = {0};
	memcpy(check.descriptor, &batch->entries[number].gid, sizeof(check.descriptor));
	int error = producer->make_check(producer->check_data, frame, batch->slab, &check);
	batch->checks[number].kind = check.kind;
	memcpy(batch->checks[number].words, check.bytes, sizeof(check.bytes));
	return error;
}

static inline __attribute__((always_inline)) void wake_if_asleep(
		struct gid_subscription *subscription) {
	if (RING_RARELY(gid_ring_should_wake_consumer(&subscription->ring))) {
		wake_consumer(subscription);
	}
}

/*
 * Publishes to one consumer after the other. A ring is only shown (a plain store) once it is known
 * that another ring follows it. Publishing the last one is a full fence, which covers the stores to
 * all; only then are sleeping consumers woken. Returns the consumer that is the last one so far.
 */
static inline __attribute__((always_inline)) struct gid_subscription *show_to_other(
		struct gid_subscription *last, struct gid_subscription *next,
		const struct gid_producer *producer) {
	if (last != NULL) {
		gid_subscription_tell_counts(last, producer);
		gid_ring_show(&last->ring);
	}
	return next;
}

/* Publishes to the last consumer, if there is one, and wakes all consumers that sleep. */
static inline __attribute__((always_inline)) void publish_to_last(
		struct gid_subscription *last, const struct gid_producer *producer) {
	if (last == NULL) {
		return;
	}
	gid_subscription_tell_counts(last, producer);
	gid_ring_publish(&last->ring);
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead) {
			wake_if_asleep(sub);
		}
	}
}

/* Publishes to this consumer alone, and wakes it. */
static void publish_to(struct gid_subscription *subscription) {
	gid_subscription_tell_counts(subscription, subscription->producer);
	gid_ring_publish(&subscription->ring);
	wake_if_asleep(subscription);
}

static inline bool has_unpublished(const struct gid_subscription *subscription) {
	return subscription->ring.published != subscription->ring.tail;
}

/* Counts the consumers that took the batch as holders of its slots. */
static void hold_for(struct gid_producer *producer, const struct batch *batch, uint32_t takers) {
	if (batch->slab == NULL || takers == 0) {
		return;
	}
	producer->stats.delivered += (uint64_t)batch->count * takers;
	gid_slab_stay(batch->slab, batch->count * takers);
	struct gid_slab_slot *const slots = batch->slab->slots;
	const struct gid_frame *const frames = batch->frames;
	for (uint32_t i = 0; i < batch->count; i++) {
		slots[gid_slot_of(frames[i].gid)].use += takers;
	}
}

static inline __attribute__((always_inline)) struct gid_wire_entry make_line(
		const void *frames, uint32_t number) {
	return gid_wire_make_line((const struct gid_frame *)frames + number);
}

static __attribute__((noinline)) uint32_t put_entries(
		struct gid_subscription *subscription, const struct batch *batch) {
	struct gid_ring_producer *ring = &subscription->ring;
	const bool checked = has_checks(subscription->producer, batch);
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct gid_wire_frame *entry = &batch->entries[i];
		if (gid_ring_put(ring, entry, batch->frames[i].note, batch->now) != 1) {
			return i;
		}
		if (checked) {
			gid_ring_put_check(ring, &batch->checks[i]);
		}
	}
	return batch->count;
}

static __attribute__((noinline)) uint32_t put_lines(
		struct gid_subscription *subscription, const struct batch *batch) {
	return gid_ring_put_lines(
			&subscription->ring, batch->count, make_line, batch->frames, batch->now);
}

/* Returns how many of the frames there was room for. */
static uint32_t put_frames(struct gid_subscription *subscription, const struct batch *batch) {
	if (!batch->plain) {
		return put_entries(subscription, batch);
	}
	return put_lines(subscription, batch);
}

/* Makes room by what the consumer did not read yet, and puts the frame in: 1, 0 or -EPROTO. */
static int put_for_old(struct gid_subscription *subscription, const struct batch *batch) {
	if (has_unpublished(subscription)) {
		publish_to(subscription);
	}
	int dropped = drop_oldest(subscription);
	return dropped == 1 ? (int)put_frames(subscription, batch) : dropped;
}

/* Waits for gidd, unless the producer never does. */
static int grant_now(const struct gid_subscription *subscription, struct gid_slab *slab) {
	bool waits = subscription->producer->options.granted == NULL;
	return waits ? gid_slab_grant(slab, subscription->domain) : -ENOTCONN;
}

/* The slow path for a single frame: a grant is missing, or room, or memory in a window. */
static __attribute__((noinline)) bool put_hard(
		struct gid_subscription *subscription, const struct batch *batch) {
	struct gid_producer *producer = subscription->producer;
	struct gid_slab *slab = batch->slab;
	bool seen = slab == NULL || gid_subscription_can_see(subscription, slab);
	bool granted = slab == NULL || !seen || !gid_subscription_needs_grant(subscription, slab);
	int error = granted ? 0 : grant_now(subscription, slab);
	int sent = error < 0 || !seen ? 0 : (int)put_frames(subscription, batch);
	if (sent == 0 && error == 0 && slab != NULL && seen && subscription->drop_old) {
		error = put_for_old(subscription, batch);
		sent = error == 1;
	}
	/* Without gidd this frame gets no grant, but a later one may: the subscription stays. */
	if (error < 0 && error != -ENOTCONN && error != -ETIMEDOUT) {
		subscription->failed = error;
		producer->has_deferred = true;
	}
	if (sent == 0) {
		subscription->missed = slab != NULL && seen && error == 0;
		if (subscription->missed && producer->options.patient) {
			gid_subscription_give_up(subscription);
		}
		if (slab != NULL) {
			gid_subscription_count_dropped(subscription);
			/* The next frame may be far off. */
			gid_subscription_tell_counts(subscription, producer);
		}
	}
	return sent == 1;
}

/* Whether the consumer can see the slab's memory and may read it already. */
static inline bool takes(const struct gid_subscription *subscription, const struct gid_slab *slab,
		const struct gid_domain *own) {
	return gid_subscription_can_see(subscription, slab) &&
			gid_subscription_may_read(subscription, slab, own);
}

/* After a successful put: from this entry on the consumer has what the stream shows. */
static inline void note_put(struct gid_subscription *subscription, bool other) {
	subscription->missed = false;
	if (other || subscription->newest == UINT64_MAX) {
		subscription->newest = subscription->ring.tail - 1;
	}
}

/* The slow path of put_to(). */
static __attribute__((noinline)) bool put_slowly(
		struct gid_subscription *subscription, const struct batch *batch) {
	subscription->newest = batch->other ? UINT64_MAX : subscription->newest;
	return put_hard(subscription, batch);
}

/*
 * Returns whether the frames are in the consumer's ring; they still have to be published. Runs no
 * callback. Inline: there is one call for each consumer, which would cost a third as much as the
 * work.
 */
static inline __attribute__((always_inline)) bool put_to(struct gid_subscription *subscription,
		const struct batch *batch, const struct gid_domain *own) {
	const struct gid_slab *slab = batch->slab;
	uint32_t put = 0;
	if (batch->other) {
		gid_ring_outdate(&subscription->ring, subscription->newest, batch->now);
	}
	if (slab == NULL || batch->count > 1 || takes(subscription, slab, own)) {
		put = put_frames(subscription, batch);
	}
	bool sent = put == batch->count || put_slowly(subscription, batch);
	if (sent) {
		note_put(subscription, batch->other);
	}
	return sent;
}

/* put_to() for what nearly every frame is: one picture that fits in an entry's first line. */
static inline __attribute__((always_inline)) bool put_picture_to(
		struct gid_subscription *subscription, const struct batch *batch,
		const struct gid_slab *slab, const struct gid_domain *own, bool other) {
	const uint64_t now = batch->now;
	if (other) {
		gid_ring_outdate(&subscription->ring, subscription->newest, now);
	}
	if (RING_RARELY(!takes(subscription, slab, own)) ||
			RING_RARELY(!gid_ring_put_line(&subscription->ring,
					gid_wire_make_line(batch->frames), now))) {
		if (!put_slowly(subscription, batch)) {
			return false;
		}
	}
	note_put(subscription, other);
	return true;
}

static __attribute__((noinline)) uint32_t put_picture_to_all(
		struct gid_producer *producer, const struct batch *batch) {
	const struct gid_slab *const slab = batch->slab;
	const struct gid_domain *const own = producer->domain;
	const bool other = batch->other, alone = batch->alone;
	struct gid_subscription *last = NULL;
	uint32_t takers = 0;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (sub->dead || !put_picture_to(sub, batch, slab, own, other)) {
			continue;
		}
		takers++;
		if (alone) {
			last = show_to_other(last, sub, producer);
		}
	}
	publish_to_last(last, producer);
	return takers;
}

static __attribute__((noinline)) uint32_t put_others_to_all(
		struct gid_producer *producer, const struct batch *batch) {
	struct gid_subscription *last = NULL;
	uint32_t takers = 0;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (sub->dead || !put_to(sub, batch, producer->domain)) {
			continue;
		}
		takers++;
		if (batch->alone) {
			last = show_to_other(last, sub, producer);
		}
	}
	publish_to_last(last, producer);
	return takers;
}

/* Returns how many consumers get the frames. Runs no callback. */
static inline uint32_t put_to_all(struct gid_producer *producer, const struct batch *batch) {
	producer->stats.frames += batch->slab != NULL ? batch->count : 0;
	uint32_t takers = batch->plain && batch->count == 1 ? put_picture_to_all(producer, batch)
							    : put_others_to_all(producer, batch);
	hold_for(producer, batch, takers);
	return takers;
}

/* --- what is shown, for who comes late -------------------------------------------------------- */

/* The end of a film or a seek has no picture, and leaves the last one shown unless it hides it. */
static __attribute__((noinline)) void keep_shown(
		struct gid_producer *producer, const struct batch *batch) {
	const struct gid_frame *frame = &batch->frames[0];
	struct gid_slab *slab = batch->slab;
	if (slab == NULL && (frame->flags & GID_FRAME_HIDDEN) == 0) {
		return;
	}
	if (slab != NULL) {
		gid_slab_hold(slab, gid_slot_of(frame->gid), 1);
	}
	producer->outdated = producer->shown.gid;
	producer->has_deferred |= producer->outdated != GID_NONE;
	if (batch->plain) {
		gid_wire_put_picture(&producer->shown, frame);
	} else {
		producer->shown = batch->entries[0];
	}
	producer->has_shown = true;
	if (frame->note_size > 0) {
		memcpy(&producer->shown_note, frame->note, frame->note_size);
	}
}

/* The check covers the frame's times, which are others when it is sent again. */
static int check_shown(struct gid_producer *producer, struct batch *batch) {
	struct gid_frame frame;
	int error = gid_wire_get_frame(
			&frame, &batch->entries[0], gid_domain_of(batch->entries[0].gid));
	return error < 0 ? error : make_check(producer, batch, 0, &frame);
}

void gid_producer_send_shown(struct gid_producer *producer, struct gid_subscription *subscription) {
	struct gid_frame noted = {.note = &producer->shown_note};
	struct batch batch;
	batch.frames = &noted;
	batch.count = 1;
	batch.plain = false;
	batch.now = gid_clock_now();
	batch.slab = NULL;
	struct gid_wire_frame *frame = &batch.entries[0];
	/* What a callback sent to it just now may have ended it. */
	if (!producer->has_shown || subscription->dead) {
		return;
	}
	*frame = producer->shown;
	/* Its slab may have another number by now. */
	struct gid_domain *domain = producer->domain;
	frame->gid = gid_slab_present_gid(domain, frame->gid, domain->renamed);
	if (frame->gid != GID_NONE &&
			gid_slab_find_sendable(domain, frame->gid, &producer->slab_memo,
					&batch.slab) < 0) {
		return;
	}
	/* That nobody waits for: we are dispatching. A slab that moved has no grants any more. */
	if (batch.slab != NULL && gid_subscription_can_see(subscription, batch.slab) &&
			gid_subscription_needs_grant(subscription, batch.slab) &&
			gid_producer_grant_slabs(producer, subscription) < 0) {
		return;
	}
	noted.gid = frame->gid;
	batch.other = frame->gid != GID_NONE && frame->gid != producer->present;
	frame->submit_time = batch.now;
	if (frame->present_time != 0 && ~frame->present_time < batch.now) {
		frame->present_time = ~batch.now;
	}
	producer->shown_again = batch.now;
	if (has_checks(producer, &batch) && check_shown(producer, &batch) < 0) {
		return;
	}
	if (!put_to(subscription, &batch, domain)) {
		return;
	}
	if (batch.slab != NULL) {
		gid_slab_hold(batch.slab, gid_slot_of(frame->gid), 1);
		producer->stats.delivered++;
	}
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
		/* Its next release rings, even where the producer is `quiet`. */
		gid_ring_producer_sleep(&sub->ring);
		gid_subscription_collect(sub);
		if (!sub->dead && gid_ring_has_room(&sub->ring)) {
			gid_producer_send_shown(producer, sub);
			gid_producer_start_lease(producer, gid_clock_now());
		}
	}
}

static void let_go_all(struct gid_producer *producer) {
	gid_producer_let_go_own(producer, &producer->untaken);
	gid_producer_let_go_own(producer, &producer->outdated);
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		gid_id victim = sub->victim;
		int failed = sub->failed;
		sub->victim = GID_NONE;
		sub->failed = 0;
		if (victim != GID_NONE) {
			gid_subscription_let_go(sub, victim, false);
		}
		if (failed < 0) {
			gid_subscription_end(sub, GID_END_BROKEN, failed);
		}
	}
	/* Cleared last: a callback that sends must find the rest of this work. */
	producer->has_deferred = false;
}

static inline void run_deferred(struct gid_producer *producer) {
	gid_producer_report_freed(producer);
	if (producer->has_deferred) {
		let_go_all(producer);
	}
	if (producer->options.keeps_shown) {
		gid_producer_catch_up(producer);
	}
}

void gid_producer_run_deferred(struct gid_producer *producer) {
	run_deferred(producer);
}

/* The picture's slab, or NULL where there is no picture. */
static inline __attribute__((always_inline)) int find_slab(
		struct gid_producer *producer, gid_id gid, struct gid_slab **slab) {
	*slab = NULL;
	if (gid == GID_NONE) {
		return 0;
	}
	int error = gid_slab_find_sendable(producer->domain, gid, &producer->slab_memo, slab);
	if (error < 0 || producer->slab_last == gid_slab_key(gid)) {
		return error;
	}
	return gid_producer_add_slab(producer, gid);
}

/* How many frames one batch can have: as many as every consumer has room for, but at least one. */
static uint32_t find_room(const struct gid_producer *producer, uint32_t most) {
	if (producer->consumers == 0 || producer->options.keeps_shown) {
		return 1;
	}
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		uint32_t room = sub->dead ? most : gid_ring_room(&sub->ring);
		most = room < most ? room : most;
	}
	return most == 0 ? 1 : most;
}

static bool all_take(const struct gid_producer *producer, const struct gid_slab *slab) {
	const struct gid_subscription *sub = producer->subscriptions;
	while (sub != NULL && (sub->dead || takes(sub, slab, producer->domain))) {
		sub = sub->next;
	}
	return sub == NULL;
}

/* Finds the slab of the first frame, and how many can be in one batch with it at most. */
static inline __attribute__((always_inline)) int begin_batch(
		struct gid_producer *producer, uint32_t most, struct batch *batch) {
	gid_id first = batch->frames[0].gid;
	int error = find_slab(producer, first, &batch->slab);
	const struct gid_slab *slab = batch->slab;
	if (error == 0 && slab != NULL && producer->options.granted != NULL) {
		error = gid_producer_request_grants(producer, batch->slab, first);
		if (error == -ENOTCONN || error == -ETIMEDOUT) {
			error = 0; /* consumers that have their grant already still get the frame */
		}
	}
	/* Gids of an imported slab, or of one without generations, need a look at each of them. */
	bool single = most == 1 || error < 0 || slab == NULL || slab->info.imported ||
			slab->generations == NULL || first == producer->present ||
			!all_take(producer, slab);
	batch->count = single ? 1 : most;
	return error;
}

/* Whether a frame that is not the first one goes into the batch with that before it. */
static inline bool goes_with(const struct batch *batch, const struct gid_frame *frame) {
	return frame->gid != frame[-1].gid && gid_slab_has(batch->slab, frame->gid);
}

/* Makes entries of the frames, up to the first that cannot be one, or be in the batch. */
static __attribute__((noinline)) int make_entries(
		struct gid_producer *producer, struct batch *batch) {
	const bool checked = has_checks(producer, batch);
	for (uint32_t i = 0; i < batch->count; i++) {
		struct gid_frame *frame = &batch->frames[i];
		if (i > 0 && !goes_with(batch, frame)) {
			batch->count = i;
			return 0;
		}
		if (frame->metadata != GID_NONE) {
			gid_producer_bind_metadata(producer, frame);
		}
		if (frame->present_time < producer->shown_again) {
			frame->present_time = producer->shown_again; /* never back */
		}
		frame->submit_time = batch->now;
		frame->sequence = producer->sequence + 1;
		int error = gid_wire_put_frame(&batch->entries[i], frame);
		if (error == 0 && checked) {
			error = make_check(producer, batch, i, frame);
		}
		if (error < 0) {
			batch->count = i;
			return i == 0 ? error : 0;
		}
		producer->sequence++;
	}
	return 0;
}

/* Sets the frame's time and number. */
static inline void name_frame(struct gid_frame *frame, uint64_t now, uint64_t sequence) {
	frame->submit_time = now;
	frame->sequence = sequence;
}

/*
 * name_frame() for the frames behind the first one, up to one that is not plain or cannot be in the
 * same batch. Returns how many frames the batch has.
 */
static __attribute__((noinline)) uint32_t name_rest(
		const struct batch *batch, uint32_t most, uint64_t first) {
	const struct gid_slab_own own = gid_slab_own(batch->slab);
	const uint64_t now = batch->now;
	struct gid_frame *const frames = batch->frames;
	gid_id before = frames[0].gid;
	for (uint32_t i = 1; i < most; i++) {
		struct gid_frame *frame = &frames[i];
		const gid_id gid = frame->gid;
		if (gid == before || !gid_slab_own_has(&own, gid) || !gid_wire_is_plain(frame)) {
			return i;
		}
		name_frame(frame, now, first + i);
		before = gid;
	}
	return most;
}

/* Plain frames get no entries, which would cost one more copy for each consumer. */
static inline __attribute__((always_inline)) int fill_batch(
		struct gid_producer *producer, struct batch *batch) {
	struct gid_frame *frame = batch->frames;
	batch->plain = batch->slab != NULL && producer->make_check == NULL &&
			gid_wire_is_plain(frame);
	if (!batch->plain) {
		return make_entries(producer, batch);
	}
	const uint64_t first = producer->sequence + 1;
	name_frame(frame, batch->now, first);
	if (batch->count > 1) {
		batch->count = name_rest(batch, batch->count, first);
	}
	producer->sequence += batch->count;
	return 0;
}

/*
 * Puts up to `most` frames, as many as one batch can have and at least one, into the rings of all
 * consumers; `*count` says how many. A batch that is `alone` is published, too. Returns how many
 * consumers take the frames, or -errno. Runs no callback. Inline, so that sending one frame has no
 * loop over one.
 */
static inline __attribute__((always_inline)) int put_some(struct gid_producer *producer,
		struct gid_frame *frames, uint32_t most, bool alone, uint64_t now,
		uint32_t *count) {
	struct batch batch;
	batch.frames = frames;
	batch.alone = alone;
	batch.now = now;
	int error = begin_batch(producer, most == 1 ? 1 : find_room(producer, most), &batch);
	if (error == 0) {
		error = fill_batch(producer, &batch);
	}
	if (error < 0) {
		return error;
	}
	bool again = frames[0].gid == producer->present;
	if (!again) { /* the same picture again needs no memory */
		producer->lacking_since = 0;
	}
	batch.other = !again && frames[0].gid != GID_NONE;
	uint32_t takers = put_to_all(producer, &batch);
	*count = batch.count;
	gid_id last = frames[most == 1 ? 0 : batch.count - 1].gid;
	producer->present = last != GID_NONE ? last : producer->present;
	if (producer->options.keeps_shown) {
		keep_shown(producer, &batch);
	}
	/* Also where nobody takes it: pictures sent before are outdated now. */
	if (producer->consumers > 0) {
		gid_producer_start_lease(producer, now);
	}
	for (uint32_t i = 0; producer->timeline != NULL && i < batch.count; i++) {
		write_sent(producer, &frames[i]);
	}
	return (int)takers;
}

/* Publishes what was put, and does what sending deferred. Runs callbacks. */
static void finish_sending(struct gid_producer *producer) {
	struct gid_subscription *last = NULL;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && has_unpublished(sub)) {
			last = show_to_other(last, sub, producer);
		}
	}
	publish_to_last(last, producer);
	run_deferred(producer);
}

/* Slots were renamed meanwhile: a frame gets the gid that its slot has now. */
static __attribute__((noinline)) void rename_frames(struct gid_domain *domain,
		struct gid_frame *frames, uint32_t count, uint32_t since) {
	for (uint32_t i = 0; i < count; i++) {
		frames[i].gid = gid_slab_present_gid(domain, frames[i].gid, since);
	}
}

/*
 * For a frame that was refused because its generation is not the slot's. Where the program has
 * taken the slot and nobody holds it, no frame of ours has changed the generation: either the
 * machine was restored to an earlier state, or somebody else wrote the table. The slot is right, so
 * the frame gets the gid that readers know the slot by. Returns whether it did.
 */
static bool rename_taken(struct gid_domain *domain, struct gid_frame *frame) {
	const struct gid_slab *slab = gid_slab_find(domain, frame->gid);
	uint32_t slot = gid_slot_of(frame->gid);
	if (slab == NULL || slab->slots == NULL || gid_slab_has(slab, frame->gid) ||
			(slab->slots[slot].use & ~GID_SLOT_FORCED) != GID_SLOT_TAKEN) {
		return false;
	}
	frame->gid = gid_slab_gid(slab, slot);
	return true;
}

static __attribute__((noinline)) int put_renamed(struct gid_producer *producer,
		struct gid_frame *frame, bool alone, uint64_t now, uint32_t *count) {
	return rename_taken(producer->domain, frame)
			? put_some(producer, frame, 1, alone, now, count)
			: -EINVAL;
}

/*
 * Before frames are sent: collects releases, runs leases that are over, and gives the frames the
 * gids that their slots have then. False: there is nothing to send to any more.
 */
static inline __attribute__((always_inline)) bool begin_sending(struct gid_producer *producer,
		struct gid_frame *frames, uint32_t count, uint64_t now) {
	if (producer->busy > 1) {
		/* A callback sends: first finish the deferred work of the call around it. */
		gid_producer_run_deferred(producer);
	}
	struct gid_domain *domain = producer->domain;
	/* A slot that is reclaimed by force, or moves, gets another gid. */
	uint32_t renamed = domain == NULL ? 0 : domain->renamed;
	gid_producer_collect_all(producer);
	if (producer->lease.next != NULL && producer->lease.deadline <= now) {
		gid_producer_run_leases(producer, now);
	}
	if (producer->destroyed || producer->domain == NULL) {
		return false;
	}
	if (domain->renamed != renamed) {
		rename_frames(domain, frames, count, renamed);
	}
	return true;
}

/*
 * A point of the timeline that has only a gid is about the last frame that was submitted with it.
 * So with a timeline the time is taken again, after the points of what was reclaimed.
 */
static inline uint64_t time_of_sending(const struct gid_producer *producer, uint64_t now) {
	return producer->timeline != NULL ? gid_clock_now() : now;
}

int gid_producer_send(struct gid_producer *producer, struct gid_frame *frame) {
	gid_producer_enter(producer);
	int count = -EPIPE;
	uint64_t now = gid_clock_now();
	if (begin_sending(producer, frame, 1, now)) {
		/* A timeline gets the SUBMIT point before a reader can write RECEIVE. */
		const bool alone = producer->timeline == NULL;
		uint32_t one;
		count = put_some(producer, frame, 1, alone, time_of_sending(producer, now), &one);
		if (RING_RARELY(count == -EINVAL)) {
			count = put_renamed(producer, frame, alone, now, &one);
		}
		if (RING_RARELY(!alone)) {
			finish_sending(producer);
		} else {
			run_deferred(producer);
		}
	}
	gid_producer_leave(producer);
	return count;
}

/* A frame that nobody took: its slot is free, unless it is held for another reason. */
static void finish_untaken(struct gid_producer *producer, gid_id gid) {
	struct gid_slab *slab = gid_slab_find_of_domain(producer->domain, gid_slab_key(gid));
	gid_slab_hold(slab, gid_slot_of(gid), 1);
	producer->untaken = gid;
	producer->has_deferred = true;
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
		uint32_t some = 0;
		gid_id gid = frames[sent].gid;
		ret = put_some(producer, &frames[sent], count - sent, false,
				time_of_sending(producer, now), &some);
		if (RING_RARELY(ret == -EINVAL)) {
			ret = put_renamed(producer, &frames[sent], false, now, &some);
			gid = frames[sent].gid;
		}
		sent += some;
		if (ret == 0 && gid != GID_NONE) {
			finish_untaken(producer, gid);
		} else if (ret >= 0 && producer->has_deferred) {
			/* The next frame may need a slot that was reclaimed. */
			finish_sending(producer);
		}
	}
	if (!producer->destroyed && producer->domain != NULL) {
		finish_sending(producer);
	}
	gid_producer_leave(producer);
	return sent > 0 ? (int)sent : ret;
}
