// SPDX-License-Identifier: MIT
/**
 * A consumer: its subscription (asks gidd for the stream, gets the ring, loses it, asks for the
 * next), its frames (taken out of the ring, waited for, given back), its making and end.
 */
#include "consumer.h"

#include <errno.h>
#include <gid/timeline.h>
#include <poll.h>
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
#define BACK_OFF_MIN_NS 50000000ull
#define BACK_OFF_MAX_NS 1600000000ull
/* A caller that never runs out of frames hears from gidd at least so often. */
#define DISPATCH_NS 100000000ull

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

/* What rings past gidd is not listened to any more. */
static void stop_hearing(struct gid_consumer *consumer) {
	if (consumer->doorbell.hear >= 0) {
		epoll_ctl(consumer->sleep.epoll_fd, EPOLL_CTL_DEL, consumer->doorbell.hear, NULL);
		gid_socket_close_fds(&consumer->doorbell.hear, 1);
	}
}

/* Gives up the subscription's memory and doorbell, whose hang-up gives all frames back. */
static void drop_subscription(struct gid_consumer *consumer) {
	if (consumer->shared != NULL) {
		/* Now: until a helper has closed it, it would be readable, and who polls never
		 * idle. */
		epoll_ctl(consumer->sleep.epoll_fd, EPOLL_CTL_DEL, consumer->doorbell.fd, NULL);
		stop_hearing(consumer);
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
	consumer->last_sequence = consumer->renewed = 0;
}

static void release_consumer(struct gid_consumer *consumer) {
	drop_subscription(consumer);
	gid_sleep_finish(&consumer->sleep);
	gid_timeline_unref(consumer->timeline);
	free(consumer);
}

/* Every function that may run a callback is between these two. The consumer may be gone after. */
static void enter(struct gid_consumer *consumer) {
	consumer->busy++;
}

static void leave(struct gid_consumer *consumer) {
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

/* Makes page and doorbell and the message that carries them; the caller closes `*their_end`. */
static int prepare(struct gid_consumer *consumer, union gid_wire_message *message, int *their_end) {
	const struct gid_memory_readers producer = {
			.kind = GID_WIRE_READERS_DOMAIN,
			.name = consumer->owner,
	};
	consumer->asked = gid_clock_now();
	int error = gid_memory_get(consumer->domain, &consumer->memory, &producer, "gid-page",
			sizeof(struct gid_wire_page));
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
	uint64_t now = gid_clock_now(), due = consumer->asked + consumer->back_off;
	if (now > consumer->asked + 2 * BACK_OFF_MAX_NS) {
		consumer->back_off = BACK_OFF_MIN_NS;
	} else if (consumer->back_off < BACK_OFF_MAX_NS) {
		consumer->back_off *= 2;
	}
	gid_loop_arm(&consumer->domain->loop, &consumer->retry, due);
}

/*
 * The subscription is over, and nothing is left to receive. With `reconnect`, asks for the next
 * one. Runs the state callback.
 */
static void lose(struct gid_consumer *consumer, int reason) {
	enter(consumer);
	unsubscribe(consumer, reason);
	drop_subscription(consumer);
	if (consumer->options.reconnect && consumer->domain != NULL) {
		subscribe_later(consumer);
		set_state(consumer, GID_CONSUMER_WAITING, reason);
	} else {
		set_state(consumer, GID_CONSUMER_ENDED, reason);
	}
	leave(consumer);
}

/* A gidd that is there and cannot reach the other machines yet does not tell when it can. */
static bool is_too_soon(const struct gid_consumer *consumer, int error) {
	return error == -ENOTCONN && consumer->domain->state == GID_CONNECTION_UP;
}

static void subscribe_answered(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_consumer *consumer = data;
	enter(consumer);
	if (consumer->options.answered != NULL) {
		consumer->options.answered(consumer->options.data, error);
	}
	if (consumer->destroyed) {
		leave(consumer);
		return;
	}
	if (error == -ENOTCONN && !is_too_soon(consumer, error)) {
		consumer->number = 0; /* asked again when gidd is back */
	} else if (error < 0) {
		if (error != -ETIMEDOUT) {
			consumer->number = 0;
		}
		lose(consumer, error);
	}
	leave(consumer);
}

/* Returns 0, or what is in the way of asking at all. */
static int ask_async(struct gid_consumer *consumer) {
	gid_domain_request_cancel(consumer->domain, consumer);
	gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
	unsubscribe(consumer, 0);
	drop_subscription(consumer);
	union gid_wire_message message;
	int their_end;
	int error = prepare(consumer, &message, &their_end);
	if (error == 0) {
		int fds[] = {consumer->memory.fd, their_end};
		error = gid_domain_request_async(
				consumer->domain, &message, fds, 2, subscribe_answered, consumer);
		gid_closer_close(their_end); /* theirs already: it may have traps in its queue */
	}
	if (error < 0) {
		consumer->number = 0;
	}
	/* Without gidd it is asked again when that is back. */
	return error != -ENOTCONN || is_too_soon(consumer, error) ? error : 0;
}

static void subscribe_again(struct gid_consumer *consumer) {
	int error = ask_async(consumer);
	if (error < 0) {
		enter(consumer);
		if (consumer->options.answered != NULL) {
			consumer->options.answered(consumer->options.data, error);
		}
		if (!consumer->destroyed) {
			lose(consumer, error);
		}
		leave(consumer);
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
	gid_closer_close(their_end);
	if (error == -ETIMEDOUT) {
		unsubscribe(consumer, error);
	}
	return error;
}

/*
 * Asks for the stream for the first time, and waits for the answer where nobody wants to be told of
 * it. Sets the domain's error.
 */
static int subscribe(struct gid_consumer *consumer) {
	bool is_async = consumer->options.answered != NULL;
	int error = is_async ? ask_async(consumer) : ask(consumer);
	bool may_pass = is_too_soon(consumer, error) ||
			(is_async && (error == -ETIMEDOUT || error == -EAGAIN));
	if (consumer->options.reconnect && may_pass) {
		consumer->number = 0;
		lose(consumer, error);
		return 0;
	}
	return error;
}

/* --- what gidd says of the subscription ------------------------------------------------------- */

/* Takes the descriptor, as -1, where it is worth keeping. */
static int attach_ring(struct gid_consumer *consumer, uint64_t window_offset, int *fd) {
	const void *shared;
	int error = gid_memory_attach(*fd, window_offset, sizeof(struct gid_wire_ring), &shared);
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
	gid_ring_consumer_init(&consumer->ring, shared, consumer->memory.data);
	gid_sleep_attach(&consumer->sleep, consumer->memory.data, window_offset == 0);
	return 0;
}

static void take_subscribed(struct gid_consumer *consumer,
		const struct gid_wire_subscribed *subscribed, int *fd) {
	int error = attach_ring(consumer, subscribed->window_offset, fd);
	if (error < 0) {
		lose(consumer, error);
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
		lose(consumer, reason);
	}
}

static void say_hearing(struct gid_consumer *consumer, bool on) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_HEARING, 0);
	message.hearing.subscription = consumer->number;
	message.hearing.on = on;
	if (consumer->number != 0 && consumer->domain != NULL) {
		gid_domain_post(consumer->domain, &message, NULL, 0);
	}
}

/* A way past gidd, in or out. The other machine rings by it once we have said that we hear. */
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
		say_hearing(consumer, true);
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
		stop_hearing(consumer);
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

/* Before anything else is done with a new consumer. */
static void init_subscription(struct gid_consumer *consumer) {
	consumer->doorbell = GID_DOORBELL_NONE;
	consumer->memory.fd = consumer->ring_fd = -1;
	consumer->state = GID_CONSUMER_WAITING;
	consumer->back_off = BACK_OFF_MIN_NS;
	consumer->retry = (struct gid_timer){.expired = retry_due, .data = consumer};
	consumer->endpoint.kind = GID_ENDPOINT_STREAM;
	consumer->endpoint.message = take_message;
	consumer->endpoint.reconnected = ask_new_gidd;
}

/* --- receiving -------------------------------------------------------------------------------- */

/* For people, who read it by gidctl. */
static void add_latency(struct gid_wire_page *page, uint64_t submit_time, uint64_t now) {
	uint64_t latency = now > submit_time ? now - submit_time : 0, us = latency / 1000;
	size_t last = sizeof(page->latency_buckets) / sizeof(page->latency_buckets[0]) - 1;
	size_t bucket = us == 0 ? 0 : 64 - (size_t)__builtin_clzll(us);
	uint64_t *count = &page->latency_buckets[bucket < last ? bucket : last];
	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&page->received, page->received + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&page->latency_sum_ns, page->latency_sum_ns + latency, __ATOMIC_RELAXED);
}

