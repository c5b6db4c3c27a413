// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "gidd.h"
#include "link.h"
#include "memory.h"
#include "socket.h"
#include "subscription.h"

#define NUMBER_MAX (GID_WIRE_LOWER_SIDE - 1)

/* --- life ------------------------------------------------------------------------------------- */

struct subscription *subscription_find(struct registry *registry, uint32_t number) {
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &registry->subscriptions, entry) {
		if (subscription->number == number) {
			return subscription;
		}
	}
	return NULL;
}

static uint32_t new_number(struct registry *registry) {
	do {
		registry->subscription_number = registry->subscription_number % NUMBER_MAX + 1;
	} while (subscription_find(registry, registry->subscription_number) != NULL);
	return registry->subscription_number;
}

struct subscription *subscription_create(struct gidd *gidd, const struct config_domain *owner,
	const char *name, int page_fd, uint64_t window_offset) {
	struct subscription *subscription = calloc(1, sizeof(*subscription));
	const void *page;
	if (subscription == NULL ||
		gid_memory_map(page_fd, window_offset, sizeof(struct gid_wire_page), &page) < 0) {
		free(subscription);
		return NULL;
	}
	subscription->page = page;
	subscription->window_offset = window_offset;
	subscription->number = new_number(&gidd->registry);
	subscription->domain = owner->number;
	subscription->fds[0] = subscription->fds[1] = -1;
	strcpy(subscription->name, name);
	TAILQ_INSERT_TAIL(&gidd->registry.subscriptions, subscription, entry);
	return subscription;
}

void subscription_set_consumer(struct subscription *subscription, struct peer *consumer,
	const struct gid_wire_subscribe *request) {
	subscription->consumer = consumer;
	subscription->consumer_domain = consumer->domain;
	subscription->consumer_number = request->subscription;
	subscription->serial = request->header.serial;
	subscription->credit = request->credit;
	subscription->flags = request->flags;
	TAILQ_INSERT_TAIL(&consumer->consuming, subscription, consumer_entry);
}

void subscription_destroy(struct gidd *gidd, struct subscription *subscription) {
	struct peer *consumer = subscription->consumer;
	link_forget_subscription(gidd, subscription);
	if (subscription->stream != NULL) {
		TAILQ_REMOVE(&subscription->stream->subscriptions, subscription, stream_entry);
	}
	if (consumer != NULL) {
		TAILQ_REMOVE(&consumer->consuming, subscription, consumer_entry);
		subscription_give_quota(consumer, subscription->credit);
	}
	TAILQ_REMOVE(&gidd->registry.subscriptions, subscription, entry);
	gid_memory_unmap(subscription->page, sizeof(*subscription->page));
	gid_memory_unmap(subscription->ring, sizeof(*subscription->ring));
	gid_socket_close_fds(subscription->fds, 2);
	free(subscription);
}

/* --- what is said about it -------------------------------------------------------------------- */

void subscription_answer(
	struct subscription *subscription, int error, uint32_t value, const char *why) {
	if (!subscription->answered && subscription->consumer != NULL) {
		peer_result(subscription->consumer, subscription->serial, error, value, "%s", why);
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

void subscription_tell_consumer_end(
	struct subscription *subscription, int reason, const char *why) {
	if (!subscription->answered) {
		subscription_answer(subscription, reason == 0 ? -EPIPE : reason, 0, why);
	} else if (subscription->consumer != NULL) {
		subscription_send_end(
			subscription->consumer, subscription->consumer_number, reason);
	}
}

uint32_t subscription_number_on_link(
	const struct subscription *subscription, const struct peer *link) {
	bool lower = link->gidd->self->number < link->domain;
	return subscription->number | (lower ? GID_WIRE_LOWER_SIDE : 0);
}

uint32_t subscription_bell_on(const struct subscription *subscription, const struct peer *link) {
	if (subscription->state != SUBSCRIPTION_LIVE) {
		return 0;
	}
	return subscription->via == link	 ? subscription_number_on_link(subscription, link)
		: subscription->consumer == link ? subscription->consumer_number
						 : 0;
}

/*
 * As the ring's two ends do it (ring.h): what is new was stored before the ring, so it is seen
 * here, or was seen by the client, which looks after falling asleep.
 */
bool subscription_should_wake(struct subscription *subscription) {
	bool produces = subscription->stream != NULL;
	uint64_t news = __atomic_load_n(
		produces ? &subscription->page->release_tail : &subscription->ring->tail,
		__ATOMIC_SEQ_CST);
	uint64_t asleep = __atomic_load_n(
		produces ? &subscription->ring->asleep : &subscription->page->asleep,
		__ATOMIC_SEQ_CST);
	bool is_new = news != subscription->news;
	subscription->news = news;
	if (!is_new || asleep % 2 == 0 || asleep == subscription->rung) {
		return false;
	}
	subscription->rung = asleep;
	return true;
}

void subscription_tell_producer_end(struct subscription *subscription, int reason) {
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
			subscription_number_on_link(subscription, subscription->via), reason);
	}
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
		(link_can_carry(subscription->consumer, 0) ? 0 : GID_WIRE_REMOTE);
	message.subscriber.window_offset = subscription->window_offset;
	peer_send(&stream->owner->peer, &message, subscription->fds, 2);
	subscription_answer(subscription, 0, 1, "");
}

