// SPDX-License-Identifier: MIT
#include "slab_readers.h"

#include "access.h"
#include "client.h"
#include "streams.h"
#include "wire_ring.h"

/* --- rights through a subscription ------------------------------------------------------------ */

static bool is_slab(gid_id gid, uint32_t domain, uint64_t word) {
	return gid_slab_key(gid) == gid_slab_key(gid_make(domain, gid_slab_of(word), 0, 0));
}

/* The producer may change its ring at any time. */
static bool ring_names(const struct gid_wire_ring *ring, uint32_t domain, gid_id gid) {
	if (is_slab(gid, domain, __atomic_load_n(&ring->metadata, __ATOMIC_RELAXED))) {
		return true;
	}
	for (uint32_t i = 0; i < GID_RING_ENTRIES; i++) {
		uint64_t word = __atomic_load_n(&ring->frames_ring[i].gid, __ATOMIC_RELAXED);
		if (is_slab(gid, domain, word)) {
			return true;
		}
	}
	return false;
}

static bool has_import(const struct slab *slab, const struct peer *peer) {
	const struct import *import;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (import->peer == peer) {
			return true;
		}
	}
	return false;
}

/* Whether the producer may pass on the slab. For other domains their own gidd decides that. */
static bool may_send(const struct subscription *subscription, const struct slab *slab) {
	if (subscription->domain != subscription->consumer_domain) {
		return true;
	}
	const struct stream *stream = subscription->stream;
	return stream != NULL && slab != NULL &&
			(slab->owner == stream->owner || has_import(slab, &stream->owner->peer));
}

static bool is_read_by_user_of(
		const struct subscription *subscription, const struct client *client) {
	return subscription->state == SUBSCRIPTION_LIVE && subscription->has_producers_ring &&
			subscription->consumer != NULL && subscription->consumer->client != NULL &&
			subscription->consumer->client->uid == client->uid;
}

bool slab_may_go_to(struct client *client, gid_id gid, const struct slab *slab) {
	const struct gidd *gidd = client->peer.gidd;
	const struct subscription *subscription;
	if (client_may_read_all(client) ||
			(slab != NULL && slab->owner != NULL && slab->owner->uid == client->uid)) {
		return true;
	}
	if (slab == NULL && gid_domain_of(gid) == gidd->self->number) {
		return false; /* no such slab */
	}
	TAILQ_FOREACH(subscription, &gidd->subscriptions, entry) {
		if (subscription->domain == gid_domain_of(gid) &&
				is_read_by_user_of(subscription, client) &&
				ring_names(subscription->ring, subscription->domain, gid) &&
				may_send(subscription, slab) &&
				client_may_read(client, subscription->name)) {
			return true;
		}
	}
	return false;
}

bool slab_is_known_to(const struct client *client, const struct slab *slab) {
	const struct import *import;
	if (slab->owner != NULL && slab->owner->uid == client->uid) {
		return true;
	}
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (import->peer->client != NULL && import->peer->client->uid == client->uid) {
			return true;
		}
	}
	return false;
}

/* --- revoking imports ------------------------------------------------------------------------- */

static bool may_keep(struct client *client, const struct slab *slab) {
	return (slab->owner != NULL || client_may_import(client)) &&
			slab_may_go_to(client, slab_gid(slab), slab);
}

static void take_from(struct client *client) {
	struct import *import, *next;
	if (!client_may_read_all(client) || !client_may_import(client)) {
		slab_refuse_requests(&client->peer); /* it may ask again, with its new rights */
	}
	for (import = TAILQ_FIRST(&client->peer.imports); import != NULL; import = next) {
		next = TAILQ_NEXT(import, of_peer);
		if (!may_keep(client, import->slab)) {
			slab_take_import(import);
		}
	}
}

/*
 * Whether the client publishes a stream that fewer users may read than by the older configuration.
 */
static bool lost_readers(const struct client *client, const struct config *older) {
	const struct gidd *gidd = client->peer.gidd;
	const struct stream *stream;
	TAILQ_FOREACH(stream, &client->streams, owner_entry) {
		if (access_is_narrower(gidd->config, older, gidd->self, stream->name)) {
			return true;
		}
	}
	return false;
}

/*
 * The domains that lost the right to read one of the client's streams, or all that this domain
 * shares.
 */
static struct domain_set lost_domains(const struct client *client, const struct config *older) {
	const struct gidd *gidd = client->peer.gidd;
	struct domain_set lost = access_lost_by(gidd->config, older, gidd->self, NULL);
	const struct stream *stream;
	TAILQ_FOREACH(stream, &client->streams, owner_entry) {
		const struct domain_set of_stream =
				access_lost_by(gidd->config, older, gidd->self, stream->name);
		lost = domain_set_union(&lost, &of_stream);
	}
	return lost;
}

/* The domains to which the slab is granted, by its owner or by an importer. */
static struct domain_set granted_to(const struct slab *slab) {
	const struct import *import;
	struct domain_set domains = slab->grants;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		domains = domain_set_union(&domains, &import->lent);
	}
	return domains;
}

/* Its owner, or an importer such as a compositor, may have sent it. */
static bool was_sent_to_losers(const struct slab *slab) {
	const struct import *import;
	const struct domain_set domains = granted_to(slab);
	if (slab->owner->lost_readers || domain_set_meets(&domains, &slab->owner->lost_domains)) {
		return true;
	}
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		const struct client *sender = import->peer->client;
		if (sender != NULL &&
				(sender->lost_readers ||
						domain_set_meets(
								&domains, &sender->lost_domains))) {
			return true;
		}
	}
	return false;
}

uint32_t slab_take_from_clients(struct gidd *gidd, const struct config *older) {
	uint32_t count = 0;
	struct client *client;
	struct slab *slab;
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		client->lost_readers = lost_readers(client, older);
		client->lost_domains = lost_domains(client, older);
	}
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		bool in_window = slab->description.imported.memory == GID_MEMORY_WINDOW;
		if (slab->owner != NULL && !in_window && !slab->evicting &&
				was_sent_to_losers(slab)) {
			slab_evict(slab);
			count++;
		}
	}
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		take_from(client);
	}
	return count;
}
