// SPDX-License-Identifier: MIT
/**
 * A consumer: its subscription (asks gidd for the stream, gets the ring, loses it, asks for the
 * next), its making and end.
 */
#include "consumer.h"

#include <errno.h>
#include <gid/timeline.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "closer.h"
#include "connection.h"
#include "socket.h"
#include "subscriber.h"

#define CREDIT_DEFAULT 4u
#define BACK_OFF_MAX_NS 1600000000ull
/* As /proc shows it. */
#define PAGE_MEMORY "gid-page"

static struct gid_consumer *from_endpoint(struct gid_endpoint *endpoint) {
	return (struct gid_consumer *)((char *)endpoint - offsetof(struct gid_consumer, endpoint));
}

/* --- the end of a subscription, and of the consumer ------------------------------------------- */

/* Tells gidd that it is over, where gidd does not know. */
static void unsubscribe(struct gid_consumer *consumer, int reason) {
	if (consumer->number != 0 && consumer->domain != NULL) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
		message.subscription_end.subscription = consumer->number;
		message.subscription_end.reason = reason;
		gid_domain_post(consumer->domain, &message, NULL, 0);
	}
	consumer->number = 0;
}

void gid_consumer_stop_hearing(struct gid_consumer *consumer) {
	if (consumer->doorbell.hear >= 0) {
		epoll_ctl(consumer->sleep.epoll_fd, EPOLL_CTL_DEL, consumer->doorbell.hear, NULL);
		gid_socket_close_fds(&consumer->doorbell.hear, 1);
	}
}

/* Gives up the subscription's memory and doorbell, whose hang-up gives all frames back. */
static void drop_subscription(struct gid_consumer *consumer) {
	if (consumer->shared != NULL) {
		/*
		 * Removed now: until a helper has closed the socket it would be readable, and
		 * whoever polls would never be idle.
		 */
		epoll_ctl(consumer->sleep.epoll_fd, EPOLL_CTL_DEL, consumer->doorbell.fd, NULL);
		gid_consumer_stop_hearing(consumer);
		gid_memory_unmap(consumer->shared, sizeof(*consumer->shared));
		gid_socket_close_fds(&consumer->ring_fd, 1);
		consumer->shared = NULL;
		consumer->base += consumer->ring.head;
		consumer->stats.frames += consumer->received;
		consumer->received = consumer->measured_at = 0;
		if (gid_life_is_over(&consumer->life)) {
			consumer->lost = consumer->base;
		}
		/* Says "awake", too: from now on the ring's memory must not be touched. */
		consumer->ring = (struct gid_ring_consumer){0};
	}
	gid_doorbell_finish(&consumer->doorbell);
	gid_life_finish(&consumer->life);
	gid_memory_put(&consumer->memory);
	gid_slab_unref(consumer->metadata);
	consumer->metadata = NULL;
	consumer->number = 0;
	consumer->over = false;
	consumer->next_sequence = consumer->renewed = 0;
}

static void release_consumer(struct gid_consumer *consumer) {
	drop_subscription(consumer);
	gid_sleep_finish(&consumer->sleep);
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

/* --- asking for the stream -------------------------------------------------------------------- */

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
	memcpy(subscribe->domain_name, consumer->owner, sizeof(subscribe->domain_name));
	memcpy(subscribe->name, consumer->name, sizeof(subscribe->name));
}

/* Who reads our page: the producer. */
static struct gid_memory_readers page_readers(const struct gid_consumer *consumer) {
	return (struct gid_memory_readers){
			.kind = GID_WIRE_READERS_DOMAIN,
			.name = consumer->owner,
	};
}

/*
 * The page is there. Makes the doorbell, and the message that carries both; the caller closes
 * `*their_end`.
 */
