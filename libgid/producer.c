// SPDX-License-Identifier: MIT
/* A producer's life: published, subscribed to, found again by a gidd that came back. */
#include "producer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doorbell.h"

#define LEASE_DEFAULT_NS 1000000000u
#define CREDIT_DEFAULT 8u

static void producer_ring_all(struct gid_producer *producer, bool want_release) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (want_release) {
			gid_ring_producer_sleep(&sub->ring);
		} else {
			gid_ring_producer_wake(&sub->ring);
		}
	}
}

/* A consumer rang, or died. */
static void subscription_rung(void *data) {
	struct gid_producer *producer = data;
	producer->busy++;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && gid_doorbell_answer(sub->doorbell) < 0) {
			gid_fanout_end(producer, sub, -EPIPE);
		}
	}
	producer->busy--;
	gid_fanout_collect(producer);
	gid_fanout_reap(producer);
}

static void producer_refuse(struct gid_producer *producer, uint32_t number, int reason) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
	message.subscription_end.subscription = number;
	message.subscription_end.reason = reason;
	gid_domain_post(producer->domain, &message, NULL, 0);
}

static void producer_grant_all(struct gid_producer *producer, uint32_t domain) {
	for (uint32_t i = 0; i < producer->slab_count; i++) {
		struct gid_slab *slab =
			gid_slab_find(producer->domain, (gid_id)producer->slabs[i] << 32);
		if (slab != NULL && domain != gid_domain_number(producer->domain) &&
			!gid_slab_is_granted(slab, domain)) {
			gid_slab_grant_post(slab, domain);
		}
	}
}

/* Grants go first, on the same socket: when the consumer hears of us it can import what we send. */
static int producer_accept(struct gid_producer *producer,
	const struct gid_wire_subscriber *request, int fds[static GID_WIRE_FDS_MAX]) {
	if (producer->options.allow != NULL &&
		!producer->options.allow(producer->options.data, request->domain)) {
		return -EPERM;
	}
	struct gid_subscription *subscription;
	int ret = gid_subscription_create(
		request, producer->options.credit_max, fds, &subscription);
	if (ret < 0) {
		return ret;
	}
	ret = gid_loop_watch(&producer->loop, subscription->doorbell, subscription_rung, producer);
	if (ret < 0) {
		goto error_subscription;
	}
	producer_grant_all(producer, request->domain);
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_ACCEPT, 0);
	message.subscribed.subscription = request->subscription;
	ret = gid_domain_post(producer->domain, &message, &subscription->memory.fd, 1);
	if (ret < 0) {
		goto error_watch;
	}
	subscription->next = producer->subscriptions;
	producer->subscriptions = subscription;
	producer->consumers++;
	if (producer->options.subscriber != NULL) {
		producer->options.subscriber(
			producer->options.data, request->domain, true, producer->consumers);
	}
	return 0;

error_watch:
	gid_loop_unwatch(&producer->loop, subscription->doorbell);
error_subscription:
	gid_subscription_destroy(subscription);
	return ret;
}

static bool producer_take_end(struct gid_producer *producer, uint32_t number) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && sub->number == number) {
			sub->number = 0; /* gidd knows already */
			gid_fanout_end(producer, sub, 0);
			gid_fanout_reap(producer);
			return true;
		}
	}
	return false;
}

static bool producer_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_producer *producer =
		(void *)((char *)endpoint - offsetof(struct gid_producer, endpoint));
	switch (message->header.type) {
	case GID_WIRE_SUBSCRIBER:
		if (producer->stream == 0 || message->subscriber.stream != producer->stream) {
			return false;
		}
		int ret = producer_accept(producer, &message->subscriber, fds);
		if (ret < 0) {
			producer_refuse(producer, message->subscriber.subscription, ret);
		}
		return true;
	case GID_WIRE_SUBSCRIPTION_END:
		return producer_take_end(producer, message->subscription_end.subscription);
	default:
		return false;
	}
}

static void producer_published(void *data, int error, const union gid_wire_message *answer,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_producer *producer = data;
	if (error == 0) {
		producer->stream = answer->result.value;
	}
}

static void producer_write_publish(
	const struct gid_producer *producer, union gid_wire_message *message) {
	gid_wire_begin(message, GID_WIRE_PUBLISH, 0);
	memcpy(message->publish.name, producer->name, sizeof(message->publish.name));
}

