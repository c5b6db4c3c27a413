// SPDX-License-Identifier: MIT
#include "streams.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "client.h"
#include "closer.h"
#include "descriptor.h"
#include "link.h"
#include "memory.h"
#include "offers.h"
#include "quota.h"
#include "seal.h"
#include "shm_range.h"
#include "shm_window.h"

void stream_init(struct gidd *gidd) {
	TAILQ_INIT(&gidd->streams);
	TAILQ_INIT(&gidd->subscriptions);
	TAILQ_INIT(&gidd->over);
}

void stream_close(struct gidd *gidd) {
	gidd->asks = sd_event_source_disable_unref(gidd->asks);
	subscription_finish_over(gidd);
}

static struct stream *stream_find(struct gidd *gidd, const char *name) {
	struct stream *stream;
	TAILQ_FOREACH(stream, &gidd->streams, entry) {
		if (strcmp(stream->name, name) == 0) {
			return stream;
		}
	}
	return NULL;
}

/* --- asking producers ------------------------------------------------------------------------- */

/*
 * Each subscription makes its producer allocate a ring, and readers can come and go as often as
 * they like. So gidd limits the rate at which it asks producers for each consumer, and the burst.
 */
#define ASK_EVERY_NS UINT64_C(5000000)
#define ASKS_AT_ONCE 64
/* When deferred requests are tried again. */
#define PUT_OFF_US 20000

/* A busy producer is not asked: it would lose its connection over a full queue. */
static bool may_ask(struct peer *consumer, bool is_busy) {
	uint64_t now = gid_clock_now();
	uint64_t paid = consumer->asks_paid > now ? consumer->asks_paid : now;
	if (is_busy || paid - now >= ASKS_AT_ONCE * ASK_EVERY_NS) {
		return false;
	}
	consumer->asks_paid = paid + ASK_EVERY_NS;
	return true;
}

static void begin(struct gidd *gidd, struct subscription *subscription);

static int handle_put_off(sd_event_source *source, uint64_t now, void *data) {
	struct gidd *gidd = data;
	struct subscription *subscription;
	SUBSCRIPTION_FOREACH_SAFE(subscription, &gidd->subscriptions, entry) {
		if (subscription->is_put_off) {
			subscription->is_put_off = false;
			begin(gidd, subscription);
		}
	}
	return 0;
}

static int look_later(struct gidd *gidd) {
	int state = SD_EVENT_ONESHOT;
	if (gidd->asks == NULL) {
		return sd_event_add_time_relative(gidd->event, &gidd->asks, CLOCK_MONOTONIC,
				PUT_OFF_US, PUT_OFF_US / 10, handle_put_off, gidd);
	}
	sd_event_source_get_enabled(gidd->asks, &state);
	if (state != SD_EVENT_OFF) {
		return 0;
	}
	int error = sd_event_source_set_time_relative(gidd->asks, PUT_OFF_US);
	return error < 0 ? error : sd_event_source_set_enabled(gidd->asks, SD_EVENT_ONESHOT);
}

static void ask_producer(struct subscription *subscription, struct stream *stream) {
	subscription->stream = stream;
	subscription->state = SUBSCRIPTION_ASKED;
	TAILQ_INSERT_TAIL(&stream->subscriptions, subscription, stream_entry);
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBER, 0);
	message.subscriber.subscription = subscription->number | GID_WIRE_LOWER_SIDE;
	message.subscriber.stream = stream->number;
	message.subscriber.domain = subscription->consumer_domain;
	message.subscriber.credit = subscription->credit;
	message.subscriber.flags = subscription->flags |
			(link_is_remote(subscription->consumer) ? GID_WIRE_REMOTE : 0);
	message.subscriber.window_offset = subscription->window_offset;
	peer_send(&stream->owner->peer, &message, subscription->fds, 2);
	subscription_answer(subscription, 0, 1, "");
}

static void handle_result(struct gidd *gidd, struct subscription *subscription,
		const struct gid_wire_result *result) {
	if (result->error < 0) {
		subscription_send_consumer_end(subscription, result->error, result->text);
		subscription_destroy(gidd, subscription);
	} else {
		subscription_answer(subscription, 0, result->value, "");
	}
}

