// SPDX-License-Identifier: MIT
/** A consumer's life: asks gidd for its stream, gets the ring, loses it, finds the next one. */
#include <errno.h>
#include <gid/timeline.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "consumer.h"
#include "socket.h"

#define CREDIT_DEFAULT 4u
#define BACK_OFF_MIN_NS 50000000ull
#define BACK_OFF_MAX_NS 1600000000ull

static void subscribe_again(struct gid_consumer *consumer);

/* --- state ------------------------------------------------------------------------------------ */

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

static void post_end(struct gid_consumer *consumer, int reason) {
	if (consumer->number != 0 && consumer->domain != NULL) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
		message.subscription_end.subscription = consumer->number;
		message.subscription_end.reason = reason;
		gid_domain_post(consumer->domain, &message, NULL, 0);
	}
	consumer->number = 0;
}

/* Gives up the subscription's memory and doorbell, whose hang-up gives all frames back. */
static void drop_subscription(struct gid_consumer *consumer) {
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

static void release_consumer(struct gid_consumer *consumer) {
	drop_subscription(consumer);
	if (consumer->nudge_fd >= 0) {
		close(consumer->nudge_fd);
	}
	if (consumer->epoll_fd >= 0) {
		close(consumer->epoll_fd);
	}
	gid_timeline_unref(consumer->timeline);
	free(consumer);
}

void gid_consumer_enter(struct gid_consumer *consumer) {
	consumer->busy++;
}

void gid_consumer_leave(struct gid_consumer *consumer) {
	if (--consumer->busy == 0 && consumer->destroyed) {
		release_consumer(consumer);
	}
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Unique in this process, and so on each of its connections; never 0. */
static uint32_t next_number(void) {
	static uint32_t last;
	uint32_t number;
	do {
		number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) & ~GID_WIRE_LOWER_SIDE;
	} while (number == 0);
	return number;
}

static void put_subscribe(
	struct gid_consumer *consumer, union gid_wire_message *message, uint32_t flags) {
	consumer->number = next_number();
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
static int prepare(
	struct gid_consumer *consumer, union gid_wire_message *message, int *their_end) {
	int error = gid_memory_get(
		consumer->domain, &consumer->memory, "gid-page", sizeof(struct gid_wire_page));
	if (error < 0) {
		return error;
	}
	error = gid_doorbell_create(&consumer->doorbell, their_end);
	if (error < 0) {
		gid_memory_put(&consumer->memory);
		return error;
	}
	consumer->asked = gid_socket_now();
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
	post_end(consumer, reason);
	drop_subscription(consumer);
	if (consumer->options.reconnect && consumer->domain != NULL) {
		subscribe_later(consumer);
		set_state(consumer, GID_CONSUMER_WAITING, reason);
	} else {
		set_state(consumer, GID_CONSUMER_ENDED, reason);
	}
	gid_consumer_leave(consumer);
}

static void subscribe_answered(void *data, int error, const union gid_wire_message *answer,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_consumer *consumer = data;
	if (error == -ENOTCONN) {
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
	post_end(consumer, 0);
	drop_subscription(consumer);
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
		if (error != -ENOTCONN) {
			gid_consumer_lose(consumer, error);
		}
	}
}

/* --- hearing ---------------------------------------------------------------------------------- */

static struct gid_consumer *from_endpoint(struct gid_endpoint *endpoint) {
	return (struct gid_consumer *)((char *)endpoint - offsetof(struct gid_consumer, endpoint));
}

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
	struct gid_consumer *consumer = from_endpoint(endpoint);
	if (message->header.type == GID_WIRE_SUBSCRIBED && consumer->shared == NULL &&
		consumer->number != 0 &&
		message->subscribed.subscription == consumer->number) {
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
	struct gid_consumer *consumer = from_endpoint(endpoint);
	consumer->number = 0;
	if (consumer->state == GID_CONSUMER_WAITING) {
		subscribe_again(consumer);
	} else if (consumer->shared != NULL && !consumer->over) {
		announce(consumer);
	}
}

/* Without its domain the consumer is over; the object waits to be destroyed. */
static void lose_domain(struct gid_endpoint *endpoint) {
	struct gid_consumer *consumer = from_endpoint(endpoint);
	gid_endpoint_remove(consumer->domain, &consumer->endpoint);
	gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
	consumer->options.state = NULL;
	consumer->domain = NULL;
	gid_timeline_unref(consumer->timeline);
	consumer->timeline = NULL;
	gid_consumer_lose(consumer, -ENOTCONN);
}

/* --- life ------------------------------------------------------------------------------------- */

static int read_arguments(struct gid_consumer *consumer, const char *peer, const char *name,
	const struct gid_consumer_options *options) {
	if (!gid_name_is_valid(name) || (peer != NULL && !gid_name_is_valid(peer))) {
		return gid_domain_fail(consumer->domain, -EINVAL, "%s", GID_STREAM_NAME_RULE);
	}
	memcpy(consumer->name, name, strlen(name));
	memcpy(consumer->peer, peer == NULL ? "" : peer, peer == NULL ? 0 : strlen(peer));
	if (options != NULL) {
		size_t size = options->size;
		if (size < offsetof(struct gid_consumer_options, timeline)) {
			return gid_domain_fail(consumer->domain, -EINVAL,
				"set the options' `size` to sizeof(struct gid_consumer_options)");
		}
		memcpy(&consumer->options, options,
			size < sizeof(*options) ? size : sizeof(*options));
	}
	if (consumer->options.credit == 0) {
		consumer->options.credit = CREDIT_DEFAULT;
	}
	if (consumer->options.credit > GID_CREDIT_MAX) {
		return gid_domain_fail(consumer->domain, -EINVAL,
			"a consumer can hold 1 to %u frames, not %u", GID_CREDIT_MAX,
			consumer->options.credit);
	}
	return 0;
}

static int open_descriptors(struct gid_consumer *consumer) {
	consumer->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	consumer->nudge_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct epoll_event event = {.events = EPOLLIN};
	if (consumer->epoll_fd < 0 || consumer->nudge_fd < 0 ||
		epoll_ctl(consumer->epoll_fd, EPOLL_CTL_ADD, consumer->nudge_fd, &event) < 0) {
		int error = -errno;
		return gid_domain_fail(consumer->domain, error, "%s", gid_strerror(error));
	}
	return 0;
}

static int subscribe(struct gid_consumer *consumer) {
	union gid_wire_message message, answer;
	int their_end;
	int error = prepare(consumer, &message, &their_end);
	if (error < 0) {
		return gid_domain_fail(consumer->domain, error, "%s", gid_strerror(error));
	}
	int fds[] = {consumer->memory.fd, their_end};
	error = gid_domain_request(consumer->domain, &message, fds, 2, &answer, NULL);
	close(their_end);
	if (error == -ETIMEDOUT) {
		post_end(consumer, error);
	}
	return error;
}

int gid_consumer_create(struct gid_domain *domain, const char *peer, const char *name,
	const struct gid_consumer_options *options, struct gid_consumer **result) {
	struct gid_consumer *consumer = calloc(1, sizeof(*consumer));
	if (consumer == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	consumer->domain = domain;
	consumer->epoll_fd = consumer->nudge_fd = -1;
	consumer->doorbell.fd = consumer->memory.fd = consumer->ring_fd = -1;
	consumer->state = GID_CONSUMER_WAITING;
	consumer->back_off = BACK_OFF_MIN_NS;
	consumer->retry = (struct gid_timer){.expired = retry_due, .data = consumer};
	consumer->endpoint = (struct gid_endpoint){
		.kind = GID_ENDPOINT_STREAM,
		.message = take_message,
		.reconnected = ask_new_gidd,
		.domain_destroyed = lose_domain,
	};
	int error = read_arguments(consumer, peer, name, options);
	if (error == 0) {
		error = open_descriptors(consumer);
	}
	if (error == 0) {
		error = subscribe(consumer);
	}
	if (error < 0) {
		release_consumer(consumer);
		return error;
	}
	gid_endpoint_add(domain, &consumer->endpoint);
	consumer->timeline = gid_domain_get_timeline(domain, consumer->options.timeline);
	*result = consumer;
	return 0;
}

void gid_consumer_destroy(struct gid_consumer *consumer) {
	if (consumer == NULL || consumer->destroyed) {
		return;
	}
	gid_consumer_enter(consumer);
	consumer->destroyed = true;
	if (consumer->domain != NULL) {
		gid_endpoint_remove(consumer->domain, &consumer->endpoint);
		gid_domain_request_cancel(consumer->domain, consumer);
		gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
		post_end(consumer, 0);
	}
	gid_consumer_leave(consumer);
}