void subscription_begin(struct gidd *gidd, struct subscription *subscription) {
	bool wait = (subscription->flags & GID_WIRE_WAIT) != 0;
	if (subscription->domain == gidd->self->number) {
		struct stream *stream = stream_find(&gidd->registry, subscription->name);
		if (stream != NULL) {
			ask_producer(subscription, stream);
		} else if (wait) {
			subscription_answer(subscription, 0, 0, "");
		} else {
			subscription_answer(subscription, -ENOENT, 0, SUBSCRIPTION_NO_STREAM);
			subscription_destroy(gidd, subscription);
		}
		return;
	}
	struct link *link = link_find(gidd, subscription->domain);
	if (link != NULL && link->state == LINK_UP) {
		subscription->via = &link->peer;
		link_subscribe(link, subscription);
	} else if (wait) {
		subscription_answer(subscription, 0, 0, "");
	} else {
		char why[192];
		snprintf(why, sizeof(why), "the link to domain %s is down: is its gidd running?",
			config_domain_by_number(gidd->config, subscription->domain)->name);
		subscription_answer(subscription, -ENOTCONN, 0, why);
		subscription_destroy(gidd, subscription);
	}
}

/* --- events of streams and links -------------------------------------------------------------- */

/* `entry` is the queue's link; the loop's body may destroy `subscription`. */
#define FOREACH_SAFE(subscription, queue, entry)                                                   \
	for (struct subscription *next_ = TAILQ_FIRST(queue);                                      \
		((subscription) = next_) != NULL && ((next_ = TAILQ_NEXT(next_, entry)), true);)

void subscription_stream_up(struct gidd *gidd, struct stream *stream) {
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &gidd->registry.subscriptions, entry) {
		if (subscription->domain == gidd->self->number &&
			subscription->state == SUBSCRIPTION_WAITING &&
			strcmp(subscription->name, stream->name) == 0) {
			ask_producer(subscription, stream);
		}
	}
}

void subscription_stream_down(struct gidd *gidd, struct stream *stream, int reason) {
	struct subscription *subscription;
	while ((subscription = TAILQ_FIRST(&stream->subscriptions)) != NULL) {
		subscription_tell_consumer_end(subscription, reason, "the stream has ended");
		subscription_destroy(gidd, subscription);
	}
}

void subscription_link_up(struct gidd *gidd, struct peer *link) {
	struct subscription *subscription;
	FOREACH_SAFE(subscription, &gidd->registry.subscriptions, entry) {
		if (subscription->domain == link->domain && subscription->via == NULL &&
			subscription->state == SUBSCRIPTION_WAITING) {
			subscription_begin(gidd, subscription);
		}
	}
}

void subscription_link_down(struct gidd *gidd, struct peer *link) {
	struct subscription *subscription;
	FOREACH_SAFE(subscription, &gidd->registry.subscriptions, entry) {
		bool live = subscription->state == SUBSCRIPTION_LIVE;
		if (subscription->consumer == link && live) {
			/* Frames flow on; the producer hears from the doorbell when it is over. */
			TAILQ_REMOVE(&link->consuming, subscription, consumer_entry);
			subscription->consumer = NULL;
		} else if (subscription->consumer == link) {
			subscription_tell_producer_end(subscription, -ENOTCONN);
			subscription_destroy(gidd, subscription);
		} else if (subscription->via == link && live) {
			subscription->via = NULL;
		} else if (subscription->via == link) {
			subscription->via = NULL;
			subscription->state = SUBSCRIPTION_WAITING;
			/* Where it cannot wait this ends it. */
			if (subscription->answered && (subscription->flags & GID_WIRE_WAIT) == 0) {
				subscription_tell_consumer_end(subscription, -ENOTCONN, "");
				subscription_destroy(gidd, subscription);
			} else {
				subscription_begin(gidd, subscription);
			}
		}
	}
}

/* --- ends from elsewhere -----------------------------------------------------------------------
 */

void subscription_forget_consumer(struct peer *peer) {
	struct subscription *subscription;
	while ((subscription = TAILQ_FIRST(&peer->consuming)) != NULL) {
		subscription_tell_producer_end(subscription, -EPIPE);
		subscription_destroy(peer->gidd, subscription);
	}
}

uint32_t subscription_end_unshared(struct gidd *gidd) {
	struct subscription *subscription;
	uint32_t ended = 0;
	FOREACH_SAFE(subscription, &gidd->registry.subscriptions, entry) {
		const struct config_domain *owner =
			config_domain_by_number(gidd->config, subscription->domain);
		const struct config_domain *reader =
			config_domain_by_number(gidd->config, subscription->consumer_domain);
		if (!config_may_read(gidd->config, owner, reader, subscription->name)) {
			subscription_tell_producer_end(subscription, -ENOENT);
			subscription_tell_consumer_end(
				subscription, -ENOENT, SUBSCRIPTION_NO_STREAM);
			subscription_destroy(gidd, subscription);
			ended++;
		}
	}
	return ended;
}
