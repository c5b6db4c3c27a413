// SPDX-License-Identifier: MIT
#include "subscriptions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "audit.h"
#include "client.h"
#include "closer.h"
#include "descriptor.h"
#include "link.h"
#include "memory.h"
#include "quota.h"
#include "seal.h"
#include "shm_range.h"
#include "shm_window.h"
#include "socket.h"

#define NUMBER_MAX (GID_WIRE_LOWER_SIDE - 1)

/* Sent to the other machine during one sleep of its end. Honest clients ring less often. */
#define RINGS_MAX 64u

/* Rings that may be meant for another subscription, counted until something is new. */
#define IDLE_RINGS_MAX 4u

/* How much longer our copy of a doorbell stays open than that of another gidd, which is told. */
#define CLOSE_AFTER_US (UINT64_C(1) * 1000 * 1000)
/* With more of one user's, others of his are lent later. */
#define OVER_MAX 64u

/* The time that clients of a restarted gidd may take to register again. */
#define CONSUMER_PATIENCE_US (UINT64_C(5) * 1000 * 1000)

/* --- numbers ---------------------------------------------------------------------------------- */

static struct subscription *find_subscription(struct gidd *gidd, uint32_t number) {
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &gidd->subscriptions, entry) {
		if (subscription->number == number) {
			return subscription;
		}
	}
	return NULL;
}

static uint32_t new_number(struct gidd *gidd) {
	do {
		gidd->subscription_number = gidd->subscription_number % NUMBER_MAX + 1;
	} while (find_subscription(gidd, gidd->subscription_number) != NULL);
	return gidd->subscription_number;
}

uint32_t subscription_number_on_link(
		const struct subscription *subscription, const struct peer *link) {
	bool lower = link->gidd->self->number < link->domain;
	return subscription->number | (lower ? GID_WIRE_LOWER_SIDE : 0);
}

/* Whether a number on this connection was given by us. */
static bool number_is_ours(const struct peer *peer, uint32_t number) {
	bool lower = peer->client != NULL || peer->gidd->self->number < peer->domain;
	return ((number & GID_WIRE_LOWER_SIDE) != 0) == lower;
}

/*
 * Finds the subscription for a message from its producer's side: a client of ours, or the link to
 * the other domain. NULL: it has ended meanwhile.
 */
static struct subscription *find_for_producer(struct peer *peer, uint32_t number) {
	struct subscription *subscription =
			find_subscription(peer->gidd, number & ~GID_WIRE_LOWER_SIDE);
	if (subscription == NULL) {
		return NULL;
	}
	bool ours = peer->client == NULL ? subscription->via == peer
					 : subscription->stream != NULL &&
					subscription->stream->owner == peer->client;
	return ours ? subscription : NULL;
}

struct subscription *subscription_find_by_producer(struct peer *peer, uint32_t number) {
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &peer->gidd->subscriptions, entry) {
		if (number != 0 && subscription->producer_number == number &&
				subscription->stream != NULL &&
				subscription->stream->owner == peer->client) {
			return subscription;
		}
	}
	return NULL;
}

/* The subscription that our client, as consumer or producer, knows by the number, or NULL. */
static struct subscription *find_of_client(struct peer *peer, uint32_t number) {
	if (number_is_ours(peer, number)) {
		return find_for_producer(peer, number);
	}
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &peer->consuming, consumer_entry) {
		if (subscription->consumer_number == number) {
			break;
		}
	}
	return subscription;
}

bool subscription_number_is_valid(struct peer *consumer, uint32_t number) {
	bool lower = consumer->client == NULL && consumer->domain < consumer->gidd->self->number;
	if (((number & GID_WIRE_LOWER_SIDE) != 0) != lower ||
			(number & ~GID_WIRE_LOWER_SIDE) == 0) {
		return false; /* 0 is none: nobody would look at its memory */
	}
	struct subscription *other;
	TAILQ_FOREACH(other, &consumer->consuming, consumer_entry) {
		if (other->consumer_number == number) {
			return false;
		}
	}
	return consumer->client == NULL || subscription_find_by_producer(consumer, number) == NULL;
}

/* --- answers and ends ------------------------------------------------------------------------- */

