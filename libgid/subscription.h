// SPDX-License-Identifier: MIT
/** One consumer as its producer sees it: ring, doorbell, and what gidd calls it. */
#ifndef GID_SUBSCRIPTION_H
#define GID_SUBSCRIPTION_H

#include "loop.h"
#include "memory.h"
#include "ring.h"

struct gid_subscription {
	struct gid_subscription *next;
	uint32_t number; /* gidd's; 0 once gidd forgot us */
	uint32_t domain; /* the consumer's */
	bool drop_old, dead;
	int doorbell;
	struct gid_memory_own memory; /* of the ring */
	const struct gid_wire_page *page;
	struct gid_ring_producer ring;
};

/*
 * Takes over both descriptors of a SUBSCRIBER message, also on failure: they are hostile.
 * -EBADF, -EPERM, -ERANGE, -EACCES: the page or the doorbell is not what it should be.
 */
int gid_subscription_create(const struct gid_wire_subscriber *request, uint32_t credit_max,
	int fds[static 2], struct gid_subscription **subscription);

/* Nothing is in flight any more, or its owner has let go of it. */
void gid_subscription_destroy(struct gid_subscription *subscription);

#endif
