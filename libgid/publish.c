// SPDX-License-Identifier: MIT
/**
 * A producer's stream at gidd: published, subscribed to by those who may, and published again to a
 * gidd that came back.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "connection.h"
#include "producer.h"

/* --- consumers come --------------------------------------------------------------------------- */

/*
 * What the end of a consumer means that we did not end. That of one on another machine may be only
 * the end of a gidd on the way: it may be reading still.
 */
static enum gid_fanout_end left(const struct gid_subscription *subscription) {
	return subscription->remote ? GID_END_BROKEN : GID_END_CONSUMER_LEFT;
}

/* A consumer rang, or died, or makes noise. */
static void rung(void *data) {
	struct gid_subscription *subscription = data;
	uint64_t sleeps = (subscription->ring.asleep + 1) / 2;
	int heard = gid_doorbell_silence(&subscription->doorbell, sleeps);
	gid_ring_producer_wake(&subscription->ring);
	gid_fanout_collect(subscription);
	if (heard < 0) {
		gid_fanout_end(
			subscription, heard == -EPIPE ? left(subscription) : GID_END_BROKEN, heard);
	}
}

static void refuse(struct gid_producer *producer, uint32_t number, int reason) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
	message.subscription_end.subscription = number;
	message.subscription_end.reason = reason;
	gid_domain_post(producer->domain, &message, NULL, 0);
}

/* Grants go first, on the same socket: who hears of us can import what we send. */
static int accept_consumer(struct gid_producer *producer, const struct gid_wire_subscriber *request,
	int fds[static GID_WIRE_FDS_MAX]) {
	if (producer->options.allow != NULL &&
		!producer->options.allow(producer->options.data, request->domain)) {
		return -EPERM;
	}
	struct gid_subscription *subscription;
	int error = gid_subscription_create(
		producer, request, producer->options.credit_max, fds, &subscription);
	if (error < 0) {
		return error;
	}
	error = gid_loop_watch(&producer->loop, subscription->doorbell.fd, rung, subscription);
	if (error < 0) {
		goto error_subscription;
	}
	error = gid_stream_slabs_grant(producer, subscription);
	if (error == 0) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_ACCEPT, 0);
		message.subscribed.subscription = request->subscription;
		message.subscribed.window_offset = subscription->memory.window_offset;
		error = gid_domain_post(producer->domain, &message, &subscription->memory.fd, 1);
	}
	if (error < 0) {
		goto error_watch;
	}
	if (!producer->options.quiet) {
		gid_ring_producer_sleep(&subscription->ring);
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
	gid_loop_unwatch(&producer->loop, subscription->doorbell.fd);
error_subscription:
	gid_subscription_destroy(subscription);
	return error;
}

static bool end_consumer(struct gid_producer *producer, uint32_t number) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && sub->number == number) {
			sub->number = 0; /* gidd does not need to be told */
			gid_fanout_collect(sub);
			gid_fanout_end(sub, left(sub), 0);
			return true;
		}
	}
	return false;
}

static struct gid_producer *from_endpoint(struct gid_endpoint *endpoint) {
	return (struct gid_producer *)((char *)endpoint - offsetof(struct gid_producer, endpoint));
}

static bool take_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_producer *producer = from_endpoint(endpoint);
	bool ours = false;
	gid_producer_enter(producer);
	if (message->header.type == GID_WIRE_SUBSCRIBER && producer->stream != 0 &&
		message->subscriber.stream == producer->stream) {
		int error = accept_consumer(producer, &message->subscriber, fds);
		if (error < 0) {
			refuse(producer, message->subscriber.subscription, error);
		}
		ours = true;
	} else if (message->header.type == GID_WIRE_SUBSCRIPTION_END) {
		ours = end_consumer(producer, message->subscription_end.subscription);
	}
	gid_producer_leave(producer);
	return ours;
}

/* --- gidd comes back -------------------------------------------------------------------------- */

