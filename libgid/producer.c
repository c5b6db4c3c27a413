// SPDX-License-Identifier: MIT
/** A producer's life, and what its owner calls besides sending. */
#include "producer.h"

#include <errno.h>
#include <gid/timeline.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"
#include "socket.h"

#define LEASE_DEFAULT_NS 1000000000u
#define CREDIT_DEFAULT 8u

/* --- calls ------------------------------------------------------------------------------------ */

static void free_dead(struct gid_producer *producer) {
	struct gid_subscription **at = &producer->subscriptions;
	while (*at != NULL) {
		struct gid_subscription *subscription = *at;
		if (subscription->dead) {
			*at = subscription->next;
			gid_subscription_destroy(subscription);
		} else {
			at = &subscription->next;
		}
	}
	producer->has_dead = false;
}

void gid_producer_enter(struct gid_producer *producer) {
	producer->busy++;
}

void gid_producer_leave(struct gid_producer *producer) {
	if (--producer->busy > 0) {
		return;
	}
	if (producer->has_dead) {
		free_dead(producer);
	}
	if (producer->destroyed) {
		gid_loop_disarm(&producer->loop, &producer->lease);
		gid_loop_finish(&producer->loop);
		gid_timeline_unref(producer->timeline);
		free(producer->slabs);
		free(producer);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

static int read_options(struct gid_producer *producer, const struct gid_producer_options *options) {
	if (options != NULL) {
		size_t size = options->size;
		if (size < offsetof(struct gid_producer_options, quiet)) {
			return gid_domain_fail(producer->domain, -EINVAL,
				"set the options' `size` to sizeof(struct gid_producer_options)");
		}
		memcpy(&producer->options, options,
			size < sizeof(*options) ? size : sizeof(*options));
	}
	if (producer->options.lease_ns == 0) {
		producer->options.lease_ns = LEASE_DEFAULT_NS;
	}
	if (producer->options.credit_max == 0) {
		producer->options.credit_max = CREDIT_DEFAULT;
	}
	if (producer->options.credit_max > GID_CREDIT_MAX) {
		return gid_domain_fail(producer->domain, -EINVAL,
			"a consumer can hold 1 to %u frames, not %u", GID_CREDIT_MAX,
			producer->options.credit_max);
	}
	return 0;
}

static void lease_due(void *data) {
	gid_lease_run(data, gid_socket_now());
}

int gid_producer_create(struct gid_domain *domain, const char *name,
	const struct gid_producer_options *options, struct gid_producer **result) {
	if (!gid_name_is_valid(name)) {
		return gid_domain_fail(domain, -EINVAL, "%s", GID_STREAM_NAME_RULE);
	}
	struct gid_producer *producer = calloc(1, sizeof(*producer));
	if (producer == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	producer->domain = domain;
	producer->lease = (struct gid_timer){.expired = lease_due, .data = producer};
	memcpy(producer->name, name, strlen(name));
	int error = read_options(producer, options);
	if (error < 0) {
		goto error_producer;
	}
	error = gid_loop_init(&producer->loop);
	if (error < 0) {
		gid_domain_fail(domain, error, "%s", gid_strerror(error));
		goto error_producer;
	}
	error = gid_producer_publish(producer);
	if (error < 0) {
		goto error_loop;
	}
	producer->timeline = gid_domain_get_timeline(domain, producer->options.timeline);
	*result = producer;
	return 0;

error_loop:
	gid_loop_finish(&producer->loop);
error_producer:
	free(producer);
	return error;
}

void gid_producer_destroy(struct gid_producer *producer) {
	if (producer == NULL || producer->destroyed) {
		return;
	}
	gid_producer_enter(producer);
	producer->destroyed = true;
	producer->options.subscriber = NULL;
	if (producer->domain != NULL) {
		gid_producer_unpublish(producer);
	}
	gid_producer_leave(producer);
}

/* --- used ------------------------------------------------------------------------------------- */

int gid_producer_get_fd(const struct gid_producer *producer) {
	return producer->loop.epoll_fd;
}

/* From now on the next release rings; those that came already are collected. */
static void sleep_all(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		gid_ring_producer_sleep(&sub->ring);
		gid_fanout_collect(sub);
	}
}

int gid_producer_dispatch(struct gid_producer *producer) {
	gid_producer_enter(producer);
	gid_loop_dispatch(&producer->loop);
	if (producer->options.quiet) {
		for (struct gid_subscription *sub = producer->subscriptions; sub != NULL;
			sub = sub->next) {
			gid_ring_producer_wake(&sub->ring);
			gid_fanout_collect(sub);
		}
	} else {
		sleep_all(producer);
	}
	gid_producer_leave(producer);
	return 0;
}

void gid_producer_want_release(struct gid_producer *producer) {
	gid_producer_enter(producer);
	sleep_all(producer);
	gid_producer_leave(producer);
}
