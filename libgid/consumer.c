// SPDX-License-Identifier: MIT
/* A consumer: subscribes, takes frames out of its ring, gives them back, and finds its producer again. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "atomics.h"
#include "doorbell.h"
#include "memory.h"
#include "ring.h"
#include "control.h"

#define CREDIT_DEFAULT 4u
#define FLAG_DROP_OLD 1u
#define FLAG_WAIT 2u

struct gid_consumer {
	struct gid_domain *domain;
	struct gid_endpoint endpoint;
	struct gid_consumer_options options;
	char peer[GID_NAME_MAX + 1], name[GID_NAME_MAX + 1];
	enum gid_consumer_state state;
	int epoll_fd;
	int nudge_fd; /* makes epoll_fd readable where no doorbell does: the state changed */
	/* of the present subscription */
	uint32_t number;
	int doorbell; /* our end, -1 while there is none */
	struct gid_memory_own memory; /* of our page */
	const struct gid_wire_ring *shared; /* NULL while not live */
	struct gid_ring_consumer ring;
	uint32_t producer_domain;
	uint64_t last_sequence;
	struct gid_consumer_stats stats;
};

static uint64_t time_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void consumer_nudge(struct gid_consumer *consumer) {
	eventfd_write(consumer->nudge_fd, 1);
}

static void consumer_enter(
	struct gid_consumer *consumer, enum gid_consumer_state state, int reason) {
	consumer->state = state;
	consumer_nudge(consumer);
	if (consumer->options.state != NULL) {
		consumer->options.state(consumer->options.data, state, reason);
	}
}

/* Forgets the present subscription. Frames held go back by themselves: the doorbell hangs up. */
static void consumer_detach(struct gid_consumer *consumer) {
	if (consumer->shared != NULL) {
		gid_memory_unmap(consumer->shared, sizeof(*consumer->shared));
		consumer->shared = NULL;
	}
	if (consumer->doorbell >= 0) {
		close(consumer->doorbell);
		consumer->doorbell = -1;
	}
	if (consumer->memory.data != NULL) {
		gid_memory_finish(&consumer->memory);
		consumer->memory = (struct gid_memory_own){.fd = -1};
	}
	consumer->number = 0;
}

/* Unique in this process, and so on each of its connections; never 0. */
static uint32_t consumer_next_number(void) {
	static uint32_t last;
	uint32_t number;
	do {
		number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) & ~GID_WIRE_LOWER_SIDE;
	} while (number == 0);
	return number;
}

/* Prepares page and doorbell; `*end` is the producer's end of it, for the caller to send and close. */
static int consumer_prepare(
	struct gid_consumer *consumer, union gid_wire_message *message, int *end) {
	int ret = gid_memory_create(&consumer->memory, "gid-page", sizeof(struct gid_wire_page));
	if (ret < 0) {
		return ret;
	}
	int ends[2];
	ret = gid_doorbell_create(ends);
	if (ret < 0) {
		goto error_memory;
	}
	consumer->doorbell = ends[0];
	*end = ends[1];
	consumer->number = consumer_next_number();
	gid_wire_begin(message, GID_WIRE_SUBSCRIBE, 0);
	message->subscribe.subscription = consumer->number;
	message->subscribe.credit = consumer->options.credit;
	message->subscribe.flags = (consumer->options.drop_old ? FLAG_DROP_OLD : 0) |
		(consumer->options.reconnect ? FLAG_WAIT : 0);
	memcpy(message->subscribe.domain_name, consumer->peer, sizeof(consumer->peer));
	memcpy(message->subscribe.name, consumer->name, sizeof(consumer->name));
	return 0;

error_memory:
	gid_memory_finish(&consumer->memory);
	consumer->memory = (struct gid_memory_own){.fd = -1};
	return ret;
}

static void consumer_resubscribe(struct gid_consumer *consumer);

static void consumer_lose(struct gid_consumer *consumer, int reason) {
	bool told = consumer->number != 0;
	uint32_t number = consumer->number;
	consumer_detach(consumer);
	if (told && reason != -ENOTCONN) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
		message.subscription_end.subscription = number;
		message.subscription_end.reason = reason;
		gid_domain_post(consumer->domain, &message, NULL, 0);
	}
	consumer->last_sequence = 0;
	if (consumer->options.reconnect) {
		consumer_enter(consumer, GID_CONSUMER_WAITING, reason);
		consumer_resubscribe(consumer);
	} else {
		consumer_enter(consumer, GID_CONSUMER_ENDED, reason);
	}
}