/* Whether the request is deferred. If the subscription ends before, its producer hears nothing. */
static bool put_off(struct gidd *gidd, struct subscription *subscription, bool is_busy) {
	subscription->is_put_off =
			!may_ask(subscription->consumer, is_busy) && look_later(gidd) == 0;
	if (subscription->is_put_off) {
		subscription_answer(subscription, 0, 0, "");
	}
	return subscription->is_put_off;
}

static void ask_in_turn(
		struct gidd *gidd, struct subscription *subscription, struct stream *stream) {
	if (!put_off(gidd, subscription, packet_stream_has_queue(&stream->owner->stream))) {
		ask_producer(subscription, stream);
	}
}

/* Takes the answer of the other domain's gidd to SUBSCRIBE. */
static const char *handle_answer(struct link *link, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX], void *data) {
	struct subscription *subscription = data;
	if (answer != NULL && answer->header.type != GID_WIRE_RESULT) {
		return "it answers with a slab that it was not asked for";
	}
	if (answer != NULL && subscription->via == &link->peer) {
		handle_result(link->peer.gidd, subscription, &answer->result);
	}
	return NULL;
}

static void ask_link(struct subscription *subscription, struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBE, 0);
	message.subscribe.subscription = subscription_number_on_link(subscription, &link->peer);
	message.subscribe.domain = subscription->domain;
	message.subscribe.credit = subscription->credit;
	message.subscribe.flags = subscription->flags;
	message.subscribe.window_offset = subscription->window_offset;
	strcpy(message.subscribe.name, subscription->name);
	subscription->via = &link->peer;
	if (!link->kind->windows_only) {
		subscription_lend(gidd, subscription);
	}
	if (link_request(link, &message, subscription->fds, 2, handle_answer, subscription) < 0) {
		subscription->via = NULL;
		subscription_send_consumer_end(subscription, -EAGAIN,
				"that domain has not answered what was asked before");
		subscription_destroy(gidd, subscription);
	}
}

/*
 * Asks the producer, or the other domain's gidd. Without either it waits, or answers with an error
 * and destroys the subscription.
 */
static void begin(struct gidd *gidd, struct subscription *subscription) {
	bool wait = (subscription->flags & GID_WIRE_WAIT) != 0;
	if (subscription->domain == gidd->self->number) {
		struct stream *stream = stream_find(gidd, subscription->name);
		if (stream != NULL) {
			ask_in_turn(gidd, subscription, stream);
		} else if (wait) {
			subscription_answer(subscription, 0, 0, "");
		} else {
			subscription_send_consumer_end(
					subscription, -ENOENT, SUBSCRIPTION_NO_STREAM);
			subscription_destroy(gidd, subscription);
		}
		return;
	}
	struct link *link = link_find(gidd, subscription->domain);
	if (link != NULL && link->state == LINK_UP) {
		bool is_busy = link_is_busy(link) ||
				subscription_has_many_over(gidd, subscription->consumer->source);
		if (put_off(gidd, subscription, is_busy)) {
			return;
		}
		/*
		 * The link may keep the consumer's end of the doorbell: the consumer is charged for
		 * it.
		 */
		uint64_t before = gid_closer_charge(subscription->consumer->source);
		ask_link(subscription, link);
		gid_closer_charge(before);
	} else if (wait) {
		subscription_answer(subscription, 0, 0, "");
	} else {
		char why[192];
		snprintf(why, sizeof(why), "the link to domain %s is down: is its gidd running?",
				config_domain_by_number(gidd->config, subscription->domain)->name);
		subscription_send_consumer_end(subscription, -ENOTCONN, why);
		subscription_destroy(gidd, subscription);
	}
}

/* --- subscriptions from before this gidd ------------------------------------------------------ */

/*
 * Their frames flow past gidd, which only records them: to count and show them, and to end those
 * that are no longer allowed. Each of the two clients tells its own gidd. If both have the same
 * gidd, it recognises the subscription by its page.
 */
