// SPDX-License-Identifier: MIT
/* What clients and links say of subscriptions: RESULT, ACCEPT, SUBSCRIPTION_END; and CLOCK to them.
 */
#include <errno.h>

#include "client.h"
#include "gidd.h"
#include "link.h"
#include "memory.h"
#include "socket.h"
#include "subscription.h"

/*
 * The subscription that a message from the side of its producer is about: a client of ours, or the
 * link to the other domain. NULL where it is over meanwhile.
 */
static struct subscription *find_for_producer(struct peer *peer, uint32_t number) {
	struct subscription *subscription =
		subscription_find(&peer->gidd->registry, number & ~GID_WIRE_LOWER_SIDE);
	if (subscription == NULL) {
		return NULL;
	}
	bool ours = peer->client == NULL
		? subscription->via == peer
		: subscription->stream != NULL && subscription->stream->owner == peer->client;
	return ours ? subscription : NULL;
}

/* The same by the number that the producer itself gave it. */
struct subscription *subscription_find_by_producer(struct peer *peer, uint32_t number) {
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &peer->gidd->registry.subscriptions, entry) {
		if (number != 0 && subscription->producer_number == number &&
			subscription->stream != NULL &&
			subscription->stream->owner == peer->client) {
			return subscription;
		}
	}
	return NULL;
}

/* Whether a number on this connection is one of those that we give. */
static bool number_is_ours(const struct peer *peer, uint32_t number) {
	bool lower = peer->client != NULL || peer->gidd->self->number < peer->domain;
	return ((number & GID_WIRE_LOWER_SIDE) != 0) == lower;
}

void subscription_result(struct gidd *gidd, struct peer *link, uint32_t number,
	const struct gid_wire_result *result) {
	struct subscription *subscription = subscription_find(&gidd->registry, number);
	if (subscription == NULL || subscription->via != link) {
		return;
	}
	if (result->error < 0) {
		subscription_tell_consumer_end(subscription, result->error, result->text);
		subscription_destroy(gidd, subscription);
		return;
	}
	subscription_answer(subscription, 0, result->value, "");
}

static void send_clock(struct peer *client, const struct link *link) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_CLOCK, 0);
	message.clock.domain = link->peer.domain;
	message.clock.offset = link->clock_offset;
	message.clock.error = link->clock_error;
	peer_send(client, &message, NULL, 0);
}

void subscription_tell_clock(struct link *link) {
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

void subscription_accept(
	struct peer *peer, const struct gid_wire_subscribed *accept, int *ring_fd) {
	if (!number_is_ours(peer, accept->subscription)) {
		peer_violation(peer, "it accepts a subscription that nobody asked it for");
		return;
	}
	struct subscription *subscription = find_for_producer(peer, accept->subscription);
	if (subscription == NULL) {
		return; /* it ended while the answer was on its way */
	}
	const char *why = "the subscription is live already";
	const void *ring;
	if (subscription->state == SUBSCRIPTION_LIVE ||
		subscription_check_memory(peer, accept->window_offset, sizeof(struct gid_wire_ring),
			ring_fd, &why) < 0) {
		peer_violation(peer, why);
		return;
	}
	int error = link_can_carry(subscription->consumer, accept->window_offset) ? 0 : -ENOTSUP;
	if (error == 0) {
		error = gid_memory_map(
			*ring_fd, accept->window_offset, sizeof(struct gid_wire_ring), &ring);
	}
	if (error < 0) {
		subscription_tell_producer_end(subscription, error);
		subscription_tell_consumer_end(subscription, error, "the ring cannot be used");
		subscription_destroy(peer->gidd, subscription);
		return;
	}
	subscription->ring = ring;
	subscription->state = SUBSCRIPTION_LIVE;
	gid_socket_close_fds(subscription->fds, 2);
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
}

/* A client says that the other end broke the rules. Where that is another machine's, we look. */
static void look_into(
	struct peer *client, struct subscription *subscription, struct peer *other, int reason) {
	if (reason == -EPROTO && client->client != NULL && other != NULL && other->client == NULL) {
		suspect_look_at(link_of(other), subscription);
	}
}

void subscription_ended(struct peer *peer, const struct gid_wire_subscription_end *end) {
	struct subscription *subscription;
	if (number_is_ours(peer, end->subscription)) {
		subscription = find_for_producer(peer, end->subscription);
		if (subscription != NULL) {
			look_into(peer, subscription, subscription->consumer, end->reason);
			subscription_tell_consumer_end(
				subscription, end->reason, "the producer refused");
			subscription_destroy(peer->gidd, subscription);
		}
		return;
	}
	subscription = subscription_find_by_producer(peer, end->subscription);
	if (subscription != NULL) {
		subscription_tell_consumer_end(subscription, end->reason, "the producer ended it");
		subscription_destroy(peer->gidd, subscription);
		return;
	}
	TAILQ_FOREACH(subscription, &peer->consuming, consumer_entry) {
		if (subscription->consumer_number == end->subscription) {
			look_into(peer, subscription, subscription->via, end->reason);
			subscription_tell_producer_end(subscription, end->reason);
			subscription_destroy(peer->gidd, subscription);
			return;
		}
	}
}
