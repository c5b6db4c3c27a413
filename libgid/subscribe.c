// SPDX-License-Identifier: MIT
/** A consumer's subscription: asks gidd for the stream, gets the ring, loses it, asks for the next.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "consumer.h"
#include "socket.h"
#include "subscription.h"

#define BACK_OFF_MIN_NS 50000000ull
#define BACK_OFF_MAX_NS 1600000000ull

static void subscribe_again(struct gid_consumer *consumer);

static void set_state(struct gid_consumer *consumer, enum gid_consumer_state state, int reason) {
	if (consumer->state == state) {
		return;
	}
	consumer->state = state;
	gid_consumer_interrupt(consumer);
	if (consumer->options.state != NULL) {
		consumer->options.state(consumer->options.data, state, reason);
	}
}

void gid_consumer_unsubscribe(struct gid_consumer *consumer, int reason) {
	if (consumer->number != 0 && consumer->domain != NULL) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
		message.subscription_end.subscription = consumer->number;
		message.subscription_end.reason = reason;
		gid_domain_post(consumer->domain, &message, NULL, 0);
	}
	consumer->number = 0;
}

void gid_consumer_drop_subscription(struct gid_consumer *consumer) {
	if (consumer->shared != NULL) {
		gid_memory_unmap(consumer->shared, sizeof(*consumer->shared));
		gid_socket_close_fds(&consumer->ring_fd, 1);
		consumer->shared = NULL;
		consumer->base += consumer->ring.head;
		/* It may have slept: nothing of the ring may be touched from now on. */
		consumer->ring = (struct gid_ring_consumer){0};
	}
	gid_doorbell_finish(&consumer->doorbell);
	gid_memory_put(&consumer->memory);
	consumer->number = 0;
	consumer->over = false;
	consumer->last_sequence = 0;
}

/* --- asking ----------------------------------------------------------------------------------- */

static void put_subscribe(
	struct gid_consumer *consumer, union gid_wire_message *message, uint32_t flags) {
	consumer->number = gid_subscription_new_number();
	gid_wire_begin(message, GID_WIRE_SUBSCRIBE, 0);
	struct gid_wire_subscribe *subscribe = &message->subscribe;
	subscribe->subscription = consumer->number;
	subscribe->credit = consumer->options.credit;
	subscribe->flags = (consumer->options.drop_old ? GID_WIRE_DROP_OLD : 0) |
		(consumer->options.reconnect ? GID_WIRE_WAIT : 0) | flags;
	subscribe->window_offset = consumer->memory.window_offset;
	memcpy(subscribe->domain_name, consumer->peer, sizeof(subscribe->domain_name));
	memcpy(subscribe->name, consumer->name, sizeof(subscribe->name));
}

/* Makes page and doorbell and the message that carries them; the caller closes `*their_end`. */
static int prepare(struct gid_consumer *consumer, union gid_wire_message *message, int *their_end) {
	consumer->asked = gid_socket_now();
	int error = gid_memory_get(
		consumer->domain, &consumer->memory, "gid-page", sizeof(struct gid_wire_page));
	if (error < 0) {
		return error;
	}
	error = gid_doorbell_create(&consumer->doorbell, their_end);
	if (error < 0) {
		gid_memory_put(&consumer->memory);
		return gid_domain_fail(consumer->domain, error, "%s", gid_strerror(error));
	}
	put_subscribe(consumer, message, 0);
	return 0;
}

static void retry_due(void *data) {
	subscribe_again(data);
}

/* Asks again at once, or later where the last time was not long ago. */
static void subscribe_later(struct gid_consumer *consumer) {
	uint64_t now = gid_socket_now(), due = consumer->asked + consumer->back_off;
	if (now > consumer->asked + 2 * BACK_OFF_MAX_NS) {
		consumer->back_off = BACK_OFF_MIN_NS;
	} else if (consumer->back_off < BACK_OFF_MAX_NS) {
		consumer->back_off *= 2;
	}
	gid_loop_arm(&consumer->domain->loop, &consumer->retry, due);
}

void gid_consumer_lose(struct gid_consumer *consumer, int reason) {
	gid_consumer_enter(consumer);
	gid_consumer_unsubscribe(consumer, reason);
	gid_consumer_drop_subscription(consumer);
	if (consumer->options.reconnect && consumer->domain != NULL) {
		subscribe_later(consumer);
		set_state(consumer, GID_CONSUMER_WAITING, reason);
	} else {
		set_state(consumer, GID_CONSUMER_ENDED, reason);
	}
	gid_consumer_leave(consumer);
}

/* A gidd that is there and cannot reach the other machines yet does not tell when it can. */
static bool is_too_soon(const struct gid_consumer *consumer, int error) {
	return error == -ENOTCONN && consumer->domain->state == GID_CONNECTION_UP;
}

static void subscribe_answered(void *data, int error, const union gid_wire_message *answer,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_consumer *consumer = data;
	if (error == -ENOTCONN && !is_too_soon(consumer, error)) {
		consumer->number = 0; /* asked again when gidd is back */
	} else if (error < 0) {
		if (error != -ETIMEDOUT) {
			consumer->number = 0;
		}
		gid_consumer_lose(consumer, error);
	}
}