/* So that a new gidd counts, shows and can end what flows already. It ends what may not. */
static void announce(struct gid_producer *producer, struct gid_subscription *sub) {
	union gid_wire_message message;
	int fds[] = {sub->page_fd, sub->memory.fd};
	sub->number = gid_subscription_new_number();
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBER, 0);
	message.subscriber.subscription = sub->number;
	message.subscriber.stream = producer->stream;
	message.subscriber.domain = sub->domain;
	message.subscriber.credit = sub->credit;
	message.subscriber.flags = GID_WIRE_LIVE | (sub->drop_old ? GID_WIRE_DROP_OLD : 0);
	message.subscriber.window_offset = sub->page_offset;
	message.subscriber.ring_offset = sub->memory.window_offset;
	gid_domain_post(producer->domain, &message, fds, 2);
}

static void announce_all(struct gid_producer *producer) {
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead) {
			announce(producer, sub);
		}
	}
}

static void put_publish(const struct gid_producer *producer, union gid_wire_message *message) {
	gid_wire_begin(message, GID_WIRE_PUBLISH, 0);
	memcpy(message->publish.name, producer->name, sizeof(message->publish.name));
}

static void published_again(void *data, int error, const union gid_wire_message *answer,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_producer *producer = data;
	if (error == 0) {
		producer->stream = answer->result.value;
		announce_all(producer);
	} else if (error != -ENOTCONN && error != -ETIMEDOUT) {
		gid_domain_fail(producer->domain, error,
			"gidd came back and refuses stream '%s': %s", producer->name,
			gid_strerror(error));
		gid_producer_enter(producer);
		gid_fanout_end_all(producer, error);
		gid_producer_leave(producer);
	}
}

/* A new gidd knows nothing of the consumers we have, who live on by ring and doorbell. */
static void publish_again(struct gid_endpoint *endpoint) {
	struct gid_producer *producer = from_endpoint(endpoint);
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		sub->number = 0;
	}
	producer->stream = 0;
	union gid_wire_message message;
	put_publish(producer, &message);
	gid_domain_request_cancel(producer->domain, producer);
	gid_domain_request_async(producer->domain, &message, NULL, 0, published_again, producer);
}

/* --- published -------------------------------------------------------------------------------- */

static void published(void *data, int error, const union gid_wire_message *answer,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_producer *producer = data;
	if (error == 0) {
		producer->stream = answer->result.value;
	}
	gid_producer_enter(producer);
	producer->options.published(producer->options.data, error);
	gid_producer_leave(producer);
}

/* Without its domain nothing can be sent any more; the object waits to be destroyed. */
static void lose_domain(struct gid_endpoint *endpoint) {
	struct gid_producer *producer = from_endpoint(endpoint);
	producer->options.released = NULL;
	producer->options.subscriber = NULL;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		sub->number = 0;
	}
	gid_producer_enter(producer);
	gid_fanout_end_all(producer, 0);
	gid_stream_slabs_cancel(producer);
	gid_endpoint_remove(producer->domain, &producer->endpoint);
	producer->domain = NULL;
	gid_producer_leave(producer);
}

int gid_producer_publish(struct gid_producer *producer) {
	union gid_wire_message message, answer;
	put_publish(producer, &message);
	int error;
	if (producer->options.published != NULL) {
		error = gid_domain_request_async(
			producer->domain, &message, NULL, 0, published, producer);
	} else {
		error = gid_domain_request(producer->domain, &message, NULL, 0, &answer, NULL);
	}
	if (error < 0) {
		return error;
	}
	if (producer->options.published == NULL) {
		producer->stream = answer.result.value;
	}
	producer->endpoint = (struct gid_endpoint){
		.kind = GID_ENDPOINT_STREAM,
		.message = take_message,
		.reconnected = publish_again,
		.domain_destroyed = lose_domain,
	};
	gid_endpoint_add(producer->domain, &producer->endpoint);
	return 0;
}

void gid_producer_unpublish(struct gid_producer *producer) {
	gid_endpoint_remove(producer->domain, &producer->endpoint);
	gid_domain_request_cancel(producer->domain, producer);
	gid_stream_slabs_cancel(producer);
	gid_fanout_end_all(producer, 0);
	if (producer->stream != 0) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_UNPUBLISH, 0);
		message.unpublish.stream = producer->stream;
		gid_domain_post(producer->domain, &message, NULL, 0);
	}
}
