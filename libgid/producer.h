// SPDX-License-Identifier: MIT
/**
 * A producer's inside, shared by producer.c (its life, its stream at gidd), fanout.c (frames out),
 * return.c (frames back), lease.c (what is taken back), metadata.c (what lies beside frames) and
 * stream_grants.c (who may read what is sent).
 */
#ifndef GID_PRODUCER_H
#define GID_PRODUCER_H

#include "loop.h"
#include "slab_object.h"
#include "subscriber.h"

/* A producer that has not reported a lack of memory for so long has memory again. */
#define GID_LACKING_NS UINT64_C(2000000000)

struct gid_producer {
	/* --- used with each frame: together, so that those of many streams fit in the caches ---
	 */
	struct gid_domain *domain; /* NULL once that was destroyed */
	struct gid_subscription *subscriptions;
	uint32_t consumers;
	/*
	 * Calls under way. Callbacks may call us again, and even destroy us: subscriptions and the
	 * producer itself are freed when the outermost call ends.
	 */
	uint32_t busy;
	bool has_dead, destroyed;
	bool has_deferred; /* gid_producer_run_deferred() has something to do */
	bool wants_shown;
	uint32_t slab_last; /* key of the slab of the frame before; 0: none */
	struct gid_slab_memo slab_memo;
	uint64_t sequence;
	/* When the last picture was sent again, ns: no later frame gets an earlier present_time. */
	uint64_t shown_again;
	gid_id present;			 /* the picture that was sent last */
	uint32_t freed_first, freed_end; /* of freed_slots: those that are yet to be reported */
	uint64_t freed;			 /* slots whose last holder let go, ever */
	/*
	 * A lack of memory, ns: when it was first reported since the last new picture, and when
	 * last. 0: never.
	 */
	uint64_t lacking_since, lacking_at;
	struct gid_timer lease;	       /* armed while something is in flight */
	struct gid_timeline *timeline; /* NULL: none */
	gid_check_func make_check;     /* NULL: frames have no checks */
	void *check_data;
	struct gid_producer_stats stats;
	struct gid_producer_options options;

	/* --- the rest --- */
	struct gid_endpoint endpoint;
	char name[GID_NAME_MAX + 1];
	uint32_t stream; /* gidd's number; 0 while gidd does not know us */
	struct gid_loop loop;
	struct gid_subscription *joining; /* gidd was asked for memory for their rings */
	/*
	 * With `keeps_shown`: what the stream shows, for consumers that subscribe later. Its gid is
	 * GID_NONE while no slot is held for that. `outdated` is what was held before, until
	 * callbacks may run.
	 */
	struct gid_wire_frame shown;
	struct gid_wire_note shown_note;
	bool has_shown;
	gid_id outdated;
	gid_id untaken;			      /* likewise: a frame of a burst that nobody took */
	gid_id freed_slots[GID_RING_ENTRIES]; /* that a consumer let go last, and nobody holds */
	uint32_t *slabs;		      /* keys of those that were sent */
	uint32_t slab_count, slab_space;
	struct gid_stream_grant *grants;	     /* that gidd was asked for */
	uint64_t copy_reasons[GID_COPY_REASONS_MAX]; /* of stats.copied_frames */
	struct gid_metadata *metadata;		     /* NULL: there was none yet */
};

/* Frees what ended meanwhile, as the outermost call ends. */
void gid_producer_clean_up(struct gid_producer *producer);

/*
 * Every function that may run a callback is between these two. `producer` may be gone afterwards.
 */
static inline void gid_producer_enter(struct gid_producer *producer) {
	producer->busy++;
}

static inline void gid_producer_leave(struct gid_producer *producer) {
	if (--producer->busy == 0 && (producer->has_dead || producer->destroyed)) {
		gid_producer_clean_up(producer);
	}
}

/* Whether a patient producer does not wait for this consumer, as it asked for `drop_old`. */
static inline bool gid_subscription_gives_way(const struct gid_subscription *subscription) {
	return subscription->drop_old && subscription->producer->options.patient;
}

/*
 * Counts a frame that the consumer does not get. The producer counts it, too, unless it is patient
 * and the consumer asked to drop frames.
 */
static inline void gid_subscription_count_dropped(struct gid_subscription *subscription) {
	subscription->dropped++;
	subscription->recounted = true;
	subscription->producer->stats.dropped += !gid_subscription_gives_way(subscription);
}

/* --- fanout.c --------------------------------------------------------------------------------- */

/* Sends a new consumer what the stream shows. */
void gid_producer_send_shown(struct gid_producer *producer, struct gid_subscription *subscription);

/*
 * Sends what the stream shows to consumers that had no room for it, as the next frame may be far
 * off. To be called after releases were collected, where callbacks may run.
 */
void gid_producer_catch_up(struct gid_producer *producer);

/*
 * Does what sending deferred, since it runs callbacks: lets go of what was reclaimed for a frame.
 * Also called before the slabs are out of reach, as a callback of the same call may end the stream.
 */
void gid_producer_run_deferred(struct gid_producer *producer);

/* --- return.c --------------------------------------------------------------------------------- */

/* Collects the releases of one consumer, or of all. */
void gid_subscription_collect(struct gid_subscription *subscription);
void gid_producer_collect_all(struct gid_producer *producer);

