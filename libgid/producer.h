// SPDX-License-Identifier: MIT
/**
 * A producer's inside, shared by producer.c (its life), publish.c (its stream at gidd), fanout.c
 * (frames out and back), lease.c (what is taken back), stream_slabs.c (the slabs that consumers may
 * read) and producer_stats.c.
 */
#ifndef GID_PRODUCER_H
#define GID_PRODUCER_H

#include "loop.h"
#include "slab.h"
#include "subscription.h"

struct gid_producer {
	struct gid_domain *domain; /* NULL once that was destroyed */
	struct gid_endpoint endpoint;
	struct gid_producer_options options;
	char name[GID_NAME_MAX + 1];
	uint32_t stream; /* gidd's number; 0 while gidd does not know us */
	struct gid_loop loop;
	struct gid_timer lease; /* armed while something is in flight */
	struct gid_subscription *subscriptions;
	uint32_t consumers;
	/*
	 * Calls under way. Callbacks may call us again, and even destroy us: subscriptions and the
	 * producer itself are freed when the outermost call ends.
	 */
	uint32_t busy;
	bool has_dead, destroyed;
	uint64_t sequence;
	uint64_t freed;	 /* slots whose last holder let go, ever */
	uint32_t *slabs; /* keys of those that were sent */
	uint32_t slab_count, slab_space;
	struct gid_stream_grant *grants; /* that gidd was asked for */
	struct gid_producer_stats stats;
	struct gid_timeline *timeline; /* NULL: none */
};

/* Every function that may run a callback is between these two. `producer` may be gone afterwards.
 */
void gid_producer_enter(struct gid_producer *producer);
void gid_producer_leave(struct gid_producer *producer);

/* --- publish.c -------------------------------------------------------------------------------- */

/* Asks gidd for the stream's name: waits for its answer, unless options.published hears of it. */
int gid_producer_publish(struct gid_producer *producer);

/* Ends the stream, for all consumers. */
void gid_producer_unpublish(struct gid_producer *producer);

/* --- fanout.c --------------------------------------------------------------------------------- */

/* Lets go of a slot for one consumer, which by force may be reading it still. */
void gid_fanout_let_go(struct gid_producer *producer, gid_id gid, bool by_force);

/* Collects the releases of one consumer, or of all. */
void gid_fanout_collect(struct gid_subscription *subscription);
void gid_fanout_collect_all(struct gid_producer *producer);

/* Why a subscription ends. */
enum gid_fanout_end {
	GID_END_CONSUMER_LEFT, /* it reads nothing any more */
	GID_END_BROKEN,	       /* the consumer may be reading still */
	GID_END_STREAM,	       /* the stream is over, for all */
};

/* Ends one subscription: what it held comes back, gidd and the caller hear of it. */
void gid_fanout_end(struct gid_subscription *subscription, enum gid_fanout_end end, int reason);

/* Ends all of them, as the stream is over. */
void gid_fanout_end_all(struct gid_producer *producer, int reason);

/* --- lease.c ---------------------------------------------------------------------------------- */

/* Takes back what was out for too long, and arms the timer for what is left. */
void gid_lease_run(struct gid_producer *producer, uint64_t now);

/* Something was sent at `now`. Costs a system call once a lease, not once a frame. */
void gid_lease_start(struct gid_producer *producer, uint64_t now);

/* --- stream_slabs.c --------------------------------------------------------------------------- */

/* A frame of the slab is sent: those who subscribe later may read it, too. */
int gid_stream_slabs_add(struct gid_producer *producer, gid_id gid);

/* Grants them to who subscribes now: without waiting, for ACCEPT follows on the same socket. */
int gid_stream_slabs_grant(struct gid_producer *producer, const struct gid_subscription *sub);

/* Whether the consumer can see the slab's memory at all. */
bool gid_stream_slabs_can_see(const struct gid_subscription *sub, const struct gid_slab *slab);

/* Grants one, and waits for gidd's answer, unless that was done before. */
int gid_stream_slabs_grant_one(
	struct gid_producer *producer, struct gid_slab *slab, uint32_t reader);

/*
 * Asks for the grants that consumers of a frame need, unless that was done. Returns 0: they have
 * them all, -EINPROGRESS: options.granted will be called, or why gidd cannot be asked.
 */
int gid_stream_slabs_ask(struct gid_producer *producer, struct gid_slab *slab, gid_id gid);
void gid_stream_slabs_cancel(struct gid_producer *producer);

#endif