static void consumer_subscribed_later(void *data, int error,
	const union gid_wire_message *answer, int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_consumer *consumer = data;
	if (error == 0 || error == -ENOTCONN || error == -ETIMEDOUT) {
		return; /* asked, or asked again when gidd is back */
	}
	consumer_detach(consumer);
	consumer_enter(consumer, GID_CONSUMER_ENDED, error);
}

static void consumer_resubscribe(struct gid_consumer *consumer) {
	gid_domain_request_cancel(consumer->domain, consumer);
	consumer_detach(consumer);
	union gid_wire_message message;
	int end;
	int ret = consumer_prepare(consumer, &message, &end);
	if (ret == 0) {
		int fds[] = {consumer->memory.fd, end};
		ret = gid_domain_request_async(
			consumer->domain, &message, fds, 2, consumer_subscribed_later, consumer);
		close(end);
	}
	if (ret < 0 && ret != -ENOTCONN) {
		consumer_detach(consumer);
		consumer_enter(consumer, GID_CONSUMER_ENDED, ret);
	}
}

static int consumer_attach(struct gid_consumer *consumer, int fd) {
	int ret = gid_memory_check(fd, sizeof(struct gid_wire_ring), 1);
	if (ret < 0) {
		return ret;
	}
	const void *shared;
	ret = gid_memory_map(fd, 0, sizeof(struct gid_wire_ring), &shared);
	if (ret < 0) {
		return ret;
	}
	struct epoll_event event = {.events = EPOLLIN};
	if (epoll_ctl(consumer->epoll_fd, EPOLL_CTL_ADD, consumer->doorbell, &event) < 0) {
		gid_memory_unmap(shared, sizeof(struct gid_wire_ring));
		return -errno;
	}
	consumer->shared = shared;
	gid_ring_consumer_init(&consumer->ring, shared, consumer->memory.data);
	return 0;
}

static bool consumer_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
	int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_consumer *consumer =
		(void *)((char *)endpoint - offsetof(struct gid_consumer, endpoint));
	switch (message->header.type) {
	case GID_WIRE_SUBSCRIBED:
		if (message->subscribed.subscription != consumer->number || consumer->shared != NULL) {
			return false;
		}
		int ret = consumer_attach(consumer, fds[0]);
		if (ret < 0) {
			consumer_lose(consumer, ret);
			return true;
		}
		consumer->producer_domain = message->subscribed.domain;
		consumer_enter(consumer, GID_CONSUMER_LIVE, 0);
		return true;
	case GID_WIRE_SUBSCRIPTION_END:
		if (message->subscription_end.subscription != consumer->number) {
			return false;
		}
		consumer->number = 0; /* gidd knows already */
		consumer_lose(consumer, message->subscription_end.reason);
		return true;
	default:
		return false;
	}
}

/* A live subscription needs no gidd; one that waits must be known to it. */
static void consumer_reconnected(struct gid_endpoint *endpoint) {
	struct gid_consumer *consumer =
		(void *)((char *)endpoint - offsetof(struct gid_consumer, endpoint));
	if (consumer->state == GID_CONSUMER_WAITING) {
		consumer_resubscribe(consumer);
	} else if (consumer->state == GID_CONSUMER_LIVE) {
		consumer->number = 0;
	}
}

static int consumer_open_fds(struct gid_consumer *consumer) {
	consumer->nudge_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	consumer->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (consumer->nudge_fd < 0 || consumer->epoll_fd < 0) {
		return -errno;
	}
	struct epoll_event event = {.events = EPOLLIN};
	if (epoll_ctl(consumer->epoll_fd, EPOLL_CTL_ADD, consumer->nudge_fd, &event) < 0) {
		return -errno;
	}
	return 0;
}

static void consumer_free(struct gid_consumer *consumer) {
	consumer_detach(consumer);
	if (consumer->nudge_fd >= 0) {
		close(consumer->nudge_fd);
	}
	if (consumer->epoll_fd >= 0) {
		close(consumer->epoll_fd);
	}
	free(consumer);
}