/*
 * Calls `released` once for each slot that was let go but not reported yet, whatever the callbacks
 * call meanwhile. Also called before the producer ends: afterwards nothing may be reported.
 */
void gid_producer_report_all_freed(struct gid_producer *producer);

static inline void gid_producer_report_freed(struct gid_producer *producer) {
	if (producer->freed_first < producer->freed_end) {
		gid_producer_report_all_freed(producer);
	}
}

/* Stores in its ring, for gidctl, the counts that do not change with each frame. */
void gid_subscription_recount(struct gid_subscription *subscription);

/*
 * Stores in its ring all counts that gidctl shows: with each frame that it gets, and where the next
 * frame may be far off.
 */
static inline __attribute__((always_inline)) void gid_subscription_tell_counts(
		struct gid_subscription *subscription, const struct gid_producer *producer) {
	struct gid_wire_ring *ring = subscription->ring.ring;
	__atomic_store_n(&ring->frames, producer->stats.frames, __ATOMIC_RELAXED);
	if (RING_RARELY(subscription->recounted)) {
		gid_subscription_recount(subscription);
	}
	__atomic_store_n(&ring->held, subscription->ring.pictures, __ATOMIC_RELAXED);
}

/*
 * Ends one consumer's hold on a slot, and reports the slot if nobody holds it any more. `by_force`:
 * the consumer did not agree, and may still be reading it.
 */
void gid_subscription_let_go(struct gid_subscription *subscription, gid_id gid, bool by_force);

/*
 * Ends a hold of the producer itself: of the gid in one of its fields, or of what it keeps for
 * consumers that subscribe later.
 */
void gid_producer_let_go_own(struct gid_producer *producer, gid_id *field);
void gid_producer_forget_shown(struct gid_producer *producer);

/* Why a subscription ends. */
enum gid_subscription_end {
	GID_END_CONSUMER_LEFT, /* it reads nothing any more */
	GID_END_BROKEN,	       /* the consumer may be reading still */
	GID_END_STREAM,	       /* the stream is over, for all */
};

/* Ends one subscription: what it held comes back; gidd and `options.subscriber` hear of it. */
void gid_subscription_end(
		struct gid_subscription *subscription, enum gid_subscription_end end, int reason);

/* Ends all of them, as the stream is over. */
void gid_producer_end_all(struct gid_producer *producer, int reason);

/* --- lease.c ---------------------------------------------------------------------------------- */

/* Reclaims frames whose lease is over, and arms the timer for the others. */
void gid_producer_run_leases(struct gid_producer *producer, uint64_t now);

/* Arms the timer for the end of a lease that began at `since`, ns. */
void gid_producer_arm_lease(struct gid_producer *producer, uint64_t since);

/* Something was sent at `now`. Costs a system call once a lease, not once a frame. */
static inline void gid_producer_start_lease(struct gid_producer *producer, uint64_t now) {
	if (producer->lease.next == NULL) {
		gid_producer_arm_lease(producer, now);
	}
}

/* --- metadata.c ------------------------------------------------------------------------------- */

/*
 * As a frame is sent: keeps its metadata for as long as the frame is held. Metadata that belongs to
 * another stream is removed from the frame.
 */
void gid_producer_bind_metadata(struct gid_producer *producer, struct gid_frame *frame);

/* Slot 0 of the slab that metadata lies in, or GID_NONE. */
gid_id gid_producer_metadata_slab(const struct gid_producer *producer);

/* Nothing is sent any more. */
void gid_producer_end_metadata(struct gid_producer *producer);

/* --- stream_grants.c -------------------------------------------------------------------------- */

/* Remembers the slab of a frame, so that later subscribers are granted it, too. 0 or -ENOMEM. */
int gid_producer_add_slab(struct gid_producer *producer, gid_id gid);

/* Whether the consumer can see the slab's memory at all. */
static inline bool gid_subscription_can_see(
		const struct gid_subscription *sub, const struct gid_slab *slab) {
	return !sub->remote || slab->info.memory == GID_MEMORY_WINDOW;
}

/* Whether it may read the slab: it was granted, or the consumer is in the producer's own domain. */
static inline bool gid_subscription_may_read(const struct gid_subscription *sub,
		const struct gid_slab *slab, const struct gid_domain *own) {
	return sub->domain == own->number || gid_slab_is_granted(slab, sub->domain);
}

/* Whether the slab has to be granted first. */
static inline bool gid_subscription_needs_grant(
		const struct gid_subscription *sub, const struct gid_slab *slab) {
	return !gid_subscription_may_read(sub, slab, sub->producer->domain);
}

/*
 * Grants a new consumer the slabs that were sent so far. Does not wait for gidd's answers, as
 * ACCEPT follows on the same socket.
 */
int gid_producer_grant_slabs(struct gid_producer *producer, const struct gid_subscription *sub);

/*
 * Asks for the grants that consumers of a frame need, unless that was done. Returns 0: they have
 * them all, -EINPROGRESS: options.granted will be called, or why gidd cannot be asked.
 */
int gid_producer_request_grants(struct gid_producer *producer, struct gid_slab *slab, gid_id gid);

/* Asks for them before there is a frame; if that fails, the first frame asks again. */
void gid_producer_expect_slab(struct gid_producer *producer, struct gid_slab *slab);

/* Forgets the grants that gidd was asked for. */
void gid_producer_cancel_grants(struct gid_producer *producer);

#endif
