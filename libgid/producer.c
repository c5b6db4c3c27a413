// SPDX-License-Identifier: MIT
/**
 * A producer: its life, its stream at gidd (published, subscribed to by those who may, published
 * again to a gidd that came back), and what can be asked of it. fanout.c has its frames.
 */
#include "producer.h"

#include <errno.h>
#include <gid/timeline.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "closer.h"
#include "connection.h"
#include "socket.h"

#define LEASE_DEFAULT_NS UINT64_C(1000000000)
#define LEASE_PATIENT_NS UINT64_C(10000000000) /* a busy machine stops programs for seconds */
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

void gid_producer_clean_up(struct gid_producer *producer) {
	if (producer->has_dead) {
		free_dead(producer);
	}
	if (producer->destroyed) {
		gid_loop_disarm(&producer->loop, &producer->lease);
		gid_loop_finish(&producer->loop);
		gid_timeline_unref(producer->timeline);
		free(producer->slabs);
		gid_producer_end_metadata(producer);
		free(producer);
	}
}

/* --- consumers come --------------------------------------------------------------------------- */

/*
 * Why a subscription ended that we did not end. Where the consumer is on another machine, perhaps
 * only a gidd on the way ended, and the consumer still reads.
 */
static enum gid_subscription_end left(const struct gid_subscription *subscription) {
	return subscription->remote ? GID_END_BROKEN : GID_END_CONSUMER_LEFT;
}

/* A consumer rang, hung up, or rings without being asked. */
static void rung(void *data) {
	struct gid_subscription *subscription = data;
	uint64_t sleeps = (subscription->ring.asleep + 1) / 2;
	int heard = gid_doorbell_silence(&subscription->doorbell, sleeps);
	gid_ring_producer_wake(&subscription->ring);
	gid_subscription_collect(subscription);
	if (heard < 0) {
		gid_subscription_end(subscription,
				heard == -EPIPE ? left(subscription) : GID_END_BROKEN, heard);
	} else if (heard > 0 && !subscription->dead) {
		gid_loop_arm(&subscription->producer->loop, &subscription->poll,
				gid_clock_now() + GID_DOORBELL_POLL_NS);
	}
}

static void send_hearing(struct gid_subscription *subscription, bool on) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_HEARING, 0);
	message.hearing.subscription = subscription->number;
	message.hearing.on = on;
	if (subscription->number != 0) {
		gid_domain_post(subscription->producer->domain, &message, NULL, 0);
	}
}

static void stop_hearing(struct gid_subscription *subscription) {
	gid_loop_unwatch(&subscription->producer->loop, subscription->doorbell.hear);
	gid_socket_close_fds(&subscription->doorbell.hear, 1);
}

/* A consumer of another machine rang past gidd. */
static void rung_past_gidd(void *data) {
	struct gid_subscription *subscription = data;
	gid_ring_producer_wake(&subscription->ring);
	gid_subscription_collect(subscription);
	if (!subscription->dead &&
			!gid_doorbell_bears(&subscription->doorbell, subscription->ring.released)) {
		stop_hearing(subscription);
		send_hearing(subscription, false);
	}
}

/*
 * An eventfd that bypasses gidd, to be rung or to be heard. The other machine uses the latter once
 * we have sent HEARING.
 */
static void take_doorbell(
		struct gid_subscription *subscription, enum gid_wire_doorbell_way way, int *fd) {
	struct gid_doorbell *bell = &subscription->doorbell;
	if (way == GID_WIRE_DOORBELL_RING && bell->ring < 0) {
		bell->ring = *fd;
		*fd = -1;
	} else if (way == GID_WIRE_DOORBELL_HEAR && bell->hear < 0 &&
			gid_loop_watch_edges(&subscription->producer->loop, *fd, rung_past_gidd,
					subscription) == 0) {
		bell->hear = *fd;
		*fd = -1;
		send_hearing(subscription, true);
	}
}

static void refuse(struct gid_producer *producer, uint32_t number, int reason) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
	message.subscription_end.subscription = number;
	message.subscription_end.reason = reason;
	gid_domain_post(producer->domain, &message, NULL, 0);
}