void subscription_answer(
		struct subscription *subscription, int error, uint32_t value, const char *why) {
	if (!subscription->answered && subscription->consumer != NULL) {
		if (error < 0) {
			peer_refuse(subscription->consumer, subscription->serial, error, "%s", why);
		} else {
			peer_result(subscription->consumer, subscription->serial, 0, value, "%s",
					"");
		}
	}
	subscription->answered = true;
}

void subscription_send_end(struct peer *peer, uint32_t number, int reason) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIPTION_END, 0);
	message.subscription_end.subscription = number;
	message.subscription_end.reason = reason;
	peer_send(peer, &message, NULL, 0);
}

void subscription_send_consumer_end(
		struct subscription *subscription, int reason, const char *why) {
	if (!subscription->answered) {
		subscription_answer(subscription, reason == 0 ? -EPIPE : reason, 0, why);
	} else if (subscription->consumer != NULL) {
		subscription_send_end(
				subscription->consumer, subscription->consumer_number, reason);
	}
}

void subscription_send_producer_end(struct subscription *subscription, int reason) {
	if (subscription->state == SUBSCRIPTION_WAITING && subscription->via == NULL) {
		return;
	}
	if (subscription->stream != NULL) {
		uint32_t number = subscription->producer_number != 0
				? subscription->producer_number
				: subscription->number | GID_WIRE_LOWER_SIDE;
		subscription_send_end(&subscription->stream->owner->peer, number, reason);
	} else if (subscription->via != NULL) {
		subscription_send_end(subscription->via,
				subscription_number_on_link(subscription, subscription->via),
				reason);
	}
}

/* --- limits ----------------------------------------------------------------------------------- */

static bool is_named_by(const struct subscription *subscription, const struct client *producer) {
	return producer == NULL ? subscription->producer_number == 0
				: subscription->producer_number != 0 &&
					subscription->stream->owner == producer;
}

int subscription_check_held(struct gidd *gidd, uint32_t reader, const struct client *producer,
		uint32_t credit, char why[static 192]) {
	const struct config_share *share = config_share_find(
			gidd->config, gidd->self, config_domain_by_number(gidd->config, reader));
	uint64_t held = credit;
	const struct subscription *other;
	TAILQ_FOREACH(other, &gidd->subscriptions, entry) {
		if (other->domain == gidd->self->number && other->consumer_domain == reader &&
				is_named_by(other, producer)) {
			held += other->credit;
		}
	}
	if (share == NULL || held > share->held) {
		snprintf(why, 192, "over the limit held=%llu of what domain %s shares",
				share == NULL ? 0ull : (unsigned long long)share->held,
				gidd->self->name);
		return -EDQUOT;
	}
	return 0;
}

int subscription_take_quota(struct peer *consumer, uint32_t credit, char why[static 192]) {
	if (consumer->client == NULL) {
		return subscription_check_held(consumer->gidd, consumer->domain, NULL, credit, why);
	}
	int error = quota_take(consumer->client, QUOTA_SUBSCRIPTIONS, 1, why);
	if (error < 0) {
		return error;
	}
	error = quota_take(consumer->client, QUOTA_HELD, credit, why);
	if (error < 0) {
		quota_give(consumer->client, QUOTA_SUBSCRIPTIONS, 1);
	}
	return error;
}

void subscription_give_quota(struct peer *consumer, uint32_t credit) {
	if (consumer->client != NULL) {
		quota_give(consumer->client, QUOTA_SUBSCRIPTIONS, 1);
		quota_give(consumer->client, QUOTA_HELD, credit);
	}
}

int subscription_check_memory(struct peer *sender, uint64_t window_offset, uint64_t size, int *fd,
		const char **why) {
	if (window_offset == 0) {
		return descriptor_take_shared(fd, size, why);
	}
	if (sender->client == NULL) {
		return shm_window_check_read(
				sender->gidd, sender->domain, *fd, window_offset, size, why);
	}
	int error = shm_range_check(sender->client, *fd, window_offset, size, false, why);
	if (error == 0 && shm_range_make_read_only(sender->gidd, fd) < 0) {
		*why = "gidd has no descriptor left";
		error = -EMFILE;
	}
	return error;
}

/* --- life ------------------------------------------------------------------------------------- */

