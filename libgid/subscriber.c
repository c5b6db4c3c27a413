// SPDX-License-Identifier: MIT
#include "subscriber.h"

#include <errno.h>
#include <stdlib.h>

#include "closer.h"

#define RING_MEMORY "gid-ring" /* as /proc shows it */

static int map_page(struct gid_subscription *subscription, uint64_t window_offset, int fd) {
	const void *page;
	int error = gid_memory_attach(fd, window_offset, sizeof(struct gid_wire_page), &page);
	if (error == 0) {
		subscription->page = page;
	}
	return error;
}

int gid_subscription_create(struct gid_producer *producer,
		const struct gid_wire_subscriber *request, int fds[static 2],
		struct gid_subscription **result) {
	struct gid_subscription *subscription = calloc(1, sizeof(*subscription));
	if (subscription == NULL) {
		return -ENOMEM;
	}
	subscription->producer = producer;
	subscription->number = request->subscription;
	subscription->domain = request->domain;
	subscription->credit = request->credit;
	subscription->remote = (request->flags & GID_WIRE_REMOTE) != 0;
	subscription->drop_old = (request->flags & GID_WIRE_DROP_OLD) != 0;
	subscription->recounted = true; /* of what was copied nobody has told it */
	subscription->memory.fd = -1;
	int error = map_page(subscription, request->window_offset, fds[0]);
	if (error < 0) {
		goto error_subscription;
	}
	error = gid_doorbell_take(&subscription->doorbell, fds[1], request->domain);
	if (error < 0) {
		goto error_page;
	}
	subscription->page_fd = fds[0];
	subscription->page_offset = request->window_offset;
	fds[0] = fds[1] = -1;
	*result = subscription;
	return 0;

error_page:
	gid_memory_unmap(subscription->page, sizeof(*subscription->page));
error_subscription:
	free(subscription);
	return error;
}

static void init_ring(struct gid_subscription *subscription, uint32_t credit_max) {
	const uint32_t credit = subscription->credit;
	gid_ring_producer_init(&subscription->ring, subscription->memory.data, subscription->page,
			credit < credit_max ? credit : credit_max);
}

int gid_subscription_ask_for_ring(struct gid_domain *domain, struct gid_subscription *subscription,
		uint32_t credit_max, gid_answer_func answered) {
	const struct gid_memory_readers consumer = {
			.kind = GID_WIRE_READERS_DOMAIN,
			.domain = subscription->domain,
	};
	int error = gid_memory_ask(domain, &subscription->memory, &consumer, RING_MEMORY,
			sizeof(struct gid_wire_ring), answered, subscription);
	if (error == 0) {
		init_ring(subscription, credit_max);
	}
	return error;
}

int gid_subscription_take_ring(struct gid_domain *domain, struct gid_subscription *subscription,
		uint32_t credit_max, int error, const union gid_wire_message *answer, int *fds) {
	error = gid_memory_take(domain, &subscription->memory, RING_MEMORY,
			sizeof(struct gid_wire_ring), error, answer, fds);
	if (error == 0) {
		init_ring(subscription, credit_max);
	}
	return error;
}

/* Also of what was taken by force: whoever gives that back is there. */
static uint64_t count_moves(const struct gid_subscription *subscription) {
	return subscription->ring.head + subscription->ring.released;
}

void gid_subscription_give_up(struct gid_subscription *subscription) {
	if (!subscription->given_up && gid_ring_poll_claims(&subscription->ring) == 0) {
		subscription->given_up = true;
		subscription->given_up_at = count_moves(subscription);
	}
}

void gid_subscription_take_up(struct gid_subscription *subscription) {
	subscription->given_up = gid_ring_poll_claims(&subscription->ring) == 0 &&
			count_moves(subscription) == subscription->given_up_at;
}

uint32_t gid_subscription_new_number(void) {
	static uint32_t last;
	uint32_t number;
	do {
		number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) & ~GID_WIRE_LOWER_SIDE;
	} while (number == 0);
	return number;
}

void gid_subscription_destroy(struct gid_subscription *subscription) {
	gid_memory_unmap(subscription->page, sizeof(*subscription->page));
	gid_closer_close(subscription->page_fd);
	gid_memory_put(&subscription->memory);
	gid_doorbell_finish(&subscription->doorbell);
	free(subscription);
}