static struct subscription *create_live(struct gidd *gidd, const struct config_domain *owner,
		const char *name, const int fds[static 2], uint64_t window_offset,
		uint64_t ring_offset) {
	const void *ring;
	struct subscription *subscription =
			subscription_create(gidd, owner, name, fds[0], window_offset);
	if (subscription == NULL) {
		return NULL;
	}
	if (gid_memory_map(fds[1], ring_offset, sizeof(struct gid_wire_ring), &ring) < 0) {
		subscription_destroy(gidd, subscription);
		return NULL;
	}
	subscription->ring = ring;
	subscription->state = SUBSCRIPTION_LIVE;
	subscription->answered = true;
	subscription->page_inode = descriptor_inode(fds[0]);
	return subscription;
}

/*
 * Finds the half of a subscription within our domain that the other client told of: its producer if
 * `has_producer`, else its consumer.
 */
static struct subscription *find_twin(struct gidd *gidd, bool has_producer, const char *name,
		int page, uint64_t window_offset) {
	uint64_t inode = descriptor_inode(page);
	struct subscription *twin;
	TAILQ_FOREACH(twin, &gidd->subscriptions, entry) {
		bool is_half = has_producer ? twin->stream != NULL && twin->consumer == NULL
					    : twin->stream == NULL && twin->consumer != NULL;
		if (is_half && twin->page_inode == inode && inode != 0 &&
				twin->window_offset == window_offset &&
				twin->domain == gidd->self->number &&
				twin->consumer_domain == gidd->self->number &&
				strcmp(twin->name, name) == 0) {
			return twin;
		}
	}
	return NULL;
}

/* Logs the error, and answers with it. */
static void refuse(struct peer *consumer, uint32_t serial, int error, const char *why) {
	peer_log(consumer, LOG_LEVEL_WARNING, "subscription refused: %s", why);
	if (error == -EDQUOT) {
		peer_refuse(consumer, serial, error, "%s", why);
	} else {
		peer_result(consumer, serial, error, 0, "%s", why);
	}
}

static int check_by_consumer(struct peer *consumer, const struct gid_wire_subscribe *request,
		int fds[static 2], const char **why) {
	int error = subscription_check_memory(consumer, request->window_offset,
			sizeof(struct gid_wire_page), &fds[0], why);
	if (error == 0 && (consumer->client == NULL || request->window_offset != 0)) {
		*why = "only a client's subscription, outside of windows, can be live already";
		return -EINVAL;
	}
	return error < 0 ? error
			 : descriptor_take_shared(&fds[1], sizeof(struct gid_wire_ring), why);
}

static void live_by_consumer(struct peer *consumer, const struct config_domain *owner,
		const struct gid_wire_subscribe *request, int fds[static 2]) {
	struct gidd *gidd = consumer->gidd;
	uint32_t serial = request->header.serial;
	const char *wrong;
	char why[192];
	int error = check_by_consumer(consumer, request, fds, &wrong);
	if (error == 0) {
		error = subscription_take_quota(consumer, request->credit, why);
		wrong = why;
	}
	if (error < 0) {
		refuse(consumer, serial, error, wrong);
		return;
	}
	struct subscription *subscription = owner == gidd->self
			? find_twin(gidd, true, request->name, fds[0], 0)
			: NULL;
	if (subscription == NULL) {
		subscription = create_live(gidd, owner, request->name, fds, 0, 0);
	}
	if (subscription == NULL) {
		subscription_give_quota(consumer, request->credit);
		peer_result(consumer, serial, -ENOMEM, 0, "gidd is out of memory");
		return;
	}
	if (subscription->producer_pays) {
		/* From now on the consumer is charged, by its own credit. */
		subscription_give_quota(&subscription->stream->owner->peer, subscription->credit);
		subscription->producer_pays = false;
	}
	subscription_set_consumer(subscription, consumer, request);
	peer_result(consumer, serial, 0, 1, "%s", "");
	subscription_end_if_doubtful(gidd, subscription);
}