struct subscription *subscription_create(struct gidd *gidd, const struct config_domain *owner,
		const char *name, int page_fd, uint64_t window_offset) {
	struct subscription *subscription = calloc(1, sizeof(*subscription));
	const void *page;
	if (subscription == NULL ||
			gid_memory_map(page_fd, window_offset, sizeof(struct gid_wire_page),
					&page) < 0) {
		free(subscription);
		return NULL;
	}
	subscription->page = page;
	subscription->window_offset = window_offset;
	subscription->number = new_number(gidd);
	subscription->domain = owner->number;
	subscription->fds[0] = subscription->fds[1] = -1;
	strcpy(subscription->name, name);
	TAILQ_INSERT_TAIL(&gidd->subscriptions, subscription, entry);
	return subscription;
}

void subscription_set_consumer(struct subscription *subscription, struct peer *consumer,
		const struct gid_wire_subscribe *request) {
	subscription->consumer = consumer;
	subscription->giver = consumer->source;
	subscription->consumer_domain = consumer->domain;
	subscription->consumer_number = request->subscription;
	subscription->serial = request->header.serial;
	subscription->credit = request->credit;
	subscription->flags = request->flags;
	subscription->patience = sd_event_source_disable_unref(subscription->patience);
	TAILQ_INSERT_TAIL(&consumer->consuming, subscription, consumer_entry);
}

static int handle_patience(sd_event_source *source, uint64_t now, void *data) {
	struct subscription *subscription = data;
	struct gidd *gidd = subscription->stream->owner->peer.gidd;
	peer_log(&subscription->stream->owner->peer, LOG_LEVEL_WARNING,
			"a reader of %s did not tell gidd who it is: its subscription ends",
			subscription->name);
	subscription_send_producer_end(subscription, -EACCES);
	subscription_destroy(gidd, subscription);
	return 0;
}

void subscription_await_consumer(struct gidd *gidd, struct subscription *subscription) {
	if (subscription->consumer == NULL && subscription->patience == NULL &&
			subscription->consumer_domain == gidd->self->number &&
			access_some_read_a_part(gidd->config, gidd->self) &&
			sd_event_add_time_relative(gidd->event, &subscription->patience,
					CLOCK_MONOTONIC, CONSUMER_PATIENCE_US, 0, handle_patience,
					subscription) < 0) {
		log_error("no memory to wait for a reader of %s", subscription->name);
	}
}

bool subscription_end_if_doubtful(struct gidd *gidd, struct subscription *subscription) {
	struct peer *consumer = subscription->consumer;
	if (subscription->domain == gidd->self->number || consumer == NULL ||
			consumer->client == NULL || subscription->state != SUBSCRIPTION_LIVE ||
			subscription->has_producers_ring || client_may_read_all(consumer->client)) {
		return false;
	}
	subscription_send_consumer_end(subscription, -EPIPE, "");
	subscription_destroy(gidd, subscription);
	return true;
}

int subscription_check_reader(struct peer *consumer, const struct config_domain *owner,
		const char *stream, char why[static SUBSCRIPTION_WHY_MAX]) {
	const struct gidd *gidd = consumer->gidd;
	const struct config_domain *reader =
			config_domain_by_number(gidd->config, consumer->domain);
	struct client *client = consumer->client;
	if (client != NULL && !client_may_read(client, stream)) {
		snprintf(why, SUBSCRIPTION_WHY_MAX,
				"the cockpit's configuration does not let user %.63s read stream %s: "
				"add it to read= of [client %s %.63s]",
				client->user, stream, gidd->self->name,
				client_section_name(client));
		return -EACCES;
	}
	snprintf(why, SUBSCRIPTION_WHY_MAX, "%s", SUBSCRIPTION_NO_STREAM);
	/* A link may only ask for our own streams: gidd does not forward requests to others. */
	bool may = owner != NULL &&
			(owner == gidd->self || (client != NULL && client_may_import(client)));
	return may && access_may_read_stream(gidd->config, owner, reader, stream) ? 0 : -ENOENT;
}

/* In its consumer's end of the doorbell waits what that likes: it is charged, whoever ends it. */
static void close_fds(struct subscription *subscription) {
	uint64_t before = gid_closer_charge(subscription->giver);
	gid_socket_close_fds(subscription->fds, 2);
	gid_closer_charge(before);
}

/* `waits`: it is asked for anew later. */
static void forget_on_link(struct peer *peer, uint32_t number, bool waits) {
	if (peer != NULL && link_is_remote(peer)) {
		link_of(peer)->kind->forget(link_of(peer), number, waits);
	}
}