static int prepare(struct gid_consumer *consumer, union gid_wire_message *message, int *their_end) {
	/* In a window, where the producer is on another machine. */
	int error = consumer->memory.window_offset == 0
			? 0
			: gid_life_watch(&consumer->life, consumer->memory.fd);
	if (error == 0) {
		error = gid_doorbell_create(&consumer->doorbell, their_end);
	}
	if (error < 0) {
		gid_life_finish(&consumer->life);
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
	uint64_t now = gid_clock_now(), due = consumer->asked + consumer->back_off;
	if (now > consumer->asked + 2 * BACK_OFF_MAX_NS) {
		consumer->back_off = GID_BACK_OFF_MIN_NS;
	} else if (consumer->back_off < BACK_OFF_MAX_NS) {
		consumer->back_off *= 2;
	}
	gid_loop_arm(&consumer->domain->loop, &consumer->retry, due);
}

void gid_consumer_disconnect(struct gid_consumer *consumer, int reason) {
	gid_consumer_enter(consumer);
	unsubscribe(consumer, reason);
	drop_subscription(consumer);
	if (consumer->options.reconnect && consumer->domain != NULL) {
		subscribe_later(consumer);
		set_state(consumer, GID_CONSUMER_WAITING, reason);
	} else {
		set_state(consumer, GID_CONSUMER_ENDED, reason);
	}
	gid_consumer_leave(consumer);
}

/* A gidd that cannot reach the other machine yet does not say when it can: ask again later. */
static bool is_too_soon(const struct gid_consumer *consumer, int error) {
	return error == -ENOTCONN && consumer->domain->state == GID_CONNECTION_UP;
}

static void subscribe_answered(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_consumer *consumer = data;
	gid_consumer_enter(consumer);
	if (consumer->options.answered != NULL) {
		consumer->options.answered(consumer->options.data, error);
	}
	if (consumer->destroyed) {
		gid_consumer_leave(consumer);
		return;
	}
	if (error == -ENOTCONN && !is_too_soon(consumer, error)) {
		consumer->number = 0; /* asked again when gidd is back */
	} else if (error < 0) {
		if (error != -ETIMEDOUT) {
			consumer->number = 0;
		}
		gid_consumer_disconnect(consumer, error);
	}
	gid_consumer_leave(consumer);
}

/* With the page that is there. */
static int ask_for_stream(struct gid_consumer *consumer) {
	union gid_wire_message message;
	int their_end;
	int error = prepare(consumer, &message, &their_end);
	if (error == 0) {
		int fds[] = {consumer->memory.fd, their_end};
		error = gid_domain_request_async(
				consumer->domain, &message, fds, 2, subscribe_answered, consumer);
		/* The other side has it: its queue may hold descriptors whose close blocks. */
		gid_closer_close(their_end);
	}
	if (error < 0) {
		consumer->number = 0;
	}
	return error;
}

/* gidd's answer to the request for memory for the page. */
static void page_answered(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_consumer *consumer = data;
	error = gid_memory_take(consumer->domain, &consumer->memory, PAGE_MEMORY,
			sizeof(struct gid_wire_page), error, answer, fds);
	error = error < 0 ? error : ask_for_stream(consumer);
	if (error < 0) {
		subscribe_answered(consumer, error, NULL, fds);
	}
}

/* A subscription has a number, by which gidd is told of its end. Before, gidd may give memory. */
static void cancel_requests(struct gid_consumer *consumer) {
	if (consumer->number == 0) {
		gid_memory_unask(consumer->domain, consumer);
	} else {
		gid_domain_request_cancel(consumer->domain, consumer);
	}
}

/* Returns 0, or what is in the way of asking at all. */
static int subscribe_async(struct gid_consumer *consumer) {
	cancel_requests(consumer);
	gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
	unsubscribe(consumer, 0);
	drop_subscription(consumer);
	const struct gid_memory_readers readers = page_readers(consumer);
	consumer->asked = gid_clock_now();
	int error = gid_memory_ask(consumer->domain, &consumer->memory, &readers, PAGE_MEMORY,
			sizeof(struct gid_wire_page), page_answered, consumer);
	if (error == -EINPROGRESS) {
		return 0;
	}
	error = error < 0 ? error : ask_for_stream(consumer);
	/* Without gidd: subscribes when gidd is back. */
	return error != -ENOTCONN || is_too_soon(consumer, error) ? error : 0;
}

static void subscribe_again(struct gid_consumer *consumer) {
	int error = subscribe_async(consumer);
	if (error < 0) {
		gid_consumer_enter(consumer);
		if (consumer->options.answered != NULL) {
			consumer->options.answered(consumer->options.data, error);
		}
		if (!consumer->destroyed) {
			gid_consumer_disconnect(consumer, error);
		}
		gid_consumer_leave(consumer);
	}
}

static int subscribe_and_wait(struct gid_consumer *consumer) {
	union gid_wire_message message, answer;
	const struct gid_memory_readers readers = page_readers(consumer);
	int their_end;
	consumer->asked = gid_clock_now();
	int error = gid_memory_get(consumer->domain, &consumer->memory, &readers, PAGE_MEMORY,
			sizeof(struct gid_wire_page));
	error = error < 0 ? error : prepare(consumer, &message, &their_end);
	if (error < 0) {
		return error;
	}
	int fds[] = {consumer->memory.fd, their_end};
	error = gid_domain_request(consumer->domain, &message, fds, 2, &answer, NULL);
	gid_closer_close(their_end);
	if (error == -ETIMEDOUT) {
		unsubscribe(consumer, error);
	}
	return error;
}

/*
 * Subscribes for the first time. Waits for the answer unless options.answered is to be told of it.
 * Sets the domain's error.
 */
static int subscribe(struct gid_consumer *consumer) {
	bool is_async = consumer->options.answered != NULL;
	int error = is_async ? subscribe_async(consumer) : subscribe_and_wait(consumer);
	bool may_pass = is_too_soon(consumer, error) ||
			(is_async && (error == -ETIMEDOUT || error == -EAGAIN));
	if (consumer->options.reconnect && may_pass) {
		consumer->number = 0;
		gid_consumer_disconnect(consumer, error);
		return 0;
	}
	return error;
}

/* --- what gidd says of the subscription ------------------------------------------------------- */

/* Keeps the descriptor of a memfd, and sets `*fd` to -1 then. */
static int attach_ring(struct gid_consumer *consumer, uint64_t window_offset, int *fd) {
	const void *shared;
	/* Before the ring is read: a machine that is restored later is noticed. */
	int error = window_offset == 0 ? 0 : gid_life_watch(&consumer->life, *fd);
	if (error == 0) {
		error = gid_memory_attach(
				*fd, window_offset, sizeof(struct gid_wire_ring), &shared);
	}
	if (error < 0) {
		return error;
	}
	struct epoll_event event = {.events = EPOLLIN, .data.fd = consumer->doorbell.fd};
	if (epoll_ctl(consumer->sleep.epoll_fd, EPOLL_CTL_ADD, consumer->doorbell.fd, &event) < 0) {
		error = -errno;
		gid_memory_unmap(shared, sizeof(struct gid_wire_ring));
		return error;
	}
	consumer->shared = shared;
	if (window_offset == 0) {
		consumer->ring_fd = *fd;
		*fd = -1;
	}
	error = gid_ring_consumer_init(&consumer->ring, shared, consumer->memory.data);
	gid_sleep_attach(&consumer->sleep, consumer->memory.data, window_offset == 0);
	return error;
}

static void take_subscribed(struct gid_consumer *consumer,
		const struct gid_wire_subscribed *subscribed, int *fd) {
	int error = attach_ring(consumer, subscribed->window_offset, fd);
	if (error < 0) {
		gid_consumer_disconnect(consumer, error);
		return;
	}
	consumer->producer_domain = subscribed->domain;
	consumer->doorbell.giver = subscribed->domain;
	consumer->stats.reconnects += consumer->was_live;
	consumer->was_live = true;
	set_state(consumer, GID_CONSUMER_LIVE, 0);
}

static void take_end(struct gid_consumer *consumer, int reason) {
	consumer->number = 0; /* gidd does not need to be told */
	/* It may know only that the producer is gone, and not that this was in good order. */
	if (reason == -EPIPE && consumer->shared != NULL && gid_consumer_is_closed(consumer)) {
		reason = 0;
	}
	if (consumer->shared != NULL && gid_ring_is_readable(&consumer->ring)) {
		consumer->over = true;
		consumer->reason = reason;
		gid_consumer_interrupt(consumer);
	} else {
		gid_consumer_disconnect(consumer, reason);
	}
}

void gid_consumer_send_hearing(struct gid_consumer *consumer, bool on) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_HEARING, 0);
	message.hearing.subscription = consumer->number;
	message.hearing.on = on;
	if (consumer->number != 0 && consumer->domain != NULL) {
		gid_domain_post(consumer->domain, &message, NULL, 0);
	}
}

