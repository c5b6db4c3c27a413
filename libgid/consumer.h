// SPDX-License-Identifier: MIT
/**
 * A consumer's inside, shared by consumer.c (frames), consumer_life.c (making and end), subscribe.c
 * (gidd's side of it) and sleep.c.
 */
#ifndef GID_CONSUMER_H
#define GID_CONSUMER_H

#include <stddef.h>

#include "connection.h"
#include "doorbell.h"
#include "memory_source.h"
#include "ring.h"

/* See sleep.c. */
struct gid_sleep {
	const uint32_t *word; /* to sleep over, in the ring; NULL: by the descriptor */
	uint32_t value;	      /* of the word while there is nothing new */
	uint32_t seen;	      /* interruptions */
	uint32_t idle_wakes;  /* sleeps since the last frame */
	bool rung;	      /* the doorbell, though it is not what wakes us */
	bool distrusts;	      /* was woken for nothing too often, for good */
};

struct gid_consumer {
	struct gid_domain *domain; /* NULL once that was destroyed */
	struct gid_endpoint endpoint;
	struct gid_consumer_options options;
	char peer[GID_NAME_MAX + 1], name[GID_NAME_MAX + 1];
	enum gid_consumer_state state;
	int epoll_fd;
	int nudge_fd; /* makes epoll_fd readable where no doorbell does: the state changed */
	bool nudged;
	uint32_t interruptions;
	struct gid_sleep sleep;
	/* Calls under way. Callbacks may destroy us: that waits for the end of the outermost. */
	uint32_t busy;
	bool destroyed;

	/* the present subscription */
	uint32_t number; /* ours for gidd; 0 where gidd does not know it (any more) */
	struct gid_doorbell doorbell;
	struct gid_memory_own memory;	    /* of our page */
	const struct gid_wire_ring *shared; /* NULL while not live */
	int ring_fd; /* what it is mapped from, for a gidd that comes later; -1: not live, a window
		      */
	struct gid_ring_consumer ring;
	uint32_t producer_domain;
	bool over; /* no more comes; what is unread can be received still */
	int reason;

	/* across subscriptions */
	uint64_t base;		/* gid_frame.index of the ring's entry 0: names frames of no two
				   subscriptions */
	uint64_t last_sequence; /* 0: none of this subscription */
	bool was_live;
	struct gid_timer retry;
	uint64_t asked; /* when gidd was asked last */
	uint64_t back_off;
	uint64_t dispatched; /* when gid_consumer_wait() last dispatched the domain */
	struct gid_consumer_stats stats;
	struct gid_timeline *timeline; /* NULL: none */
};

static inline struct gid_consumer *gid_consumer_of(struct gid_endpoint *endpoint) {
	return (struct gid_consumer *)((char *)endpoint - offsetof(struct gid_consumer, endpoint));
}

/* --- consumer_life.c -------------------------------------------------------------------------- */

/* Every function that may run a callback is between these two. The consumer may be gone after. */
void gid_consumer_enter(struct gid_consumer *consumer);
void gid_consumer_leave(struct gid_consumer *consumer);

/* --- subscribe.c ------------------------------------------------------------------------------ */

/* Before anything else is done with a new consumer. */
void gid_consumer_init_subscription(struct gid_consumer *consumer);

/* Asks for the stream for the first time, and waits for the answer. Sets the domain's error. */
int gid_consumer_subscribe(struct gid_consumer *consumer);

/* Tells gidd that it is over, where gidd does not know. */
void gid_consumer_unsubscribe(struct gid_consumer *consumer, int reason);

/* Gives up the subscription's memory and doorbell, whose hang-up gives all frames back. */
void gid_consumer_drop_subscription(struct gid_consumer *consumer);

/*
 * The subscription is over, and nothing is left to receive. With `reconnect`, asks for the next
 * one. Runs the state callback.
 */
void gid_consumer_lose(struct gid_consumer *consumer, int reason);

/* --- consumer.c ------------------------------------------------------------------------------- */

/* Takes back what made the descriptor readable: an interruption, as by a change of state. */
void gid_consumer_calm(struct gid_consumer *consumer);

/* --- sleep.c ---------------------------------------------------------------------------------- */

/* A new subscription's page says how we are to be woken; a futex is of `one_kernel`. */
void gid_sleep_attach(struct gid_consumer *consumer, bool one_kernel);

/* There is no frame, and the ring is asleep: the caller may sleep, too. Or there was one. */
void gid_sleep_prepare(struct gid_consumer *consumer);
void gid_sleep_end(struct gid_consumer *consumer);

/* Whether the doorbell may have to be silenced. */
bool gid_sleep_was_rung(struct gid_consumer *consumer);

#endif