static void write_point(const struct gid_consumer *consumer, enum gid_timeline_event event,
		const struct gid_frame *frame, uint64_t now) {
	gid_timeline_write(consumer->timeline,
			&(struct gid_timeline_point){
					.event = event,
					.time = now,
					.gid = frame->gid,
					.stream = consumer->name,
					.sequence = frame->sequence,
					.domain = gid_domain_number(consumer->domain),
			});
}

static void note_gap(struct gid_consumer *consumer, struct gid_frame *frame) {
	uint64_t last = consumer->last_sequence;
	if (last != 0 && frame->sequence > last + 1) {
		consumer->stats.missed += frame->sequence - last - 1;
		frame->flags |= GID_FRAME_DISCONT;
	} else if (last == 0 && consumer->stats.reconnects > 0) {
		frame->flags |= GID_FRAME_DISCONT;
	}
	consumer->last_sequence = frame->sequence;
}

static void give_back(struct gid_consumer *consumer, uint64_t index) {
	if (gid_ring_release(&consumer->ring, index) == 0 &&
			gid_ring_should_wake_producer(&consumer->ring)) {
		gid_doorbell_ring(&consumer->doorbell);
	}
}

/* Saturates: the time is the producer's, and may be anything. */
static void translate(uint64_t *time, int64_t offset) {
	if (*time != GID_TIME_NONE) {
		int64_t ours;
		if (__builtin_add_overflow((int64_t)*time, offset, &ours)) {
			ours = INT64_MAX;
		}
		*time = ours < 0 ? 0 : (uint64_t)ours;
	}
}