/* Never 0, and not the number of any existing stream. */
static uint32_t new_number(struct gidd *gidd) {
	const struct stream *stream;
	do {
		gidd->stream_number = gidd->stream_number % UINT32_MAX + 1;
		TAILQ_FOREACH(stream, &gidd->streams, entry) {
			if (stream->number == gidd->stream_number) {
				break;
			}
		}
	} while (stream != NULL);
	return gidd->stream_number;
}

static struct stream *find_stream(struct client *producer, uint32_t number) {
	struct stream *stream;
	TAILQ_FOREACH(stream, &producer->streams, owner_entry) {
		if (stream->number == number) {
			break;
		}
	}
	return stream;
}

static int check_by_producer(struct client *producer, const struct gid_wire_subscriber *request,
		const struct stream *stream, int fds[static 2], const char **why) {
	struct gidd *gidd = producer->peer.gidd;
	const struct config_domain *reader = config_domain_by_number(gidd->config, request->domain);
	if (seal_is_on(gidd)) {
		*why = gidd->seal.text;
		return -ESHUTDOWN;
	}
	if (stream == NULL || reader == NULL ||
			!access_may_read_stream(gidd->config, gidd->self, reader, stream->name)) {
		*why = SUBSCRIPTION_NO_STREAM;
		return -ENOENT;
	}
	if (config_is_remote(gidd->config, gidd->self, reader)) {
		*why = "it came from another machine, and ended when gidd was restarted";
		return -EPIPE;
	}
	int error = request->window_offset == 0
			? descriptor_take_shared(&fds[0], sizeof(struct gid_wire_page), why)
			: shm_window_check_read(gidd, request->domain, fds[0],
					  request->window_offset, sizeof(struct gid_wire_page),
					  why);
	if (error < 0) {
		return error;
	}
	return request->ring_offset == 0
			? descriptor_take_shared(&fds[1], sizeof(struct gid_wire_ring), why)
			: shm_range_check(producer, fds[1], request->ring_offset,
					  sizeof(struct gid_wire_ring), true, why);
}

/* For a consumer that only the producer has told of. */
static int create_for_producer(struct client *producer, const struct gid_wire_subscriber *request,
		const struct stream *stream, const int fds[static 2], struct subscription **result,
		char limit[static 192], const char **why) {
	struct gidd *gidd = producer->peer.gidd;
	int error = request->domain == gidd->self->number
			? 0
			: subscription_check_held(
					  gidd, request->domain, producer, request->credit, limit);
	if (error == 0) {
		error = subscription_take_quota(&producer->peer, request->credit, limit);
	}
	if (error < 0) {
		*why = limit;
		return error;
	}
	struct subscription *subscription = create_live(gidd, gidd->self, stream->name, fds,
			request->window_offset, request->ring_offset);
	if (subscription == NULL) {
		subscription_give_quota(&producer->peer, request->credit);
		*why = "gidd is out of memory";
		return -ENOMEM;
	}
	subscription->consumer_domain = request->domain;
	subscription->credit = request->credit;
	subscription->flags = request->flags;
	subscription->producer_pays = true;
	subscription_await_consumer(gidd, subscription);
	*result = subscription;
	return 0;
}

/* The ring that the consumer told of may be any ring: the producer's one replaces it. */
static int take_ring(struct subscription *subscription, int fd, uint64_t offset, const char **why) {
	const void *ring;
	int error = gid_memory_map(fd, offset, sizeof(struct gid_wire_ring), &ring);
	if (error < 0) {
		*why = "its ring cannot be mapped";
		return error;
	}
	gid_memory_unmap(subscription->ring, sizeof(*subscription->ring));
	subscription->ring = ring;
	return 0;
}