static void forget_at_producer(struct subscription *subscription, bool waits) {
	struct peer *via = subscription->via;
	if (via != NULL) {
		forget_on_link(via, subscription_number_on_link(subscription, via), waits);
	}
}

/* --- doorbells that other gidds have, too ----------------------------------------------------- */

static void close_first(struct gidd *gidd) {
	struct subscription *subscription = TAILQ_FIRST(&gidd->over);
	TAILQ_REMOVE(&gidd->over, subscription, entry);
	close_fds(subscription);
	free(subscription);
}

static void arm_closing(struct gidd *gidd) {
	const struct subscription *first = TAILQ_FIRST(&gidd->over);
	if (first != NULL) {
		sd_event_source_set_time(gidd->closing, first->over_us + CLOSE_AFTER_US);
		sd_event_source_set_enabled(gidd->closing, SD_EVENT_ONESHOT);
	}
}

static int handle_closing(sd_event_source *source, uint64_t now, void *data) {
	struct gidd *gidd = data;
	const uint64_t before = gid_clock_now() / 1000 - CLOSE_AFTER_US;
	while (!TAILQ_EMPTY(&gidd->over) && TAILQ_FIRST(&gidd->over)->over_us <= before) {
		close_first(gidd);
	}
	arm_closing(gidd);
	return 0;
}

/* The timer is there already: a subscription may end while the seal forbids allocations. */
static void close_later(struct gidd *gidd, struct subscription *subscription) {
	const bool is_first = TAILQ_EMPTY(&gidd->over);
	subscription->over_us = gid_clock_now() / 1000;
	TAILQ_INSERT_TAIL(&gidd->over, subscription, entry);
	if (is_first) {
		arm_closing(gidd);
	}
}

void subscription_lend(struct gidd *gidd, struct subscription *subscription) {
	if (gidd->closing == NULL &&
			sd_event_add_time(gidd->event, &gidd->closing, CLOCK_MONOTONIC, 0,
					CLOSE_AFTER_US / 10, handle_closing, gidd) >= 0) {
		sd_event_source_set_enabled(gidd->closing, SD_EVENT_OFF);
	}
	subscription->is_away = gidd->closing != NULL;
}

bool subscription_has_many_over(const struct gidd *gidd, uint64_t giver) {
	const struct subscription *subscription;
	uint32_t count = 0;
	TAILQ_FOREACH(subscription, &gidd->over, entry) {
		count += subscription->giver == giver;
	}
	return count >= OVER_MAX;
}

void subscription_finish_over(struct gidd *gidd) {
	while (!TAILQ_EMPTY(&gidd->over)) {
		close_first(gidd);
	}
	gidd->closing = sd_event_source_disable_unref(gidd->closing);
}

/* --- the end ---------------------------------------------------------------------------------- */

void subscription_await_link(struct subscription *subscription) {
	forget_at_producer(subscription, true);
	subscription->via = NULL;
	subscription->state = SUBSCRIPTION_WAITING;
}

void subscription_destroy(struct gidd *gidd, struct subscription *subscription) {
	struct peer *consumer = subscription->consumer;
	link_cancel(gidd, subscription);
	forget_at_producer(subscription, false);
	forget_on_link(consumer, subscription->consumer_number, false);
	subscription_bells_end(gidd, &subscription->bells);
	subscription->patience = sd_event_source_disable_unref(subscription->patience);
	if (subscription->producer_pays) {
		subscription_give_quota(&subscription->stream->owner->peer, subscription->credit);
	}
	if (subscription->stream != NULL) {
		TAILQ_REMOVE(&subscription->stream->subscriptions, subscription, stream_entry);
	}
	if (consumer != NULL) {
		TAILQ_REMOVE(&consumer->consuming, subscription, consumer_entry);
		subscription_give_quota(consumer, subscription->credit);
	}
	TAILQ_REMOVE(&gidd->subscriptions, subscription, entry);
	gid_memory_unmap(subscription->page, sizeof(*subscription->page));
	gid_memory_unmap(subscription->ring, sizeof(*subscription->ring));
	if (subscription->is_away && subscription->fds[1] >= 0) {
		close_later(gidd, subscription);
	} else {
		close_fds(subscription);
		free(subscription);
	}
}

/* --- clocks ----------------------------------------------------------------------------------- */

static void send_clock(struct peer *client, const struct link *link) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_CLOCK, 0);
	message.clock.domain = link->peer.domain;
	message.clock.offset = link->clock_offset;
	message.clock.error = link->clock_error;
	peer_send(client, &message, NULL, 0);
}