/* From the producer's clock to ours, where that is another machine's. */
static void translate_times(const struct gid_consumer *consumer, struct gid_frame *frame) {
	const struct gid_clock *clocks = consumer->domain == NULL ? NULL : consumer->domain->clocks;
	if (clocks != NULL) {
		int64_t offset = clocks[consumer->producer_domain].offset;
		translate(&frame->capture_time, offset);
		translate(&frame->submit_time, offset);
		translate(&frame->present_time, offset);
	}
}

/* Returns 1, or -EPROTO for what no honest producer writes. */
static int take_frame(struct gid_consumer *consumer, const struct gid_wire_frame *copy,
		struct gid_frame *frame) {
	if (gid_wire_get_frame(frame, copy, consumer->producer_domain) < 0) {
		return -EPROTO;
	}
	frame->index = consumer->base + copy->index;
	frame->note = frame->note_size > 0 ? &consumer->ring.note : NULL;
	consumer->stats.frames++;
	consumer->back_off = BACK_OFF_MIN_NS; /* a stream that lives is asked for at once again */
	note_gap(consumer, frame);
	translate_times(consumer, frame);
	uint64_t now = gid_clock_now();
	add_latency(consumer->memory.data, frame->submit_time, now);
	if (consumer->timeline != NULL) {
		write_point(consumer, GID_TIMELINE_RECEIVE, frame, now);
	}
	if (frame->gid == GID_NONE) {
		give_back(consumer, copy->index); /* there is no slot to be read */
	}
	return 1;
}

/* Whether the producer ended the stream in good order. */
static bool is_closed(const struct gid_consumer *consumer) {
	return __atomic_load_n(&consumer->shared->closed, __ATOMIC_ACQUIRE) == 1;
}

static void set_over(struct gid_consumer *consumer) {
	if (!consumer->over) {
		consumer->over = true;
		consumer->reason = is_closed(consumer) ? 0 : -EPIPE;
	}
}

/*
 * Takes what was rung past gidd: it is an edge, which who polls has to see once and no more.
 * Returns whether the socket has something to be read.
 */
static bool take_edges(struct gid_consumer *consumer) {
	struct epoll_event events[3];
	int count = epoll_wait(consumer->sleep.epoll_fd, events, 3, 0);
	bool by_socket = false, rung = false;
	for (int i = 0; i < count; i++) {
		by_socket |= events[i].data.fd == consumer->doorbell.fd;
		rung |= events[i].data.fd == consumer->doorbell.hear;
	}
	if (rung &&
			!gid_doorbell_bears(&consumer->doorbell,
					gid_ring_is_readable(&consumer->ring))) {
		stop_hearing(consumer);
		say_hearing(consumer, false);
	}
	return by_socket;
}

/* Awake again: silences the doorbell, where that was it. The one system call after a sleep. */
static int wake_up(struct gid_consumer *consumer) {
	gid_sleep_calm(&consumer->sleep);
	if (consumer->shared == NULL || consumer->ring.asleep % 2 == 0 || consumer->over) {
		return 0;
	}
	gid_ring_consumer_wake(&consumer->ring);
	if (!gid_sleep_was_rung(&consumer->sleep, consumer->memory.data) ||
			(consumer->doorbell.hear >= 0 && !take_edges(consumer))) {
		return 0;
	}
	int heard = gid_doorbell_silence(&consumer->doorbell, consumer->ring.asleep / 2);
	if (heard == -EPIPE) {
		set_over(consumer);
		heard = 0;
	}
	return heard;
}