static int take_over(struct client *producer, const struct gid_wire_subscriber *request,
		int fds[static 2], char limit[static 192], const char **why) {
	struct gidd *gidd = producer->peer.gidd;
	struct stream *stream = find_stream(producer, request->stream);
	struct subscription *subscription = NULL;
	int error = check_by_producer(producer, request, stream, fds, why);
	if (error < 0) {
		return error;
	}
	if (request->domain == gidd->self->number) {
		subscription = find_twin(gidd, false, stream->name, fds[0], request->window_offset);
	}
	if (subscription != NULL) {
		error = take_ring(subscription, fds[1], request->ring_offset, why);
		if (error < 0) {
			return error;
		}
	} else {
		error = create_for_producer(
				producer, request, stream, fds, &subscription, limit, why);
		if (error < 0) {
			return error;
		}
	}
	subscription->has_producers_ring = true;
	subscription->producer_number = request->subscription;
	subscription->stream = stream;
	TAILQ_INSERT_TAIL(&stream->subscriptions, subscription, stream_entry);
	return 0;
}

void stream_subscribe_live(struct client *producer, const struct gid_wire_subscriber *request,
		int fds[static 2]) {
	char limit[192];
	const char *why;
	if ((request->flags & GID_WIRE_LIVE) == 0) {
		peer_violation(&producer->peer, "a message that no client sends");
		return;
	}
	if (request->subscription == 0 ||
			!subscription_number_is_valid(&producer->peer, request->subscription)) {
		peer_violation(&producer->peer,
				"a subscription's number is in use, or this side may not choose it");
		return;
	}
	int error = take_over(producer, request, fds, limit, &why);
	if (error < 0) {
		peer_log(&producer->peer, LOG_LEVEL_WARNING,
				"a subscription that is live already ends: %s", why);
		subscription_send_end(&producer->peer, request->subscription, error);
	}
}

/* --- SUBSCRIBE -------------------------------------------------------------------------------- */

/*
 * Whether a client asks for a stream of its own domain that nobody may publish: it would wait
 * forever. A stream that is published already comes from an older configuration.
 */
static bool is_never_published(const struct peer *consumer, const struct config_domain *owner,
		const struct gid_wire_subscribe *request) {
	struct gidd *gidd = consumer->gidd;
	return consumer->client != NULL && owner == gidd->self &&
			!access_may_publish(gidd->config, owner, request->name) &&
			stream_find(gidd, request->name) == NULL;
}

/* The domain whose stream is asked for; NULL, after answering, if there is none. */
static const struct config_domain *find_owner(
		struct peer *consumer, const struct gid_wire_subscribe *request) {
	struct gidd *gidd = consumer->gidd;
	const struct config_domain *owner = gidd->self;
	char why[SUBSCRIPTION_WHY_MAX];
	if (consumer->client == NULL) {
		owner = config_domain_by_number(gidd->config, request->domain);
	} else if (request->domain_name[0] != '\0') {
		owner = config_domain_find(gidd->config, request->domain_name);
	}
	int error = subscription_check_reader(consumer, owner, request->name, why);
	if (error < 0) {
		peer_log(consumer, LOG_LEVEL_WARNING, "may not read stream %s of domain %s",
				request->name, owner == NULL ? request->domain_name : owner->name);
		peer_refuse(consumer, request->header.serial, error, "%s", why);
		return NULL;
	}
	if (is_never_published(consumer, owner, request)) {
		peer_refuse(consumer, request->header.serial, -ENOENT,
				"the cockpit's configuration has no stream %s of domain %s, which "
				"is this program's own: check its name, or name its domain",
				request->name, owner->name);
		return NULL;
	}
	return owner;
}

/* Checks that the stream's domain can see the consumer's page. */
static int check_reach(struct peer *consumer, const struct config_domain *owner,
		const struct gid_wire_subscribe *request, int page, const char **why) {
	struct link *link = link_find(consumer->gidd, owner->number);
	if (consumer->client != NULL && link != NULL &&
			!link_can_carry(&link->peer, page, request->window_offset)) {
		*why = "the stream's domain is another machine: the page must be in a window of "
		       "ours that it reads";
		return -ENOTSUP;
	}
	return 0;
}