/* Grants go first, on the same socket: a consumer that hears ACCEPT can import what we send. */
static int accept_consumer(struct gid_producer *producer, struct gid_subscription *subscription) {
	subscription->ring.ring->lease_ns = producer->options.lease_ns;
	subscription->ring.ring->patient = producer->options.patient;
	subscription->ring.ring->metadata = gid_producer_metadata_slab(producer);
	subscription->poll = (struct gid_timer){.expired = rung, .data = subscription};
	int error = gid_loop_watch_edges(
			&producer->loop, subscription->doorbell.fd, rung, subscription);
	if (error < 0) {
		return error;
	}
	error = gid_producer_grant_slabs(producer, subscription);
	if (error == 0) {
		union gid_wire_message message;
		gid_wire_begin(&message, GID_WIRE_ACCEPT, 0);
		message.subscribed.subscription = subscription->number;
		message.subscribed.window_offset = subscription->memory.window_offset;
		error = gid_domain_post(producer->domain, &message, &subscription->memory.fd, 1);
	}
	if (error < 0) {
		gid_loop_unwatch(&producer->loop, subscription->doorbell.fd);
		return error;
	}
	if (!producer->options.quiet) {
		gid_ring_producer_sleep(&subscription->ring);
	}
	subscription->ring.ring->wants_shown = producer->wants_shown;
	subscription->next = producer->subscriptions;
	producer->subscriptions = subscription;
	producer->consumers++;
	if (producer->options.subscriber != NULL) {
		producer->options.subscriber(producer->options.data, subscription->domain, true,
				producer->consumers);
	}
	gid_producer_send_shown(producer, subscription);
	return 0;
}

/* Of one for whose ring there is memory, or why there is none. */
static void answer_consumer(
		struct gid_producer *producer, struct gid_subscription *subscription, int error) {
	error = error < 0 ? error : accept_consumer(producer, subscription);
	if (error < 0) {
		refuse(producer, subscription->number, error);
		gid_subscription_destroy(subscription);
	}
}

static void stop_joining(struct gid_subscription *subscription) {
	struct gid_subscription **at = &subscription->producer->joining;
	while (*at != subscription) {
		at = &(*at)->next;
	}
	*at = subscription->next;
}

static void ring_answered(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_subscription *subscription = data;
	struct gid_producer *producer = subscription->producer;
	gid_producer_enter(producer);
	stop_joining(subscription);
	error = gid_subscription_take_ring(producer->domain, subscription,
			producer->options.credit_max, error, answer, fds);
	answer_consumer(producer, subscription, error);
	gid_producer_leave(producer);
}

/* It went, or the stream ends, before there was memory for its ring. */
static void forget_joining(struct gid_subscription *subscription) {
	stop_joining(subscription);
	gid_memory_unask(subscription->producer->domain, subscription);
	gid_subscription_destroy(subscription);
}

static void forget_all_joining(struct gid_producer *producer) {
	while (producer->joining != NULL) {
		forget_joining(producer->joining);
	}
}

/* Returns why it is refused at once, or 0. */
static int begin_consumer(struct gid_producer *producer, const struct gid_wire_subscriber *request,
		int fds[static GID_WIRE_FDS_MAX]) {
	if (producer->options.allow != NULL &&
			!producer->options.allow(producer->options.data, request->domain)) {
		return -EPERM;
	}
	if (producer->destroyed) { /* by that callback */
		return -EPIPE;
	}
	struct gid_subscription *subscription;
	int error = gid_subscription_create(producer, request, fds, &subscription);
	if (error < 0) {
		return error;
	}
	error = gid_subscription_ask_for_ring(producer->domain, subscription,
			producer->options.credit_max, ring_answered);
	if (error == -EINPROGRESS) {
		subscription->next = producer->joining;
		producer->joining = subscription;
	} else {
		answer_consumer(producer, subscription, error);
	}
	return 0;
}

