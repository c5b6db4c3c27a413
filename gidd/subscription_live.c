// SPDX-License-Identifier: MIT
/*
 * Subscriptions that are older than this gidd. Frames flow in them past gidd, so it only takes
 * note: to count and to show them, and to end what may not go on. Each of the two clients tells its
 * own gidd. Where that is the same one it knows by the page that both mean the same.
 */
#include <errno.h>
#include <string.h>

#include "client.h"
#include "descriptor.h"
#include "gidd.h"
#include "log.h"
#include "memory.h"
#include "subscription.h"
#include "window.h"

static struct subscription *create(struct gidd *gidd, const struct config_domain *owner,
	const char *name, const int fds[static 2], uint64_t window_offset, uint64_t ring_offset) {
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

/* The same one within our domain, as its other client told of it; that is its producer, or not. */
static struct subscription *find_twin(
	struct gidd *gidd, bool has_producer, const char *name, int page, uint64_t window_offset) {
	uint64_t inode = descriptor_inode(page);
	struct subscription *twin;
	TAILQ_FOREACH(twin, &gidd->registry.subscriptions, entry) {
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

/* --- by its consumer -------------------------------------------------------------------------- */

static int check_by_consumer(struct peer *consumer, const struct gid_wire_subscribe *request,
	int fds[static 2], const char **why) {
	int error = subscription_check_memory(
		consumer, request->window_offset, sizeof(struct gid_wire_page), &fds[0], why);
	if (error == 0 && (consumer->client == NULL || request->window_offset != 0)) {
		*why = "only a client's subscription, outside of windows, can be live already";
		return -EINVAL;
	}
	return error < 0 ? error
			 : descriptor_check_shared(fds[1], sizeof(struct gid_wire_ring), why);
}

void subscription_live_by_consumer(struct peer *consumer, const struct config_domain *owner,
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
		subscription_refuse(consumer, serial, error, wrong);
		return;
	}
	struct subscription *subscription =
		owner == gidd->self ? find_twin(gidd, true, request->name, fds[0], 0) : NULL;
	if (subscription == NULL) {
		subscription = create(gidd, owner, request->name, fds, 0, 0);
	}
	if (subscription == NULL) {
		subscription_give_quota(consumer, request->credit);
		peer_result(consumer, serial, -ENOMEM, 0, "gidd is out of memory");
		return;
	}
	subscription_set_consumer(subscription, consumer, request);
	peer_result(consumer, serial, 0, 1, "%s", "");
}

/* --- by its producer -------------------------------------------------------------------------- */

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
	const struct stream *stream, const int fds[static 2], const char **why) {
	struct gidd *gidd = producer->peer.gidd;
	const struct config_domain *reader = config_domain_by_number(gidd->config, request->domain);
	if (stream == NULL || reader == NULL ||
		!config_may_read(gidd->config, gidd->self, reader, stream->name)) {
		*why = SUBSCRIPTION_NO_STREAM;
		return -ENOENT;
	}
	if (config_is_remote(gidd->config, gidd->self, reader)) {
		*why = "between machines it ended with the gidd before";
		return -EPIPE;
	}
	int error = request->window_offset == 0
		? descriptor_check_shared(fds[0], sizeof(struct gid_wire_page), why)
		: window_check_read(gidd, request->domain, fds[0], request->window_offset,
			  sizeof(struct gid_wire_page), why);
	if (error < 0) {
		return error;
	}
	return request->ring_offset == 0
		? descriptor_check_shared(fds[1], sizeof(struct gid_wire_ring), why)
		: window_check_own(producer, fds[1], request->ring_offset,
			  sizeof(struct gid_wire_ring), true, why);
}

static int take_over(struct client *producer, const struct gid_wire_subscriber *request,
	const int fds[static 2], char limit[static 192], const char **why) {
	struct gidd *gidd = producer->peer.gidd;
	struct stream *stream = find_stream(producer, request->stream);
	struct subscription *subscription = NULL;
	int error = check_by_producer(producer, request, stream, fds, why);
	if (error < 0) {
		return error;
	}
	if (request->domain == gidd->self->number) {
		subscription = find_twin(gidd, false, stream->name, fds[0], request->window_offset);
	} else {
		error = subscription_check_held(gidd, request->domain, request->credit, limit);
		*why = limit;
		if (error < 0) {
			return error;
		}
	}
	if (subscription == NULL) {
		subscription = create(gidd, gidd->self, stream->name, fds, request->window_offset,
			request->ring_offset);
		*why = "gidd is out of memory";
		if (subscription == NULL) {
			return -ENOMEM;
		}
		subscription->consumer_domain = request->domain;
		subscription->credit = request->credit;
		subscription->flags = request->flags;
	}
	subscription->producer_number = request->subscription;
	subscription->stream = stream;
	TAILQ_INSERT_TAIL(&stream->subscriptions, subscription, stream_entry);
	return 0;
}

void subscription_live_by_producer(
	struct client *producer, const struct gid_wire_subscriber *request, int fds[static 2]) {
	char limit[192];
	const char *why;
	if ((request->flags & GID_WIRE_LIVE) == 0) {
		peer_violation(&producer->peer, "a message that no client sends");
		return;
	}
	if (request->subscription == 0 ||
		!subscription_number_is_valid(&producer->peer, request->subscription)) {
		peer_violation(
			&producer->peer, "a subscription's number is in use, or not its to give");
		return;
	}
	int error = take_over(producer, request, fds, limit, &why);
	if (error < 0) {
		log_warning("%s: a subscription that is live already ends: %s",
			producer->peer.label, why);
		subscription_send_end(&producer->peer, request->subscription, error);
	}
}