void subscription_send_clock(struct link *link) {
	struct client *client;
	TAILQ_FOREACH(client, &link->peer.gidd->clients, entry) {
		const struct subscription *subscription;
		TAILQ_FOREACH(subscription, &client->peer.consuming, consumer_entry) {
			if (subscription->via == &link->peer &&
					subscription->state == SUBSCRIPTION_LIVE) {
				send_clock(&client->peer, link);
				break;
			}
		}
	}
}

/* --- audit of the other machine's memory ------------------------------------------------------ */

/*
 * Returns the number of a broken subscription on the link; 0: nothing is wrong, or it has no end
 * there.
 */
static uint32_t judge(const struct peer *link, struct subscription *subscription, char *why,
		size_t size) {
	const char *what = "ring", *wrong = NULL;
	uint32_t number = 0;
	if (subscription->via == link && subscription->ring != NULL) {
		number = subscription_number_on_link(subscription, link);
		wrong = audit_ring(subscription->ring, subscription->seen);
	} else if (subscription->consumer == link) {
		number = subscription->consumer_number;
		what = "page";
		wrong = audit_page(subscription->page, subscription->seen);
	}
	if (wrong == NULL) {
		return 0;
	}
	snprintf(why, size, "broken memory: the %s of a stream %s", what, wrong);
	return number;
}

static void inspect(struct link *link, struct subscription *subscription) {
	char why[80];
	uint32_t number = link_can_suspect(link)
			? judge(&link->peer, subscription, why, sizeof(why))
			: 0;
	if (number != 0) {
		link_suspect(link, number, why, subscription->name);
	}
}

void subscription_inspect_all(struct link *link) {
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &link->peer.gidd->subscriptions, entry) {
		inspect(link, subscription);
	}
}

/* --- doorbells between machines --------------------------------------------------------------- */

/* The number by which the link's other end knows it; 0: it has no end there, or is not live. */
static uint32_t bell_on_link(const struct subscription *subscription, const struct peer *link) {
	if (subscription->state != SUBSCRIPTION_LIVE) {
		return 0;
	}
	return subscription->via == link ? subscription_number_on_link(subscription, link)
			: subscription->consumer == link ? subscription->consumer_number
							 : 0;
}

/*
 * The other end rang for this subscription (`is_sure`), or for any: whether to ring our client.
 * True once for each sleep, whatever the other end does: a client takes more rings than sleeps for
 * an attack.
 *
 * A ring counts even if nothing is new since the last one. Its sender may have seen this very sleep
 * just after the client had seen everything, and does not ring for it again. But an end rings at
 * most once for each entry that it adds, which bounds the wake-ups. Rings that may be meant for
 * another subscription count only IDLE_RINGS_MAX times until something is new.
 */
static bool should_wake(struct subscription *subscription, bool is_sure) {
	bool produces = subscription->stream != NULL;
	uint64_t news = __atomic_load_n(
			produces ? &subscription->page->release_tail : &subscription->ring->tail,
			__ATOMIC_SEQ_CST);
	uint64_t asleep = __atomic_load_n(
			produces ? &subscription->ring->asleep : &subscription->page->asleep,
			__ATOMIC_SEQ_CST);
	if (news != subscription->news) {
		subscription->news = news;
		subscription->idle_rings = 0;
	}
	if (asleep % 2 == 0 || asleep == subscription->rung || subscription->woken >= news ||
			(!is_sure && subscription->idle_rings == IDLE_RINGS_MAX)) {
		return false;
	}
	subscription->rung = asleep;
	subscription->woken++;
	subscription->idle_rings++;
	return true;
}

bool subscription_should_ring(struct link *link, uint32_t number) {
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &link->peer.gidd->subscriptions, entry) {
		if (bell_on_link(subscription, &link->peer) == number) {
			break;
		}
	}
	if (number == 0 || subscription == NULL) {
		return false; /* not live: nothing to wake for */
	}
	/*
	 * The client stored its news before it rang, so an end that falls asleep later has seen
	 * them.
	 */
	bool produces = subscription->stream != NULL;
	uint64_t news = __atomic_load_n(
			produces ? &subscription->ring->tail : &subscription->page->release_tail,
			__ATOMIC_SEQ_CST);
	uint64_t asleep = __atomic_load_n(
			produces ? &subscription->page->asleep : &subscription->ring->asleep,
			__ATOMIC_SEQ_CST);
	/*
	 * The client may have rung for an earlier sleep, from which the other end woke by itself.
	 * That ring wakes nobody, so it must not suppress later ones that come with news.
	 */
	bool again = asleep == subscription->rang;
	if (asleep % 2 == 0 ||
			(again &&
					(news == subscription->rang_news ||
							subscription->rings >= RINGS_MAX))) {
		return false;
	}
	subscription->rang = asleep;
	subscription->rang_news = news;
	subscription->rings = again ? subscription->rings + 1 : 1;
	return true;
}