static void end_consumer(struct gid_subscription *subscription) {
	subscription->number = 0; /* gidd does not need to be told */
	gid_subscription_collect(subscription);
	gid_subscription_end(subscription, left(subscription), 0);
}

static struct gid_subscription *find_in(struct gid_subscription *first, uint32_t number) {
	struct gid_subscription *sub = first;
	while (sub != NULL && (sub->dead || sub->number != number)) {
		sub = sub->next;
	}
	return number == 0 ? NULL : sub;
}

static struct gid_subscription *find_subscription(
		const struct gid_producer *producer, uint32_t number) {
	return find_in(producer->subscriptions, number);
}

/* gidd says that a subscription is over. Returns whether that was one of ours. */
static bool take_end(const struct gid_producer *producer, uint32_t number) {
	struct gid_subscription *subscription = find_subscription(producer, number);
	struct gid_subscription *joining = find_in(producer->joining, number);
	if (subscription != NULL) {
		end_consumer(subscription);
	} else if (joining != NULL) {
		forget_joining(joining);
	}
	return subscription != NULL || joining != NULL;
}

/* A message about one subscription. Returns whether that is one of ours. */
static bool take_word(const struct gid_producer *producer, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_subscription *subscription;
	switch (message->header.type) {
	case GID_WIRE_SUBSCRIPTION_END:
		return take_end(producer, message->subscription_end.subscription);
	case GID_WIRE_DOORBELL:
		subscription = find_subscription(producer, message->doorbell.subscription);
		if (subscription != NULL) {
			take_doorbell(subscription, message->doorbell.way, &fds[0]);
		}
		return subscription != NULL;
	case GID_WIRE_HEARING:
		subscription = find_subscription(producer, message->hearing.subscription);
		if (subscription != NULL) {
			stop_hearing(subscription);
		}
		return subscription != NULL;
	default:
		return false;
	}
}

static struct gid_producer *from_endpoint(struct gid_endpoint *endpoint) {
	return (struct gid_producer *)((char *)endpoint - offsetof(struct gid_producer, endpoint));
}

/* What a consumer brought may be anything, and its close may wait for that domain. */
static void close_refused(uint32_t domain, int fds[static GID_WIRE_FDS_MAX]) {
	const uint64_t before = gid_closer_charge(domain);
	gid_socket_close_fds(fds, GID_WIRE_FDS_MAX);
	gid_closer_charge(before);
}

static bool take_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct gid_producer *producer = from_endpoint(endpoint);
	bool ours = false;
	gid_producer_enter(producer);
	if (message->header.type == GID_WIRE_SUBSCRIBER && producer->stream != 0 &&
			message->subscriber.stream == producer->stream) {
		int error = begin_consumer(producer, &message->subscriber, fds);
		if (error < 0) {
			close_refused(message->subscriber.domain, fds);
		}
		if (error < 0 && !producer->destroyed) {
			refuse(producer, message->subscriber.subscription, error);
		}
		ours = true;
	} else {
		ours = take_word(producer, message, fds);
	}
	gid_producer_leave(producer);
	return ours;
}

/* --- gidd comes back -------------------------------------------------------------------------- */

/*
 * Announces a subscription to a new gidd, which counts and shows it, and ends it if it is not
 * allowed.
 */
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
		gid_producer_end_all(producer, error);
		gid_producer_leave(producer);
	}
}