static int consumer_read_arguments(struct gid_consumer *consumer, const char *peer,
	const char *name, const struct gid_consumer_options *options) {
	if (!gid_name_is_valid(name) || (peer != NULL && !gid_name_is_valid(peer))) {
		return gid_domain_fail(consumer->domain, -EINVAL,
			"'%s' of '%s' cannot be a stream's name", name, peer != NULL ? peer : "");
	}
	memcpy(consumer->name, name, strlen(name));
	if (peer != NULL) {
		memcpy(consumer->peer, peer, strlen(peer));
	}
	if (options != NULL) {
		size_t size = options->size;
		memcpy(&consumer->options, options,
			size < sizeof(*options) ? size : sizeof(*options));
	}
	if (consumer->options.credit == 0) {
		consumer->options.credit = CREDIT_DEFAULT;
	}
	if (consumer->options.credit > GID_CREDIT_MAX) {
		return gid_domain_fail(
			consumer->domain, -EINVAL, "the credit must be 1 to %u", GID_CREDIT_MAX);
	}
	return 0;
}

int gid_consumer_create(struct gid_domain *domain, const char *peer, const char *name,
	const struct gid_consumer_options *options, struct gid_consumer **result) {
	struct gid_consumer *consumer = calloc(1, sizeof(*consumer));
	if (consumer == NULL) {
		return -ENOMEM;
	}
	consumer->domain = domain;
	consumer->epoll_fd = consumer->nudge_fd = consumer->doorbell = consumer->memory.fd = -1;
	consumer->state = GID_CONSUMER_WAITING;
	consumer->endpoint = (struct gid_endpoint){
		.kind = GID_ENDPOINT_STREAM,
		.message = consumer_message,
		.reconnected = consumer_reconnected,
	};
	union gid_wire_message message, answer;
	int end;
	int ret = consumer_read_arguments(consumer, peer, name, options);
	if (ret == 0) {
		ret = consumer_open_fds(consumer);
	}
	if (ret == 0) {
		ret = consumer_prepare(consumer, &message, &end);
	}
	if (ret < 0) {
		consumer_free(consumer);
		return ret;
	}
	int fds[] = {consumer->memory.fd, end};
	ret = gid_domain_request(domain, &message, fds, 2, &answer, NULL);
	close(end);
	if (ret < 0) {
		consumer_free(consumer);
		return ret;
	}
	gid_endpoint_add(domain, &consumer->endpoint);
	*result = consumer;
	return 0;
}

void gid_consumer_destroy(struct gid_consumer *consumer) {
	if (consumer == NULL) {
		return;
	}
	gid_endpoint_remove(consumer->domain, &consumer->endpoint);
	gid_domain_request_cancel(consumer->domain, consumer);
	if (consumer->number != 0) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
		message.subscription_end.subscription = consumer->number;
		gid_domain_post(consumer->domain, &message, NULL, 0);
	}
	consumer_free(consumer);
}

enum gid_consumer_state gid_consumer_get_state(const struct gid_consumer *consumer) {
	return consumer->state;
}

int gid_consumer_get_fd(const struct gid_consumer *consumer) {
	return consumer->epoll_fd;
}

static void consumer_ring_producer(struct gid_consumer *consumer) {
	if (gid_ring_must_ring_producer(&consumer->ring)) {
		gid_doorbell_ring(consumer->doorbell); /* that it is gone is found out when we look */
	}
}

/* For people: how many frames came, and how long after they were sent. */
static void consumer_count(struct gid_consumer *consumer, const struct gid_frame *frame) {
	struct gid_wire_page *page = consumer->memory.data;
	uint64_t now = time_now();
	uint64_t latency = now > frame->submit_time ? now - frame->submit_time : 0;
	uint64_t us = latency / 1000;
	size_t buckets = sizeof(page->latency_buckets) / sizeof(page->latency_buckets[0]);
	size_t bucket = us == 0 ? 0 : 64 - (size_t)__builtin_clzll(us);
	uint64_t *count = &page->latency_buckets[bucket < buckets ? bucket : buckets - 1];
	shared_store(count, *count + 1);
	shared_store(&page->received, page->received + 1);
	shared_store(&page->latency_sum_ns, page->latency_sum_ns + latency);
	consumer->stats.frames++;
	if (consumer->last_sequence != 0 && frame->sequence > consumer->last_sequence + 1) {
		consumer->stats.missed += frame->sequence - consumer->last_sequence - 1;
	}
	consumer->last_sequence = frame->sequence;
}