void subscription_rung(struct link *link, uint32_t number) {
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &link->peer.gidd->subscriptions, entry) {
		uint32_t of_link = bell_on_link(subscription, &link->peer);
		if (of_link != 0 && (number == 0 || number == of_link) &&
				should_wake(subscription, number != 0)) {
			link->kind->ring(link, of_link);
		}
	}
}

/* --- rings that bypass gidd ------------------------------------------------------------------- */

/* Finds our client at one end, and the link to another machine at the other. */
static bool find_ends(const struct subscription *subscription, struct subscription_ends *ends) {
	bool produces = subscription->stream != NULL;
	struct peer *far = produces ? subscription->consumer : subscription->via;
	const struct peer *near =
			produces ? &subscription->stream->owner->peer : subscription->consumer;
	if (far == NULL || near == NULL || near->client == NULL || !link_is_remote(far)) {
		return false;
	}
	*ends = (struct subscription_ends){
			.client = near->client,
			.client_number = produces ? subscription->number | GID_WIRE_LOWER_SIDE
						  : subscription->consumer_number,
			.link = link_of(far),
			.link_number = bell_on_link(subscription, far),
	};
	return ends->link_number != 0;
}

void subscription_hearing(struct peer *client, const struct gid_wire_hearing *hearing) {
	struct subscription *subscription = find_of_client(client, hearing->subscription);
	struct subscription_ends ends;
	if (subscription != NULL && find_ends(subscription, &ends)) {
		subscription_bells_hearing(&subscription->bells, &ends, hearing->on == 1);
	}
}

void subscription_vector(struct link *link, const struct gid_wire_vector *vector) {
	struct subscription *subscription;
	struct subscription_ends ends;
	TAILQ_FOREACH(subscription, &link->peer.gidd->subscriptions, entry) {
		if (vector->subscription != 0 && find_ends(subscription, &ends) &&
				ends.link == link && ends.link_number == vector->subscription) {
			subscription_bells_vector(&subscription->bells, &ends, vector->vector);
			break;
		}
	}
}

void subscription_poll_bells(struct link *link) {
	struct subscription *subscription;
	struct subscription_ends ends;
	TAILQ_FOREACH(subscription, &link->peer.gidd->subscriptions, entry) {
		if (find_ends(subscription, &ends) && ends.link == link) {
			const uint64_t *asleep = subscription->stream != NULL
					? &subscription->ring->asleep
					: &subscription->page->asleep;
			subscription_bells_poll(&subscription->bells, &ends,
					__atomic_load_n(asleep, __ATOMIC_RELAXED) / 2);
		}
	}
}

/* --- ACCEPT and SUBSCRIPTION_END -------------------------------------------------------------- */