/* Asks for the grants before the slab's first frame, which then need not wait for gidd. */
static void slab_made(struct gid_endpoint *endpoint, struct gid_slab *slab) {
	struct gid_producer *producer = from_endpoint(endpoint);
	if (producer->options.granted != NULL && strcmp(producer->name, slab->stream) == 0) {
		gid_producer_expect_slab(producer, slab);
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
static void domain_destroyed(struct gid_endpoint *endpoint) {
	struct gid_producer *producer = from_endpoint(endpoint);
	producer->options.released = NULL;
	producer->options.subscriber = NULL;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		sub->number = 0;
	}
	gid_producer_enter(producer);
	forget_all_joining(producer);
	gid_producer_end_all(producer, 0);
	gid_producer_run_deferred(producer);
	gid_producer_forget_shown(producer);
	gid_producer_cancel_grants(producer);
	gid_endpoint_remove(producer->domain, &producer->endpoint);
	producer->domain = NULL;
	gid_producer_leave(producer);
}

/* Waits for gidd, unless options.published is to be told. */
static int request_stream(struct gid_producer *producer) {
	struct gid_domain *domain = producer->domain;
	union gid_wire_message message, answer;
	put_publish(producer, &message);
	/* A producer of that stream went before gidd had answered: this one goes on with it. */
	const bool is_asked = gid_domain_request_take_over(domain, &message, published, producer);
	if (producer->options.published != NULL) {
		return is_asked ? 0
				: gid_domain_request_async(
						  domain, &message, NULL, 0, published, producer);
	}
	int error;
	if (is_asked) {
		struct gid_packet packet;
		error = gid_domain_await(domain, &packet);
		answer = packet.message;
		gid_socket_close_fds(packet.fds, GID_WIRE_FDS_MAX);
	} else {
		error = gid_domain_request(domain, &message, NULL, 0, &answer, NULL);
	}
	producer->stream = error == 0 ? answer.result.value : 0;
	return error;
}

static int publish(struct gid_producer *producer) {
	int error = request_stream(producer);
	if (error < 0) {
		return error;
	}
	producer->endpoint = (struct gid_endpoint){
			.kind = GID_ENDPOINT_STREAM,
			.message = take_message,
			.reconnected = publish_again,
			.slab_made = slab_made,
			.domain_destroyed = domain_destroyed,
	};
	gid_endpoint_add(producer->domain, &producer->endpoint);
	return 0;
}

static void post_unpublish(struct gid_domain *domain, uint32_t stream) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_UNPUBLISH, 0);
	message.unpublish.stream = stream;
	gid_domain_post(domain, &message, NULL, 0);
}

/* gidd made a stream whose producer had gone: its name would be taken for as long as we live. */
static void published_late(void *data, int error, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	if (error == 0) {
		post_unpublish(data, answer->result.value);
	}
}