/* 1 with a frame; -EPROTO for an entry that no honest producer writes. */
static int consumer_take(
	struct gid_consumer *consumer, const struct gid_wire_frame *copy, struct gid_frame *frame) {
	gid_ring_consumer_wake(&consumer->ring);
	int ret = gid_wire_get_frame(frame, copy, consumer->producer_domain);
	if (ret < 0) {
		return -EPROTO;
	}
	frame->index = copy->index;
	consumer_count(consumer, frame);
	if (frame->gid == GID_NONE) {
		gid_ring_release(&consumer->ring, frame->index);
		consumer_ring_producer(consumer);
	}
	return 1;
}

/* The ring is empty: goes to sleep. 0: something came meanwhile; -EAGAIN; -EPIPE: nobody is there. */
static int consumer_sleep(struct gid_consumer *consumer) {
	eventfd_t nudges;
	eventfd_read(consumer->nudge_fd, &nudges);
	int hung_up = gid_doorbell_answer(consumer->doorbell);
	if (hung_up < 0 && !gid_ring_has_more(&consumer->ring)) {
		return -EPIPE;
	}
	/* A new sleep, since the producer rings once for each. */
	gid_ring_consumer_wake(&consumer->ring);
	return gid_ring_consumer_sleep(&consumer->ring) ? -EAGAIN : 0;
}

int gid_consumer_receive(struct gid_consumer *consumer, struct gid_frame *frame) {
	if (consumer->state != GID_CONSUMER_LIVE) {
		eventfd_t nudges;
		eventfd_read(consumer->nudge_fd, &nudges);
		return consumer->state == GID_CONSUMER_ENDED ? -EPIPE : -EAGAIN;
	}
	int ret;
	do {
		struct gid_wire_frame copy;
		ret = gid_ring_receive(&consumer->ring, &copy);
		if (ret == 1) {
			ret = consumer_take(consumer, &copy, frame);
		} else if (ret == 0) {
			ret = consumer_sleep(consumer);
		}
	} while (ret == 0);
	if (ret == -EPIPE) {
		bool closed = __atomic_load_n(&consumer->shared->closed, __ATOMIC_ACQUIRE) == 1;
		consumer_lose(consumer, closed ? 0 : -EPIPE);
	} else if (ret == -EPROTO) {
		consumer->options.reconnect = false;
		consumer_lose(consumer, -EPROTO);
	}
	return ret;
}

int gid_consumer_release(struct gid_consumer *consumer, const struct gid_frame *frame) {
	if (consumer->shared == NULL) {
		return -EINVAL; /* it went back when the subscription ended */
	}
	int ret = gid_ring_release(&consumer->ring, frame->index);
	if (ret == 0) {
		consumer_ring_producer(consumer);
	}
	return ret;
}

static bool consumer_has_more(const struct gid_consumer *consumer) {
	return consumer->shared != NULL && gid_ring_has_more(&consumer->ring);
}

int gid_consumer_wait(struct gid_consumer *consumer, int timeout_ms) {
	uint64_t start = time_now();
	uint64_t spin_end = start + consumer->options.spin_us * 1000ull;
	while (!consumer_has_more(consumer)) {
		if (time_now() < spin_end) {
			continue;
		}
		if (consumer->state == GID_CONSUMER_ENDED) {
			return -EPIPE;
		}
		if (consumer->shared != NULL) {
			int ret = consumer_sleep(consumer);
			if (ret != -EAGAIN) {
				return 1; /* a frame, or the end, which receiving tells */
			}
		}
		uint64_t passed_ms = (time_now() - start) / 1000000;
		if (timeout_ms >= 0 && passed_ms >= (uint64_t)timeout_ms) {
			return 0;
		}
		struct pollfd fds[] = {
			{.fd = gid_domain_get_fd(consumer->domain), .events = POLLIN},
			{.fd = consumer->epoll_fd, .events = POLLIN},
		};
		int left = timeout_ms < 0 ? -1 : timeout_ms - (int)passed_ms;
		if (poll(fds, 2, left) < 0 && errno != EINTR) {
			return -errno;
		}
		if (fds[0].revents != 0) {
			gid_domain_dispatch(consumer->domain);
		}
		if (consumer->shared == NULL) {
			eventfd_t nudges;
			eventfd_read(consumer->nudge_fd, &nudges);
		}
	}
	return 1;
}

void gid_consumer_get_stats(
	const struct gid_consumer *consumer, struct gid_consumer_stats *stats) {
	*stats = consumer->stats;
	if (consumer->shared != NULL) {
		stats->held = consumer->ring.held;
		stats->copied_frames = shared_load(&consumer->shared->copied_frames);
		stats->copied_bytes = shared_load(&consumer->shared->copied_bytes);
	}
}