void stream_subscribe(struct peer *consumer, const struct gid_wire_subscribe *request,
		int fds[static 2]) {
	uint32_t serial = request->header.serial;
	const char *wrong;
	char why[192];
	if (!subscription_number_is_valid(consumer, request->subscription)) {
		peer_violation(consumer,
				"a subscription's number is in use, or this side may not choose it");
		return;
	}
	const struct config_domain *owner = find_owner(consumer, request);
	if (owner == NULL) {
		return;
	}
	if ((request->flags & GID_WIRE_LIVE) != 0) {
		live_by_consumer(consumer, owner, request, fds);
		return;
	}
	int error = subscription_check_memory(consumer, request->window_offset,
			sizeof(struct gid_wire_page), &fds[0], &wrong);
	if (error == 0) {
		error = check_reach(consumer, owner, request, fds[0], &wrong);
	}
	if (error == 0) {
		error = descriptor_check_doorbell(fds[1], &wrong);
	}
	if (error == 0) {
		error = subscription_take_quota(consumer, request->credit, why);
		wrong = why;
	}
	if (error < 0) {
		refuse(consumer, serial, error, wrong);
		return;
	}
	struct subscription *subscription = subscription_create(
			consumer->gidd, owner, request->name, fds[0], request->window_offset);
	if (subscription == NULL) {
		subscription_give_quota(consumer, request->credit);
		peer_result(consumer, serial, -ENOMEM, 0, "gidd is out of memory");
		return;
	}
	for (int i = 0; i < 2; i++) {
		subscription->fds[i] = fds[i];
		fds[i] = -1;
	}
	subscription_set_consumer(subscription, consumer, request);
	begin(consumer->gidd, subscription);
}

/* --- state of links --------------------------------------------------------------------------- */

void stream_link_up(struct gidd *gidd, struct peer *link) {
	struct subscription *subscription;
	SUBSCRIPTION_FOREACH_SAFE(subscription, &gidd->subscriptions, entry) {
		if (subscription->domain == link->domain && subscription->via == NULL &&
				subscription->state == SUBSCRIPTION_WAITING) {
			begin(gidd, subscription);
		}
	}
}

void stream_link_down(struct gidd *gidd, struct peer *link) {
	struct subscription *subscription;
	SUBSCRIPTION_FOREACH_SAFE(subscription, &gidd->subscriptions, entry) {
		bool live = subscription->state == SUBSCRIPTION_LIVE;
		if (subscription->consumer == link || subscription->via == link) {
			subscription_bells_end(gidd, &subscription->bells);
		}
		if (subscription->consumer == link && live) {
			/*
			 * Frames still flow. The doorbell tells the producer when the consumer is
			 * gone.
			 */
			TAILQ_REMOVE(&link->consuming, subscription, consumer_entry);
			subscription->consumer = NULL;
		} else if (subscription->consumer == link) {
			subscription_send_producer_end(subscription, -ENOTCONN);
			subscription_destroy(gidd, subscription);
		} else if (subscription->via == link && live) {
			subscription->via = NULL;
		} else if (subscription->via == link) {
			subscription_await_link(subscription);
			/*
			 * Only a subscription that may wait stays. For the others this answers or
			 * ends them.
			 */
			if (subscription->answered && (subscription->flags & GID_WIRE_WAIT) == 0) {
				subscription_send_consumer_end(subscription, -ENOTCONN, "");
				subscription_destroy(gidd, subscription);
			} else {
				begin(gidd, subscription);
			}
		}
	}
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Asks the producer of a new stream for all subscriptions that waited for it. */
static void ask_for_waiting(struct gidd *gidd, struct stream *stream) {
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &gidd->subscriptions, entry) {
		if (subscription->domain == gidd->self->number &&
				subscription->state == SUBSCRIPTION_WAITING &&
				strcmp(subscription->name, stream->name) == 0) {
			ask_in_turn(gidd, subscription, stream);
		}
	}
}

/* `reason` 0: the stream ended normally. */
static void end_subscriptions(struct gidd *gidd, struct stream *stream, int reason) {
	struct subscription *subscription;
	while ((subscription = TAILQ_FIRST(&stream->subscriptions)) != NULL) {
		subscription_send_consumer_end(subscription, reason, "the stream has ended");
		subscription_destroy(gidd, subscription);
	}
}