static void subscribe_again(struct gid_consumer *consumer) {
	gid_domain_request_cancel(consumer->domain, consumer);
	gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
	gid_consumer_unsubscribe(consumer, 0);
	gid_consumer_drop_subscription(consumer);
	union gid_wire_message message;
	int their_end;
	int error = prepare(consumer, &message, &their_end);
	if (error == 0) {
		int fds[] = {consumer->memory.fd, their_end};
		error = gid_domain_request_async(
			consumer->domain, &message, fds, 2, subscribe_answered, consumer);
		close(their_end);
	}
	if (error < 0) {
		consumer->number = 0;
		if (error != -ENOTCONN || is_too_soon(consumer, error)) {
			gid_consumer_lose(consumer, error);
		}
	}
}

static int ask(struct gid_consumer *consumer) {
	union gid_wire_message message, answer;
	int their_end;
	int error = prepare(consumer, &message, &their_end);
	if (error < 0) {
		return error;
	}
	int fds[] = {consumer->memory.fd, their_end};
	error = gid_domain_request(consumer->domain, &message, fds, 2, &answer, NULL);
	close(their_end);
	if (error == -ETIMEDOUT) {
		gid_consumer_unsubscribe(consumer, error);
	}
	return error;
}

int gid_consumer_subscribe(struct gid_consumer *consumer) {
	int error = ask(consumer);
	if (consumer->options.reconnect && is_too_soon(consumer, error)) {
		consumer->number = 0;
		gid_consumer_lose(consumer, error);
		return 0;
	}
	return error;
}

/* --- hearing ---------------------------------------------------------------------------------- */

/* Takes the descriptor, as -1, where it is worth keeping. */
static int attach_ring(struct gid_consumer *consumer, uint64_t window_offset, int *fd) {
	const void *shared;
	int error = gid_memory_attach(*fd, window_offset, sizeof(struct gid_wire_ring), &shared);
	if (error < 0) {
		return error;
	}
	struct epoll_event event = {.events = EPOLLIN};
	if (epoll_ctl(consumer->epoll_fd, EPOLL_CTL_ADD, consumer->doorbell.fd, &event) < 0) {
		error = -errno;
		gid_memory_unmap(shared, sizeof(struct gid_wire_ring));
		return error;
	}
	consumer->shared = shared;
	if (window_offset == 0) {
		consumer->ring_fd = *fd;
		*fd = -1;
	}
	gid_ring_consumer_init(&consumer->ring, shared, consumer->memory.data);
	gid_sleep_attach(consumer, window_offset == 0);
	return 0;
}

static void take_subscribed(
	struct gid_consumer *consumer, const struct gid_wire_subscribed *subscribed, int *fd) {
	int error = attach_ring(consumer, subscribed->window_offset, fd);
	if (error < 0) {
		gid_consumer_lose(consumer, error);
		return;
	}
	consumer->producer_domain = subscribed->domain;
	consumer->stats.reconnects += consumer->was_live;
	consumer->was_live = true;
	set_state(consumer, GID_CONSUMER_LIVE, 0);
}

static void take_end(struct gid_consumer *consumer, int reason) {
	consumer->number = 0; /* gidd does not need to be told */
	if (consumer->shared != NULL && gid_ring_is_readable(&consumer->ring)) {
		consumer->over = true;
		consumer->reason = reason;
		gid_consumer_interrupt(consumer);
	} else {
		gid_consumer_lose(consumer, reason);
	}
}

static bool take_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_consumer *consumer = gid_consumer_of(endpoint);
	if (message->header.type == GID_WIRE_SUBSCRIBED && consumer->shared == NULL &&
		consumer->number != 0 && message->subscribed.subscription == consumer->number) {
		take_subscribed(consumer, &message->subscribed, &fds[0]);
		return true;
	}
	if (message->header.type == GID_WIRE_SUBSCRIPTION_END && consumer->number != 0 &&
		message->subscription_end.subscription == consumer->number) {
		take_end(consumer, message->subscription_end.reason);
		return true;
	}
	return false;
}

static void announced(void *data, int error, const union gid_wire_message *answer,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_consumer *consumer = data;
	if (error < 0 && error != -ETIMEDOUT) {
		consumer->number = 0; /* gidd does not know it */
	}
}

/* So that a new gidd counts and shows what flows already. Where it won't, frames flow still. */
static void announce(struct gid_consumer *consumer) {
	if (consumer->ring_fd < 0 || consumer->memory.window_offset != 0) {
		return;
	}
	union gid_wire_message message;
	int fds[] = {consumer->memory.fd, consumer->ring_fd};
	put_subscribe(consumer, &message, GID_WIRE_LIVE);
	gid_domain_request_cancel(consumer->domain, consumer);
	if (gid_domain_request_async(consumer->domain, &message, fds, 2, announced, consumer) < 0) {
		consumer->number = 0;
	}
}

/* A live subscription needs no gidd; one that waits must be known to it. */
static void ask_new_gidd(struct gid_endpoint *endpoint) {
	struct gid_consumer *consumer = gid_consumer_of(endpoint);
	consumer->number = 0;
	if (consumer->state == GID_CONSUMER_WAITING) {
		subscribe_again(consumer);
	} else if (consumer->shared != NULL && !consumer->over) {
		announce(consumer);
	}
}

void gid_consumer_init_subscription(struct gid_consumer *consumer) {
	consumer->doorbell.fd = consumer->memory.fd = consumer->ring_fd = -1;
	consumer->state = GID_CONSUMER_WAITING;
	consumer->back_off = BACK_OFF_MIN_NS;
	consumer->retry = (struct gid_timer){.expired = retry_due, .data = consumer};
	consumer->endpoint.kind = GID_ENDPOINT_STREAM;
	consumer->endpoint.message = take_message;
	consumer->endpoint.reconnected = ask_new_gidd;
}
