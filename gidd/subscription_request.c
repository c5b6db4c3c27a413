// SPDX-License-Identifier: MIT
/* SUBSCRIBE: who may have it, with which descriptors, within which limits. */
#include <errno.h>

#include "client.h"
#include "descriptor.h"
#include "gidd.h"
#include "link.h"
#include "log.h"
#include "quota.h"
#include "subscription.h"
#include "window.h"

/* Whose stream is asked for, NULL after the answer that there is none. */
static const struct config_domain *find_owner(
	struct peer *consumer, const struct gid_wire_subscribe *request) {
	struct gidd *gidd = consumer->gidd;
	const struct config_domain *owner = gidd->self, *reader;
	if (consumer->client == NULL) {
		owner = config_domain_by_number(gidd->config, request->domain);
	} else if (request->domain_name[0] != '\0') {
		owner = config_domain_by_name(gidd->config, request->domain_name);
	}
	reader = config_domain_by_number(gidd->config, consumer->domain);
	/* What a link asks for is ours; the rest would have to be asked of others for it. */
	bool known = owner != NULL && (consumer->client != NULL || owner == gidd->self);
	if (!known || !config_may_read(gidd->config, owner, reader, request->name)) {
		log_warning("%s: may not read stream %s of domain %s", consumer->label,
			request->name, owner == NULL ? request->domain_name : owner->name);
		peer_result(
			consumer, request->header.serial, -ENOENT, 0, "%s", SUBSCRIPTION_NO_STREAM);
		return NULL;
	}
	return owner;
}

/* The frames that a domain may hold, by what the configuration shares with it. */
int subscription_check_held(
	struct gidd *gidd, uint32_t reader, uint32_t credit, char why[static 192]) {
	const struct config_share *share = config_share_find(
		gidd->config, gidd->self, config_domain_by_number(gidd->config, reader));
	uint64_t held = credit;
	const struct subscription *other;
	TAILQ_FOREACH(other, &gidd->registry.subscriptions, entry) {
		if (other->domain == gidd->self->number && other->consumer_domain == reader) {
			held += other->credit;
		}
	}
	if (share == NULL || held > share->held) {
		snprintf(why, 192, "over the limit held=%llu of what domain %s shares",
			share == NULL ? 0ull : (unsigned long long)share->held, gidd->self->name);
		return -EDQUOT;
	}
	return 0;
}

int subscription_take_quota(struct peer *consumer, uint32_t credit, char why[static 192]) {
	if (consumer->client == NULL) {
		return subscription_check_held(consumer->gidd, consumer->domain, credit, why);
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

bool subscription_number_is_valid(struct peer *consumer, uint32_t number) {
	bool lower = consumer->client == NULL && consumer->domain < consumer->gidd->self->number;
	if (((number & GID_WIRE_LOWER_SIDE) != 0) != lower) {
		return false;
	}
	struct subscription *other;
	TAILQ_FOREACH(other, &consumer->consuming, consumer_entry) {
		if (other->consumer_number == number) {
			return false;
		}
	}
	return consumer->client == NULL || subscription_find_by_producer(consumer, number) == NULL;
}

int subscription_check_memory(
	struct peer *sender, uint64_t window_offset, uint64_t size, int *fd, const char **why) {
	if (window_offset == 0) {
		return descriptor_check_shared(*fd, size, why);
	}
	if (sender->client == NULL) {
		return window_check_read(
			sender->gidd, sender->domain, *fd, window_offset, size, why);
	}
	int error = window_check_own(sender->client, *fd, window_offset, size, false, why);
	if (error == 0 && window_replace(sender->gidd, fd) < 0) {
		*why = "gidd has no descriptor left";
		error = -EMFILE;
	}
	return error;
}

/* That whoever has the stream can see the consumer's page. */
static int check_reach(struct peer *consumer, const struct config_domain *owner,
	const struct gid_wire_subscribe *request, const char **why) {
	struct link *link = link_find(consumer->gidd, owner->number);
	if (consumer->client != NULL && link != NULL &&
		!link_can_carry(&link->peer, request->window_offset)) {
		*why = "the stream's domain is another machine: the page must be in our window";
		return -ENOTSUP;
	}
	return 0;
}

void subscription_refuse(struct peer *consumer, uint32_t serial, int error, const char *why) {
	log_warning("%s: subscription refused: %s", consumer->label, why);
	peer_result(consumer, serial, error, 0, "%s", why);
}

void subscription_request(
	struct peer *consumer, const struct gid_wire_subscribe *request, int fds[static 2]) {
	uint32_t serial = request->header.serial;
	const char *wrong;
	char why[192];
	if (!subscription_number_is_valid(consumer, request->subscription)) {
		peer_violation(consumer, "a subscription's number is in use, or not its to give");
		return;
	}
	const struct config_domain *owner = find_owner(consumer, request);
	if (owner == NULL) {
		return;
	}
	if ((request->flags & GID_WIRE_LIVE) != 0) {
		subscription_live_by_consumer(consumer, owner, request, fds);
		return;
	}
	int error = subscription_check_memory(
		consumer, request->window_offset, sizeof(struct gid_wire_page), &fds[0], &wrong);
	if (error == 0) {
		error = check_reach(consumer, owner, request, &wrong);
	}
	if (error == 0) {
		error = descriptor_check_doorbell(fds[1], &wrong);
	}
	if (error == 0) {
		error = subscription_take_quota(consumer, request->credit, why);
		wrong = why;
	}
	if (error < 0) {
		subscription_refuse(consumer, serial, error, wrong);
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
	subscription_begin(consumer->gidd, subscription);
}