static int receive(struct gid_consumer *consumer, struct gid_frame *frame) {
	int got = wake_up(consumer);
	/* A few times at most: what comes while falling asleep, and comes again, has rung. */
	for (int i = 0; got == 0 && i < 3; i++) {
		struct gid_wire_frame copy;
		got = gid_ring_receive(&consumer->ring, &copy);
		if (got == 1) {
			got = take_frame(consumer, &copy, frame);
			gid_ring_consumer_wake(&consumer->ring);
			gid_sleep_end(&consumer->sleep);
		} else if (got == 0 && consumer->over) {
			got = -EPIPE;
		} else if (got == 0 && is_closed(consumer)) {
			set_over(consumer); /* its last words may have come just now */
		} else if (got == 0 && !gid_ring_consumer_sleep(&consumer->ring)) {
			got = -EAGAIN;
		}
	}
	return got == 0 ? -EAGAIN : got;
}

int gid_consumer_receive(struct gid_consumer *consumer, struct gid_frame *frame) {
	consumer->sleep.word = NULL;
	if (consumer->state != GID_CONSUMER_LIVE) {
		gid_sleep_calm(&consumer->sleep);
		return consumer->state == GID_CONSUMER_ENDED ? -EPIPE : -EAGAIN;
	}
	int got = receive(consumer, frame);
	if (got == -EAGAIN) {
		gid_sleep_prepare(&consumer->sleep, &consumer->ring);
	}
	if (got == -EPIPE || got == -EPROTO) {
		lose(consumer, got == -EPIPE ? consumer->reason : got);
	}
	return got;
}