/* A new gidd knows nothing of the consumers we have; they live on by ring and doorbell. */
static void producer_reconnected(struct gid_endpoint *endpoint) {
	struct gid_producer *producer =
		(void *)((char *)endpoint - offsetof(struct gid_producer, endpoint));
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		sub->number = 0;
	}
	producer->stream = 0;
	union gid_wire_message message;
	producer_write_publish(producer, &message);
	gid_domain_request_async(producer->domain, &message, NULL, 0, producer_published, producer);
}

static int producer_read_options(
	struct gid_producer *producer, const struct gid_producer_options *options) {
	if (options != NULL) {
		size_t size = options->size;
		memcpy(&producer->options, options,
			size < sizeof(*options) ? size : sizeof(*options));
	}
	if (producer->options.lease_ns == 0) {
		producer->options.lease_ns = LEASE_DEFAULT_NS;
	}
	if (producer->options.credit_max == 0) {
		producer->options.credit_max = CREDIT_DEFAULT;
	}
	return producer->options.credit_max <= GID_CREDIT_MAX ? 0 : -EINVAL;
}

int gid_producer_create(struct gid_domain *domain, const char *name,
	const struct gid_producer_options *options, struct gid_producer **result) {
	if (!gid_name_is_valid(name)) {
		return gid_domain_fail(domain, -EINVAL, "'%s' cannot be a stream's name", name);
	}
	struct gid_producer *producer = calloc(1, sizeof(*producer));
	if (producer == NULL) {
		return -ENOMEM;
	}
	producer->domain = domain;
	memcpy(producer->name, name, strlen(name));
	int ret = producer_read_options(producer, options);
	if (ret < 0) {
		gid_domain_fail(domain, ret, "the credit must be 1 to %u", GID_CREDIT_MAX);
		goto error_producer;
	}
	ret = gid_loop_init(&producer->loop);
	if (ret < 0) {
		goto error_producer;
	}
	producer->lease.expired = gid_fanout_lease_expired;
	producer->lease.data = producer;
	producer->endpoint = (struct gid_endpoint){
		.kind = GID_ENDPOINT_STREAM,
		.message = producer_message,
		.reconnected = producer_reconnected,
	};
	union gid_wire_message message, answer;
	producer_write_publish(producer, &message);
	ret = gid_domain_request(domain, &message, NULL, 0, &answer, NULL);
	if (ret < 0) {
		goto error_loop;
	}
	producer->stream = answer.result.value;
	gid_endpoint_add(domain, &producer->endpoint);
	*result = producer;
	return 0;

error_loop:
	gid_loop_finish(&producer->loop);
error_producer:
	free(producer);
	return ret;
}

void gid_producer_destroy(struct gid_producer *producer) {
	if (producer == NULL) {
		return;
	}
	gid_endpoint_remove(producer->domain, &producer->endpoint);
	gid_domain_request_cancel(producer->domain, producer);
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		sub->ring.ring->closed = 1;
		gid_fanout_end(producer, sub, 0);
	}
	gid_fanout_reap(producer);
	if (producer->stream != 0) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_UNPUBLISH, 0);
		message.unpublish.stream = producer->stream;
		gid_domain_post(producer->domain, &message, NULL, 0);
	}
	gid_loop_disarm(&producer->loop, &producer->lease);
	gid_loop_finish(&producer->loop);
	free(producer->slabs);
	free(producer);
}

int gid_producer_get_fd(const struct gid_producer *producer) {
	return producer->loop.epoll_fd;
}

int gid_producer_dispatch(struct gid_producer *producer) {
	producer_ring_all(producer, false);
	gid_loop_dispatch(&producer->loop);
	if (!producer->options.quiet) {
		producer_ring_all(producer, true);
	}
	gid_fanout_collect(producer);
	return 0;
}

void gid_producer_want_release(struct gid_producer *producer) {
	producer_ring_all(producer, true);
	gid_fanout_collect(producer);
}

uint32_t gid_producer_consumers(const struct gid_producer *producer) {
	return producer->consumers;
}

void gid_producer_count_copy(struct gid_producer *producer, uint64_t bytes) {
	producer->stats.copied_frames++;
	producer->stats.copied_bytes += bytes;
}

void gid_producer_get_stats(
	const struct gid_producer *producer, struct gid_producer_stats *stats) {
	*stats = producer->stats;
	stats->consumers = producer->consumers;
}
