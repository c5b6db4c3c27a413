// SPDX-License-Identifier: MIT
/** A consumer's inside, for consumer.c and for the tests of it. */
#ifndef GID_CONSUMER_H
#define GID_CONSUMER_H

#include "connection.h"
#include "doorbell.h"
#include "memory_source.h"
#include "sleep.h"

struct gid_consumer {
	struct gid_domain *domain; /* NULL once that was destroyed */
	struct gid_endpoint endpoint;
	struct gid_consumer_options options;
	char owner[GID_NAME_MAX + 1], name[GID_NAME_MAX + 1];
	enum gid_consumer_state state;
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
	uint64_t renewed; /* when the leases of what is held were last renewed, ns */
	bool over;	  /* no more comes; what is unread can be received still */
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

#endif