void subscription_accept(
		struct peer *peer, const struct gid_wire_subscribed *accept, int *ring_fd) {
	if (!number_is_ours(peer, accept->subscription)) {
		peer_violation(peer, "it accepts a subscription that nobody asked it for");
		return;
	}
	struct subscription *subscription = find_for_producer(peer, accept->subscription);
	if (subscription == NULL) {
		return; /* the subscription ended while the answer was under way */
	}
	const char *why = "the subscription is live already";
	const void *ring;
	if (subscription->state == SUBSCRIPTION_LIVE ||
			subscription_check_memory(peer, accept->window_offset,
					sizeof(struct gid_wire_ring), ring_fd, &why) < 0) {
		peer_violation(peer, why);
		return;
	}
	int error = link_can_carry(subscription->consumer, *ring_fd, accept->window_offset)
			? 0
			: -ENOTSUP;
	if (seal_is_on(peer->gidd)) {
		error = -ESHUTDOWN; /* it was asked for before */
	}
	if (error == 0) {
		error = gid_memory_map(*ring_fd, accept->window_offset,
				sizeof(struct gid_wire_ring), &ring);
	}
	if (error < 0) {
		subscription_send_producer_end(subscription, error);
		subscription_send_consumer_end(subscription, error, "the ring cannot be used");
		subscription_destroy(peer->gidd, subscription);
		return;
	}
	subscription->ring = ring;
	subscription->has_producers_ring = true;
	subscription->state = SUBSCRIPTION_LIVE;
	close_fds(subscription);
	union gid_wire_message message;
	bool client = subscription->consumer->client != NULL;
	gid_wire_begin(&message, client ? GID_WIRE_SUBSCRIBED : GID_WIRE_ACCEPT, 0);
	message.subscribed.subscription = subscription->consumer_number;
	message.subscribed.domain = client ? subscription->domain : 0;
	message.subscribed.window_offset = accept->window_offset;
	if (peer->client == NULL && link_of(peer)->kind->windows_only) {
		send_clock(subscription->consumer, link_of(peer));
	}
	peer_send(subscription->consumer, &message, ring_fd, 1);
	struct subscription_ends ends;
	if (find_ends(subscription, &ends)) {
		subscription_bells_begin(&subscription->bells, &ends);
	}
}

/* A client says that the other end broke the rules. Where that is another machine's, we look. */
static void resolve(struct peer *client, struct subscription *subscription, struct peer *other,
		int reason) {
	if (reason == -EPROTO && client->client != NULL && other != NULL && other->client == NULL) {
		inspect(link_of(other), subscription);
	}
}

void subscription_ended(struct peer *peer, const struct gid_wire_subscription_end *end) {
	struct subscription *subscription;
	if (number_is_ours(peer, end->subscription)) {
		subscription = find_for_producer(peer, end->subscription);
		if (subscription != NULL) {
			resolve(peer, subscription, subscription->consumer, end->reason);
			subscription_send_consumer_end(
					subscription, end->reason, "the producer refused");
			subscription_destroy(peer->gidd, subscription);
		}
		return;
	}
	subscription = subscription_find_by_producer(peer, end->subscription);
	if (subscription != NULL) {
		subscription_send_consumer_end(subscription, end->reason, "the producer ended it");
		subscription_destroy(peer->gidd, subscription);
		return;
	}
	TAILQ_FOREACH(subscription, &peer->consuming, consumer_entry) {
		if (subscription->consumer_number == end->subscription) {
			resolve(peer, subscription, subscription->via, end->reason);
			subscription_send_producer_end(subscription, end->reason);
			subscription_destroy(peer->gidd, subscription);
			return;
		}
	}
}

/* --- ends from elsewhere ---------------------------------------------------------------------- */

void subscription_forget_consumer(struct peer *peer) {
	struct subscription *subscription;
	while ((subscription = TAILQ_FIRST(&peer->consuming)) != NULL) {
		subscription_send_producer_end(subscription, -EPIPE);
		subscription_destroy(peer->gidd, subscription);
	}
}

/* Of a consumer that is not known we know its domain. */
static int check_again(struct gidd *gidd, const struct subscription *subscription,
		char why[static SUBSCRIPTION_WHY_MAX]) {
	const struct config_domain *owner =
			config_domain_by_number(gidd->config, subscription->domain);
	const struct config_domain *reader =
			config_domain_by_number(gidd->config, subscription->consumer_domain);
	if (subscription->consumer != NULL) {
		return subscription_check_reader(
				subscription->consumer, owner, subscription->name, why);
	}
	return access_may_read_stream(gidd->config, owner, reader, subscription->name) ? 0
										       : -ENOENT;
}

uint32_t subscription_end_unshared(struct gidd *gidd) {
	struct subscription *subscription;
	uint32_t ended = 0;
	SUBSCRIPTION_FOREACH_SAFE(subscription, &gidd->subscriptions, entry) {
		char why[SUBSCRIPTION_WHY_MAX];
		int error = check_again(gidd, subscription, why);
		if (error < 0) {
			subscription_send_producer_end(subscription, error);
			subscription_send_consumer_end(subscription, error, why);
			subscription_destroy(gidd, subscription);
			ended++;
		} else if (subscription_end_if_doubtful(gidd, subscription)) {
			ended++;
		} else {
			subscription_await_consumer(gidd, subscription);
		}
	}
	return ended;
}