static void unpublish(struct gid_producer *producer) {
	gid_endpoint_remove(producer->domain, &producer->endpoint);
	gid_domain_request_hand_over(producer->domain, producer, published_late);
	gid_producer_cancel_grants(producer);
	forget_all_joining(producer);
	gid_producer_end_all(producer, 0);
	gid_producer_run_deferred(producer);
	gid_producer_forget_shown(producer);
	gid_producer_end_metadata(producer);
	if (producer->stream != 0) {
		post_unpublish(producer->domain, producer->stream);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

static int read_options(struct gid_producer *producer, const struct gid_producer_options *options) {
	if (options != NULL) {
		size_t size = options->size;
		if (size < offsetof(struct gid_producer_options, quiet)) {
			return gid_domain_fail(producer->domain, -EINVAL,
					"set the options' `size` to sizeof(struct "
					"gid_producer_options)");
		}
		memcpy(&producer->options, options,
				size < sizeof(*options) ? size : sizeof(*options));
	}
	if (producer->options.lease_ns == 0) {
		producer->options.lease_ns =
				producer->options.patient ? LEASE_PATIENT_NS : LEASE_DEFAULT_NS;
	}
	if (producer->options.credit_max == 0) {
		producer->options.credit_max = CREDIT_DEFAULT;
	}
	if (producer->options.metadata_max > GID_METADATA_MAX) {
		return gid_domain_fail(producer->domain, -EINVAL,
				"metadata of a frame has at most %u bytes, not %u",
				GID_METADATA_MAX, producer->options.metadata_max);
	}
	if (producer->options.credit_max > GID_CREDIT_MAX) {
		return gid_domain_fail(producer->domain, -EINVAL,
				"a consumer can hold 1 to %u frames, not %u", GID_CREDIT_MAX,
				producer->options.credit_max);
	}
	return 0;
}

static void lease_due(void *data) {
	gid_producer_run_leases(data, gid_clock_now());
}

int gid_producer_create(struct gid_domain *domain, const char *name,
		const struct gid_producer_options *options, struct gid_producer **result) {
	if (!gid_name_is_valid(name)) {
		return gid_domain_fail(domain, -EINVAL, "%s", GID_STREAM_NAME_RULE);
	}
	int error = gid_domain_check_sealed(domain);
	if (error < 0) {
		return error;
	}
	struct gid_producer *producer = calloc(1, sizeof(*producer));
	if (producer == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	producer->domain = domain;
	producer->lease = (struct gid_timer){.expired = lease_due, .data = producer};
	memcpy(producer->name, name, strlen(name));
	error = read_options(producer, options);
	if (error < 0) {
		goto error_producer;
	}
	error = gid_loop_init(&producer->loop);
	if (error < 0) {
		gid_domain_fail(domain, error, "%s", gid_strerror(error));
		goto error_producer;
	}
	error = publish(producer);
	if (error < 0) {
		goto error_loop;
	}
	producer->timeline = gid_domain_get_timeline(domain, producer->options.timeline);
	gid_closer_prepare(); /* empties the doorbells of consumers that come */
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
		unpublish(producer);
		producer->domain = NULL; /* which may be gone before the outermost call ends */
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
		gid_subscription_collect(sub);
	}
}

int gid_producer_dispatch(struct gid_producer *producer) {
	gid_producer_enter(producer);
	gid_loop_dispatch(&producer->loop);
	if (producer->options.quiet) {
		for (struct gid_subscription *sub = producer->subscriptions; sub != NULL;
				sub = sub->next) {
			gid_ring_producer_wake(&sub->ring);
			gid_subscription_collect(sub);
		}
	} else {
		sleep_all(producer);
	}
	gid_producer_catch_up(producer);
	gid_producer_leave(producer);
	return 0;
}

void gid_producer_want_release(struct gid_producer *producer) {
	gid_producer_enter(producer);
	sleep_all(producer);
	gid_producer_leave(producer);
}

void gid_producer_lacks_memory(struct gid_producer *producer) {
	uint64_t now = gid_clock_now();
	if (producer->lacking_since == 0 || now - producer->lacking_at > GID_LACKING_NS) {
		producer->lacking_since = now;
	}
	producer->lacking_at = now;
}

/* --- asked, and told to count ----------------------------------------------------------------- */

bool gid_producer_needs_window(const struct gid_producer *producer) {
	const struct gid_subscription *sub = producer->subscriptions;
	while (sub != NULL && (sub->dead || !sub->remote)) {
		sub = sub->next;
	}
	return sub != NULL;
}

uint32_t gid_producer_consumers(const struct gid_producer *producer) {
	return producer->consumers;
}

void gid_producer_count_copy(struct gid_producer *producer, uint64_t bytes) {
	gid_producer_count_copy_for(producer, GID_COPY_UNSAID, bytes);
}

void gid_producer_count_copy_for(
		struct gid_producer *producer, enum gid_copy_reason reason, uint64_t bytes) {
	producer->stats.copied_frames++;
	producer->stats.copied_bytes += bytes;
	producer->copy_reasons[reason < GID_COPY_REASONS_MAX ? reason : GID_COPY_UNSAID]++;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		sub->recounted = true;
	}
}

void gid_producer_set_check(struct gid_producer *producer, gid_check_func make, void *data) {
	producer->make_check = make;
	producer->check_data = data;
}

static bool may_wait_for(const struct gid_subscription *subscription) {
	return !subscription->dead && !subscription->given_up;
}

uint32_t gid_producer_room(const struct gid_producer *producer) {
	uint32_t least = UINT32_MAX;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		bool waits = may_wait_for(sub) && !gid_subscription_gives_way(sub);
		uint32_t room = waits ? gid_ring_room(&sub->ring) : UINT32_MAX;
		least = room < least ? room : least;
	}
	return least;
}