/*
 * An eventfd that bypasses gidd, to be rung or to be heard. The other machine uses the latter once
 * we have sent HEARING.
 */
static void take_doorbell(struct gid_consumer *consumer, enum gid_wire_doorbell_way way, int *fd) {
	struct gid_doorbell *bell = &consumer->doorbell;
	if (way == GID_WIRE_DOORBELL_RING && bell->ring < 0) {
		bell->ring = *fd;
		*fd = -1;
		return;
	}
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = *fd};
	if (way == GID_WIRE_DOORBELL_HEAR && bell->hear < 0 &&
			epoll_ctl(consumer->sleep.epoll_fd, EPOLL_CTL_ADD, *fd, &event) == 0) {
		bell->hear = *fd;
		*fd = -1;
		gid_consumer_send_hearing(consumer, true);
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
	if (message->header.type == GID_WIRE_DOORBELL && consumer->shared != NULL &&
			consumer->number != 0 &&
			message->doorbell.subscription == consumer->number) {
		take_doorbell(consumer, message->doorbell.way, &fds[0]);
		return true;
	}
	if (message->header.type == GID_WIRE_HEARING && consumer->number != 0 &&
			message->hearing.subscription == consumer->number) {
		gid_consumer_stop_hearing(consumer);
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

/*
 * Announces a live subscription to a new gidd, which counts and shows it. Frames flow without that,
 * too.
 */
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
static void gidd_returned(struct gid_endpoint *endpoint) {
	struct gid_consumer *consumer = from_endpoint(endpoint);
	consumer->number = 0;
	if (consumer->state == GID_CONSUMER_WAITING) {
		subscribe_again(consumer);
	} else if (consumer->shared != NULL && !consumer->over) {
		announce(consumer);
	}
}

/* Before anything else is done with a new consumer. */
static void init_subscription(struct gid_consumer *consumer) {
	consumer->doorbell = GID_DOORBELL_NONE;
	consumer->memory.fd = consumer->ring_fd = -1;
	consumer->state = GID_CONSUMER_WAITING;
	consumer->back_off = GID_BACK_OFF_MIN_NS;
	consumer->retry = (struct gid_timer){.expired = retry_due, .data = consumer};
	consumer->endpoint.kind = GID_ENDPOINT_STREAM;
	consumer->endpoint.message = take_message;
	consumer->endpoint.reconnected = gidd_returned;
}

/* --- asked ------------------------------------------------------------------------------------ */

enum gid_consumer_state gid_consumer_get_state(const struct gid_consumer *consumer) {
	return consumer->state;
}

int gid_consumer_get_fd(const struct gid_consumer *consumer) {
	return consumer->sleep.epoll_fd;
}

void gid_consumer_get_stats(const struct gid_consumer *consumer, struct gid_consumer_stats *stats) {
	*stats = consumer->stats;
	stats->frames += consumer->received;
	if (consumer->domain != NULL && consumer->domain->clocks != NULL) {
		const struct gid_clock *clock =
				&consumer->domain->clocks[consumer->producer_domain];
		stats->clock_offset_ns = clock->offset;
		stats->clock_error_ns = clock->error;
	}
	if (consumer->shared != NULL) {
		stats->held = consumer->ring.held;
		stats->unread = gid_ring_readable(&consumer->ring);
		uint64_t credit = __atomic_load_n(&consumer->shared->credit, __ATOMIC_RELAXED);
		stats->credit = credit <= GID_CREDIT_MAX ? (uint32_t)credit : 0;
		stats->patient = __atomic_load_n(&consumer->shared->patient, __ATOMIC_RELAXED) != 0;
		stats->lease_ns = __atomic_load_n(&consumer->shared->lease_ns, __ATOMIC_RELAXED);
		stats->copied_frames =
				__atomic_load_n(&consumer->shared->copied_frames, __ATOMIC_RELAXED);
		stats->copied_bytes =
				__atomic_load_n(&consumer->shared->copied_bytes, __ATOMIC_RELAXED);
	}
}

/* --- making and end --------------------------------------------------------------------------- */

/* Without its domain the consumer is over; the object waits to be destroyed. */
static void domain_destroyed(struct gid_endpoint *endpoint) {
	struct gid_consumer *consumer = from_endpoint(endpoint);
	gid_endpoint_remove(consumer->domain, &consumer->endpoint);
	gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
	consumer->options.state = NULL;
	consumer->domain = NULL;
	gid_timeline_unref(consumer->timeline);
	consumer->timeline = NULL;
	gid_consumer_disconnect(consumer, -ENOTCONN);
}

static int read_arguments(struct gid_consumer *consumer, const char *owner, const char *name,
		const struct gid_consumer_options *options) {
	if (!gid_name_is_valid(name) || (owner != NULL && !gid_name_is_valid(owner))) {
		return gid_domain_fail(consumer->domain, -EINVAL, "%s", GID_STREAM_NAME_RULE);
	}
	memcpy(consumer->name, name, strlen(name));
	memcpy(consumer->owner, owner == NULL ? "" : owner, owner == NULL ? 0 : strlen(owner));
	if (options != NULL) {
		size_t size = options->size;
		if (size < offsetof(struct gid_consumer_options, timeline)) {
			return gid_domain_fail(consumer->domain, -EINVAL,
					"set the options' `size` to sizeof(struct "
					"gid_consumer_options)");
		}
		memcpy(&consumer->options, options,
				size < sizeof(*options) ? size : sizeof(*options));
	}
	if (consumer->options.quiet && consumer->options.sleeps) {
		return gid_domain_fail(consumer->domain, -EINVAL,
				"a consumer that is not told of frames cannot sleep until there is "
				"one");
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

int gid_consumer_create(struct gid_domain *domain, const char *owner, const char *name,
		const struct gid_consumer_options *options, struct gid_consumer **result) {
	int error = gid_domain_check_sealed(domain);
	if (error < 0) {
		return error;
	}
	struct gid_consumer *consumer = calloc(1, sizeof(*consumer));
	if (consumer == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	consumer->domain = domain;
	consumer->sleep.epoll_fd = consumer->sleep.nudge_fd = -1;
	init_subscription(consumer);
	consumer->endpoint.domain_destroyed = domain_destroyed;
	error = read_arguments(consumer, owner, name, options);
	if (error == 0) {
		error = gid_sleep_init(&consumer->sleep, consumer->options.sleeps);
		if (error < 0) {
			gid_domain_fail(domain, error, "%s", gid_strerror(error));
		}
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
		cancel_requests(consumer);
		gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
		unsubscribe(consumer, 0);
	}
	gid_consumer_leave(consumer);
}
