// SPDX-License-Identifier: MIT
#include "local.h"

#include <errno.h>

#include "client.h"
#include "eviction.h"
#include "seal.h"
#include "shm_range.h"
#include "slab_book.h"
#include "slab_readers.h"
#include "status.h"
#include "streams.h"
#include "subscriptions.h"
#include "withdraw.h"

static void handle_import(struct client *client, const struct gid_wire_import *request) {
	const struct slab *slab = slab_find(client->peer.gidd, gid_slab_key(request->gid));
	if (!slab_may_go_to(client, request->gid, slab)) {
		slab_refuse(&client->peer, request->header.serial);
	} else if (gid_domain_of(request->gid) == client->peer.gidd->self->number) {
		slab_import(&client->peer, request);
	} else {
		slab_import_foreign(&client->peer, request);
	}
}

static void handle_seal(struct client *client, const struct gid_wire_seal *request) {
	bool may = seal_is_for(client->uid);
	if (may) {
		seal_set(client->peer.gidd, request->on == 1, client->peer.label);
	}
	peer_result(&client->peer, request->header.serial, may ? 0 : -EPERM, 0, "%s",
			may ? "" : "only the user of gidd may do that, or root");
}

static void handle_message(struct client *client, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]) {
	if (seal_refuses(&client->peer, message)) {
		return;
	}
	switch ((enum gid_wire_type)message->header.type) {
	case GID_WIRE_EXPORT:
		slab_export(client, &message->export, &fds[0]);
		break;
	case GID_WIRE_UNEXPORT:
		slab_unexport(client, &message->unexport);
		break;
	case GID_WIRE_GRANT:
		slab_grant(client, &message->grant);
		break;
	case GID_WIRE_IMPORT:
		handle_import(client, &message->import);
		break;
	case GID_WIRE_UNIMPORT:
		slab_unimport(&client->peer, &message->import);
		break;
	case GID_WIRE_ALLOC:
		shm_range_alloc(client, &message->alloc);
		break;
	case GID_WIRE_FREE:
		shm_range_free(client, &message->allocated,
				slab_is_in(client, &message->allocated));
		break;
	case GID_WIRE_PUBLISH:
		stream_publish(client, &message->publish);
		break;
	case GID_WIRE_UNPUBLISH:
		stream_unpublish(client, &message->unpublish);
		break;
	case GID_WIRE_SUBSCRIBE:
		stream_subscribe(&client->peer, &message->subscribe, fds);
		break;
	case GID_WIRE_SUBSCRIBER:
		stream_subscribe_live(client, &message->subscriber, fds);
		break;
	case GID_WIRE_ACCEPT:
		subscription_accept(&client->peer, &message->subscribed, &fds[0]);
		break;
	case GID_WIRE_SUBSCRIPTION_END:
		subscription_ended(&client->peer, &message->subscription_end);
		break;
	case GID_WIRE_HEARING:
		subscription_hearing(&client->peer, &message->hearing);
		break;
	case GID_WIRE_WITHDRAW:
		withdraw_request(client, &message->withdraw);
		break;
	case GID_WIRE_SEAL:
		handle_seal(client, &message->seal);
		break;
	case GID_WIRE_STATUS:
		status_request(client, message->header.serial);
		break;
	default:
		peer_violation(&client->peer, "a message that no client sends");
		break;
	}
}

static void handle_gone(struct client *client) {
	stream_destroy_all_of(client);
	subscription_forget_consumer(&client->peer);
	slab_destroy_all_of(client);
	slab_forget_importer(&client->peer);
	shm_range_free_all_of(client);
}

static const struct client_events events = {
		.message = handle_message,
		.gone = handle_gone,
};

void local_init(struct gidd *gidd) {
	TAILQ_INIT(&gidd->clients);
	gidd->client_events = &events;
	gidd->seal.changed = client_tell_sealed;
	slab_init(gidd);
	stream_init(gidd);
	withdraw_init(gidd);
}

void local_close(struct gidd *gidd) {
	struct client *client;
	slab_book_close(gidd->slab_book); /* keeps these clients in it */
	gidd->slab_book = NULL;
	/* All connections end first: nobody hears that what goes on without gidd would be over. */
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		packet_stream_fail(&client->stream, "gidd ends");
	}
	while ((client = TAILQ_FIRST(&gidd->clients)) != NULL) {
		client_destroy(client);
	}
	stream_close(gidd);
	seal_finish(gidd);
	status_close(gidd);
	eviction_close(gidd);
}
