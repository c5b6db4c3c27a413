// SPDX-License-Identifier: MIT
/** One consumer as its producer sees it: ring, doorbell, and what gidd calls it. */
#ifndef GID_SUBSCRIBER_H
#define GID_SUBSCRIBER_H

#include "doorbell.h"
#include "loop.h"
#include "memory_source.h"
#include "ring.h"

struct gid_subscription {
	/* --- used with each frame --- */
	struct gid_subscription *next; /* in the producer's `subscriptions` or `joining` */
	struct gid_producer *producer;
	uint32_t domain; /* the consumer's */
	bool drop_old;
	bool remote; /* on another machine: sees only memory in windows */
	bool dead;   /* over, to be freed once nothing walks over the list */
	bool missed; /* what the stream shows, for want of room: see gid_producer_catch_up() */
	/*
	 * The first entry of what the stream shows now: entries from there on have no lease.
	 * UINT64_MAX: the consumer was not sent it.
	 */
	uint64_t newest;
	uint64_t dropped, leases_expired;
	/* These two, or the copy counts, changed since they were stored in the ring. */
	bool recounted;
	/* While a frame is being sent: what was reclaimed for it, and what went wrong. */
	gid_id victim;
	int failed;
	bool given_up; /* not waited for, see gid_subscription_give_up() */
	struct gid_ring_producer ring;

	/* --- the rest --- */
	uint32_t number; /* 0 once gidd does not know it (any more) */
	uint32_t credit;
	struct gid_doorbell doorbell;
	struct gid_timer poll; /* in the producer's loop: while the doorbell cannot be relied on */
	struct gid_memory_own memory; /* of the ring */
	/* The page; its descriptor is kept for a gidd that comes later. */
	int page_fd;
	uint64_t page_offset; /* in the window that it is; 0: a memfd */
	const struct gid_wire_page *page;
	uint64_t renewed;     /* when the consumer was last seen to have renewed its leases, ns */
	uint64_t moved;	      /* when it was last seen to have claimed entries, ns */
	uint64_t claimed;     /* the head that it was seen with then */
	uint64_t given_up_at; /* what it had claimed and released when it was given up */
};

/*
 * Takes over both descriptors of a SUBSCRIBER message (as -1 in `fds`), which are hostile. There is
 * no ring yet. -EPROTO, -EBADF, -EPERM, -ERANGE, -EACCES: the page or the doorbell is not what it
 * should be.
 */
int gid_subscription_create(struct gid_producer *producer,
		const struct gid_wire_subscriber *request, int fds[static 2],
		struct gid_subscription **subscription);

/*
 * Makes the ring, without waiting for gidd. Returns 0; -EINPROGRESS: `answered` will be called with
 * the subscription, and calls gid_subscription_take_ring(); or another -errno.
 */
int gid_subscription_ask_for_ring(struct gid_domain *domain, struct gid_subscription *subscription,
		uint32_t credit_max, gid_answer_func answered);
int gid_subscription_take_ring(struct gid_domain *domain, struct gid_subscription *subscription,
		uint32_t credit_max, int error, const union gid_wire_message *answer, int *fds);

/*
 * The consumer lost a frame although its patient producer waited. From now on the producer does not
 * wait for it, until it claims or releases something.
 */
void gid_subscription_give_up(struct gid_subscription *subscription);

/* Waits for it again, if it has claimed or released something since it was given up. */
void gid_subscription_take_up(struct gid_subscription *subscription);

/* Counts a lease that ran out, for gidctl. */
static inline void gid_subscription_count_expired(struct gid_subscription *subscription) {
	subscription->leases_expired++;
	subscription->recounted = true;
}

/* For one that this side tells gidd of: unique in this process, so on each connection, too. */
uint32_t gid_subscription_new_number(void);

/* Nothing is in flight any more. */
void gid_subscription_destroy(struct gid_subscription *subscription);

#endif