int gid_consumer_release(struct gid_consumer *consumer, const struct gid_frame *frame) {
	if (frame->index - consumer->base > INT64_MAX) {
		return 0; /* went back with its subscription */
	}
	if (consumer->shared == NULL) {
		return -EINVAL;
	}
	/* Before, for the producer may have it back and say so at once. */
	uint64_t now = consumer->timeline != NULL ? gid_clock_now() : 0;
	int error = gid_ring_release(&consumer->ring, frame->index - consumer->base);
	if (error < 0 && frame->gid == GID_NONE) {
		return 0; /* an entry without a picture goes back by itself */
	}
	if (error == 0 && consumer->timeline != NULL) {
		write_point(consumer, GID_TIMELINE_RELEASED, frame, now);
	}
	if (error == 0 && gid_ring_should_wake_producer(&consumer->ring)) {
		gid_doorbell_ring(&consumer->doorbell);
	}
	return error;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static bool has_news(const struct gid_consumer *consumer) {
	return consumer->shared != NULL &&
			(consumer->over || gid_ring_is_readable(&consumer->ring) ||
					is_closed(consumer));
}

/* Looks without sleeping, as long as the caller wants that. */
static bool spin(const struct gid_consumer *consumer, uint64_t until) {
	if (consumer->options.spin_us == 0) {
		return has_news(consumer);
	}
	do {
		for (int i = 0; i < 64; i++) {
			if (has_news(consumer)) {
				return true;
			}
			pause_briefly();
		}
	} while (gid_clock_now() < until);
	return false;
}

/* Before a sleep. Returns 1 where there is no need for it, 0, or -EPROTO. */
static int fall_asleep(struct gid_consumer *consumer) {
	int error = wake_up(consumer);
	if (error < 0 || consumer->shared == NULL) {
		return error;
	}
	return consumer->over || gid_ring_consumer_sleep(&consumer->ring);
}

static int sleep_until(struct gid_consumer *consumer, uint64_t deadline) {
	struct pollfd fds[] = {
			{.fd = gid_domain_get_fd(consumer->domain), .events = POLLIN},
			{.fd = consumer->sleep.epoll_fd, .events = POLLIN},
	};
	uint64_t now = gid_clock_now();
	/* Rounded up, so as not to come too early by less than a millisecond. */
	uint64_t left = deadline <= now ? 0 : (deadline - now + 999999) / 1000000;
	int ready = poll(fds, 2, deadline == UINT64_MAX ? -1 : (int)left);
	return ready < 0 ? -errno : ready;
}

static int dispatch(struct gid_consumer *consumer) {
	int error = gid_domain_dispatch(consumer->domain);
	consumer->dispatched = gid_clock_now();
	return error < 0 && consumer->state != GID_CONSUMER_LIVE ? error : 0;
}

static int wait_until(struct gid_consumer *consumer, uint64_t now, uint64_t deadline) {
	uint64_t spin_end = now + consumer->options.spin_us * 1000ull;
	bool late = now - consumer->dispatched >= DISPATCH_NS;
	for (;;) {
		if (late || !has_news(consumer)) {
			int error = late || consumer->shared == NULL ? dispatch(consumer) : 0;
			if (error < 0) {
				return error;
			}
			late = false;
		}
		if (consumer->destroyed || consumer->state == GID_CONSUMER_ENDED) {
			return -EPIPE;
		}
		if (consumer->shared != NULL && spin(consumer, spin_end)) {
			return 1;
		}
		int news = fall_asleep(consumer);
		if (news < 0) {
			lose(consumer, news);
			continue;
		}
		if (news > 0) {
			return 1; /* a frame, or the end, which receiving tells */
		}
		if (deadline != UINT64_MAX && gid_clock_now() >= deadline) {
			return 0;
		}
		int ready = sleep_until(consumer, deadline);
		if (ready < 0) {
			return ready;
		}
		late = true;
	}
}

int gid_consumer_wait(struct gid_consumer *consumer, int timeout_ms) {
	if (consumer->domain == NULL) {
		return -EPIPE;
	}
	if (consumer->options.sleeps) {
		return -EINVAL; /* no doorbell rings */
	}
	uint64_t now = gid_clock_now();
	if (has_news(consumer) && now - consumer->dispatched < DISPATCH_NS) {
		return 1;
	}
	uint64_t deadline = timeout_ms < 0 ? UINT64_MAX : now + (uint64_t)timeout_ms * 1000000;
	enter(consumer);
	int result = wait_until(consumer, now, deadline);
	leave(consumer);
	return result;
}

/* --- a thread that does nothing else ---------------------------------------------------------- */

int gid_consumer_sleep(struct gid_consumer *consumer) {
	if (!consumer->options.sleeps) {
		return -EINVAL;
	}
	gid_sleep_wait(&consumer->sleep);
	return 0;
}

void gid_consumer_interrupt(struct gid_consumer *consumer) {
	gid_sleep_interrupt(&consumer->sleep);
}

bool gid_consumer_wants_shown(const struct gid_consumer *consumer) {
	return consumer->shared != NULL &&
			__atomic_load_n(&consumer->shared->wants_shown, __ATOMIC_RELAXED) != 0;
}

int gid_consumer_tell_shown(struct gid_consumer *consumer, const struct gid_shown *shown) {
	if (consumer->shared == NULL) {
		return -ENOTCONN;
	}
	struct gid_shown told = *shown;
	if (consumer->domain != NULL && consumer->domain->clocks != NULL) {
		int64_t offset = consumer->domain->clocks[consumer->producer_domain].offset;
		translate(&told.time, offset == INT64_MIN ? INT64_MAX : -offset);
	}
	gid_ring_tell_shown(&consumer->ring, &told);
	return 0;
}

int gid_consumer_tell_showable(struct gid_consumer *consumer, const struct gid_showable *showable,
		uint32_t number) {
	if (consumer->shared == NULL) {
		return -ENOTCONN;
	}
	gid_ring_tell_showable(&consumer->ring, showable,
			number < GID_SHOWABLE_MAX ? number : GID_SHOWABLE_MAX);
	return 0;
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
static void lose_domain(struct gid_endpoint *endpoint) {
	struct gid_consumer *consumer = from_endpoint(endpoint);
	gid_endpoint_remove(consumer->domain, &consumer->endpoint);
	gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
	consumer->options.state = NULL;
	consumer->domain = NULL;
	gid_timeline_unref(consumer->timeline);
	consumer->timeline = NULL;
	lose(consumer, -ENOTCONN);
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
	struct gid_consumer *consumer = calloc(1, sizeof(*consumer));
	if (consumer == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	consumer->domain = domain;
	consumer->sleep.epoll_fd = consumer->sleep.nudge_fd = -1;
	init_subscription(consumer);
	consumer->endpoint.domain_destroyed = lose_domain;
	int error = read_arguments(consumer, owner, name, options);
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
	enter(consumer);
	consumer->destroyed = true;
	if (consumer->domain != NULL) {
		gid_endpoint_remove(consumer->domain, &consumer->endpoint);
		gid_domain_request_cancel(consumer->domain, consumer);
		gid_loop_disarm(&consumer->domain->loop, &consumer->retry);
		unsubscribe(consumer, 0);
	}
	leave(consumer);
}