static void stream_destroy(struct gidd *gidd, struct stream *stream, int reason) {
	end_subscriptions(gidd, stream, reason);
	peer_log(&stream->owner->peer, LOG_LEVEL_INFO, "stream %s ends", stream->name);
	quota_give(stream->owner, QUOTA_STREAMS, 1);
	TAILQ_REMOVE(&stream->owner->streams, stream, owner_entry);
	TAILQ_REMOVE(&gidd->streams, stream, entry);
	free(stream);
	offers_changed(gidd);
}

__attribute__((format(printf, 4, 5))) static void refuse_publish(struct client *client,
		const struct gid_wire_publish *request, int error, const char *format, ...) {
	char why[256];
	va_list args;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	peer_log(&client->peer, LOG_LEVEL_WARNING, "stream %s refused: %s", request->name, why);
	peer_refuse(&client->peer, request->header.serial, error, "%s", why);
}

void stream_publish(struct client *client, const struct gid_wire_publish *request) {
	struct gidd *gidd = client->peer.gidd;
	if (!access_may_publish(gidd->config, gidd->self, request->name)) {
		refuse_publish(client, request, -EPERM,
				"the cockpit's configuration has no stream %s of domain %s: add it "
				"to streams= of a share, or to local= of the domain",
				request->name, gidd->self->name);
		return;
	}
	if (!client_may_publish(client, request->name)) {
		refuse_publish(client, request, -EPERM,
				"the cockpit's configuration does not let user %s publish stream "
				"%s: see publish= of [client %s …]",
				client->user, request->name, gidd->self->name);
		return;
	}
	const struct stream *twin = stream_find(gidd, request->name);
	if (twin != NULL) {
		refuse_publish(client, request, -EEXIST, "stream %s is published already by %s",
				request->name, twin->owner->peer.label);
		return;
	}
	char limit[192];
	int error = quota_take(client, QUOTA_STREAMS, 1, limit);
	if (error < 0) {
		refuse_publish(client, request, error, "%s", limit);
		return;
	}
	struct stream *stream = calloc(1, sizeof(*stream));
	if (stream == NULL) {
		quota_give(client, QUOTA_STREAMS, 1);
		refuse_publish(client, request, -ENOMEM, "gidd is out of memory");
		return;
	}
	stream->owner = client;
	stream->number = new_number(gidd);
	strcpy(stream->name, request->name);
	TAILQ_INIT(&stream->subscriptions);
	TAILQ_INSERT_TAIL(&gidd->streams, stream, entry);
	TAILQ_INSERT_TAIL(&client->streams, stream, owner_entry);
	peer_log(&client->peer, LOG_LEVEL_INFO, "publishes stream %s", stream->name);
	peer_result(&client->peer, request->header.serial, 0, stream->number, "%s", "");
	ask_for_waiting(gidd, stream);
	offers_changed(gidd);
}

void stream_unpublish(struct client *client, const struct gid_wire_unpublish *request) {
	struct stream *stream;
	TAILQ_FOREACH(stream, &client->streams, owner_entry) {
		if (stream->number == request->stream) {
			break;
		}
	}
	if (stream == NULL) {
		peer_result(&client->peer, request->header.serial, -ENOENT, 0,
				"this client has no stream %u", request->stream);
		return;
	}
	stream_destroy(client->peer.gidd, stream, 0);
	peer_result(&client->peer, request->header.serial, 0, 0, "%s", "");
}

void stream_destroy_all_of(struct client *client) {
	struct stream *stream;
	while ((stream = TAILQ_FIRST(&client->streams)) != NULL) {
		stream_destroy(client->peer.gidd, stream, -EPIPE);
	}
}

bool stream_is_withdrawn(const struct client *client, const struct config_domain *reader) {
	const struct gidd *gidd = client->peer.gidd;
	const struct stream *stream;
	TAILQ_FOREACH(stream, &client->streams, owner_entry) {
		if (access_is_withdrawn(gidd->config, gidd->self, reader, stream->name)) {
			return true;
		}
	}
	return false;
}