uint32_t gid_producer_unread(const struct gid_producer *producer) {
	uint32_t most = 0;
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		uint32_t unread = may_wait_for(sub) ? gid_ring_unread(&sub->ring) : 0;
		most = unread > most ? unread : most;
	}
	return most;
}

int gid_producer_get_shown(
		struct gid_producer *producer, uint32_t domain, struct gid_shown *shown) {
	uint64_t now = gid_clock_now();
	if (!producer->wants_shown) {
		producer->wants_shown = true;
		for (struct gid_subscription *sub = producer->subscriptions; sub != NULL;
				sub = sub->next) {
			__atomic_store_n(&sub->ring.ring->wants_shown, 1, __ATOMIC_RELAXED);
		}
	}
	if (domain == 0 && producer->consumers != 1) {
		return -ENODATA;
	}
	for (struct gid_subscription *sub = producer->subscriptions; sub != NULL; sub = sub->next) {
		if (!sub->dead && (domain == 0 || sub->domain == domain) &&
				gid_ring_get_shown(&sub->ring, shown) &&
				gid_wire_shown_is_right(shown, producer->sequence, now)) {
			return 0;
		}
	}
	return -ENODATA;
}

/* Leaves of `all` what is among `more`, too, in the kinds of memory that both have. */
static int intersect(struct gid_showable *all, int count, const struct gid_showable *more,
		int more_count) {
	int left = 0;
	for (int i = 0; i < count; i++) {
		uint32_t memory = 0;
		for (int k = 0; k < more_count; k++) {
			bool same = all[i].fourcc == more[k].fourcc &&
					all[i].modifier == more[k].modifier;
			memory |= same ? all[i].memory & more[k].memory : 0;
		}
		if (memory != 0) {
			all[left] = all[i];
			all[left++].memory = memory;
		}
	}
	return left;
}

int gid_producer_get_showable(const struct gid_producer *producer,
		struct gid_showable showable[static GID_SHOWABLE_MAX]) {
	struct gid_showable told[GID_SHOWABLE_MAX];
	int count = -ENODATA;
	for (const struct gid_subscription *sub = producer->subscriptions; sub != NULL;
			sub = sub->next) {
		int number = sub->dead ? -ENODATA : gid_ring_get_showable(&sub->ring, told);
		int right = 0;
		for (int i = 0; i < number; i++) {
			if (gid_wire_showable_is_right(&told[i])) {
				told[right++] = told[i];
			}
		}
		if (right == 0) {
			continue; /* whoever can show nothing is no reason for anything */
		}
		if (count < 0) {
			memcpy(showable, told, (size_t)right * sizeof(told[0]));
			count = right;
		} else {
			count = intersect(showable, count, told, right);
		}
	}
	return count;
}

static bool is_in_flight(const struct gid_subscription *until, const struct gid_subscription *first,
		gid_id gid, uint32_t before) {
	for (const struct gid_subscription *sub = first; sub != NULL; sub = sub->next) {
		uint32_t end = sub == until ? before : sub->ring.entries;
		for (uint32_t i = 0; i < end; i++) {
			const struct gid_ring_sent *sent = &sub->ring.sent[i];
			if (gid_ring_is_out(sent) && sent->gid == gid) {
				return true;
			}
		}
		if (sub == until) {
			break;
		}
	}
	return false;
}

/* Slots that at least one consumer has: each counts where it is first found. */
static uint32_t count_held(const struct gid_producer *producer) {
	uint32_t count = 0;
	for (const struct gid_subscription *sub = producer->subscriptions; sub != NULL;
			sub = sub->next) {
		for (uint32_t i = 0; i < sub->ring.entries && sub->ring.pictures > 0; i++) {
			const struct gid_ring_sent *sent = &sub->ring.sent[i];
			count += gid_ring_is_out(sent) && sent->gid != GID_NONE &&
					!is_in_flight(sub, producer->subscriptions, sent->gid, i);
		}
	}
	return count;
}

void gid_producer_get_stats(const struct gid_producer *producer, struct gid_producer_stats *stats) {
	*stats = producer->stats;
	stats->consumers = producer->consumers;
	stats->held = count_held(producer);
}
