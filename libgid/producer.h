// SPDX-License-Identifier: MIT
/** A producer's inside, shared by producer.c (gidd's side of it) and fanout.c (the frames). */
#ifndef GID_PRODUCER_H
#define GID_PRODUCER_H

#include "slab.h"
#include "subscription.h"

struct gid_producer {
	struct gid_domain *domain;
	struct gid_endpoint endpoint;
	struct gid_producer_options options;
	char name[GID_NAME_MAX + 1];
	uint32_t stream; /* gidd's number; 0 while gidd does not know us */
	struct gid_loop loop;
	struct gid_timer lease;
	struct gid_subscription *subscriptions;
	uint32_t consumers;
	uint32_t busy; /* callbacks under way: the list of subscriptions must not lose any */
	bool has_dead;
	uint64_t sequence;
	uint32_t *slabs; /* keys of those that were sent */
	uint32_t slab_count, slab_last;
	struct gid_producer_stats stats;
};

/* Lets go of a slot for one consumer. The last one's letting go calls `released`. */
void gid_fanout_let_go(struct gid_producer *producer, gid_id gid);

/* Ends one subscription: what it held comes back, gidd and the caller hear of it. */
void gid_fanout_end(
	struct gid_producer *producer, struct gid_subscription *subscription, int reason);

/* Frees the subscriptions that ended, unless a callback is under way. */
void gid_fanout_reap(struct gid_producer *producer);

/* The lease timer's `expired`: takes back by force what was held too long. */
void gid_fanout_lease_expired(void *data);

/* Collects the releases of all consumers. */
void gid_fanout_collect(struct gid_producer *producer);

#endif
