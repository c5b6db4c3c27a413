// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "gidd.h"
#include "link.h"
#include "log.h"
#include "status.h"
#include "subscription.h"
#include "window.h"

#define HELLO_PATIENCE_US (5 * UINT64_C(1000000))

static struct client *client_of(struct peer *peer) {
	return peer->client;
}

static void send_message(struct peer *peer, const union gid_wire_message *message, const int *fds,
	uint32_t fd_count) {
	connection_send(&client_of(peer)->connection, message, fds, fd_count);
}

static void fail(struct peer *peer, const char *why) {
	connection_fail(&client_of(peer)->connection, "protocol violation: %s", why);
}

static int handle_patience(sd_event_source *source, uint64_t now, void *data) {
	struct client *client = data;
	connection_fail(&client->connection, "no greeting");
	return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

static void handle_hello(struct client *client, const union gid_wire_message *message) {
	struct gidd *gidd = client->peer.gidd;
	const struct gid_wire_hello *hello = &message->hello;
	if (hello->header.type != GID_WIRE_HELLO) {
		peer_violation(&client->peer, "it does not begin with a greeting");
		return;
	}
	if (hello->version != GID_WIRE_VERSION) {
		peer_result(&client->peer, hello->header.serial, -EPROTO, 0,
			"gidd of domain %s speaks version %u of the wire, this program %u: install "
			"the same release of both",
			gidd->self->name, GID_WIRE_VERSION, hello->version);
		connection_fail(&client->connection, "it speaks version %u", hello->version);
		return;
	}
	client->patience = sd_event_source_disable_unref(client->patience);
	snprintf(client->program, sizeof(client->program), "%s",
		hello->name[0] == '\0' ? "client" : hello->name);
	snprintf(client->peer.label, sizeof(client->peer.label), "%s (pid %d, uid %u)",
		client->program, (int)client->pid, (unsigned)client->uid);
	log_info("%s: connected", client->peer.label);
	union gid_wire_message welcome;
	gid_wire_begin(&welcome, GID_WIRE_WELCOME, hello->header.serial);
	welcome.welcome.version = GID_WIRE_VERSION;
	welcome.welcome.domain = gidd->self->number;
	snprintf(welcome.welcome.name, sizeof(welcome.welcome.name), "%s", gidd->self->name);
	welcome.welcome.window =
		config_has_window(gidd->config, gidd->self) ? gidd->self->window : 0;
	peer_send(&client->peer, &welcome, NULL, 0);
}

static void handle_import(struct client *client, const struct gid_wire_import *request) {
	struct gidd *gidd = client->peer.gidd;
	uint32_t domain = gid_domain_of(request->gid);
	struct link *link = link_find(gidd, domain);
	if (domain == gidd->self->number) {
		slab_import(&client->peer, request);
	} else if (link != NULL) {
		link_import(link, &client->peer, request);
	} else {
		slab_refuse(&client->peer, request->header.serial);
	}
}

static void handle_message(
	void *data, const union gid_wire_message *message, int fds[static GID_WIRE_FDS_MAX]) {
	struct client *client = data;
	if (client->patience != NULL) {
		handle_hello(client, message);
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
	case GID_WIRE_ALLOC:
		window_alloc(client, &message->alloc);
		break;
	case GID_WIRE_FREE:
		window_free(client, &message->allocated);
		break;
	case GID_WIRE_PUBLISH:
		stream_publish(client, &message->publish);
		break;
	case GID_WIRE_UNPUBLISH:
		stream_unpublish(client, &message->unpublish);
		break;
	case GID_WIRE_SUBSCRIBE:
		subscription_request(&client->peer, &message->subscribe, fds);
		break;
	case GID_WIRE_SUBSCRIBER:
		subscription_live_by_producer(client, &message->subscriber, fds);
		break;
	case GID_WIRE_ACCEPT:
		subscription_accept(&client->peer, &message->subscribed, &fds[0]);
		break;
	case GID_WIRE_SUBSCRIPTION_END:
		subscription_ended(&client->peer, &message->subscription_end);
		break;
	case GID_WIRE_STATUS:
		status_send(&client->peer, message->header.serial);
		break;
	default:
		peer_violation(&client->peer, "a message that no client sends");
		break;
	}
}

static void handle_closed(void *data, const char *why) {
	struct client *client = data;
	log_line(strcmp(why, "hung up") == 0 ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "%s: closed: %s",
		client->peer.label, why);
	client_destroy(client);
}

/* --- life ------------------------------------------------------------------------------------- */

static const struct connection_handler handler = {
	.message = handle_message,
	.closed = handle_closed,
};

/* All clients of a domain are alike; there is nobody to charge one more to but the domain. */
static bool is_full(struct gidd *gidd) {
	return gidd->used[QUOTA_CLIENTS] >= gidd->self->quota[QUOTA_CLIENTS];
}

void client_create(struct gidd *gidd, int fd) {
	struct ucred credentials = {.pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1};
	socklen_t size = sizeof(credentials);
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
	struct client *client = calloc(1, sizeof(*client));
	if (client == NULL) {
		close(fd);
		return;
	}
	peer_init(&client->peer, gidd, gidd->self->number);
	TAILQ_INIT(&client->slabs);
	TAILQ_INIT(&client->streams);
	client->peer.client = client;
	client->peer.send = send_message;
	client->peer.fail = fail;
	client->pid = credentials.pid;
	client->uid = credentials.uid;
	client->id = ++gidd->client_count;
	snprintf(client->peer.label, sizeof(client->peer.label), "client (pid %d, uid %u)",
		(int)client->pid, (unsigned)client->uid);
	if (connection_init(&client->connection, gidd->event, fd, &handler, client) < 0) {
		free(client);
		return;
	}
	TAILQ_INSERT_TAIL(&gidd->clients, client, entry);
	if (is_full(gidd)) {
		gidd->used[QUOTA_CLIENTS]++;
		peer_result(&client->peer, 0, -EDQUOT, 0, "domain %s has its clients=%llu already",
			gidd->self->name, (unsigned long long)gidd->self->quota[QUOTA_CLIENTS]);
		connection_fail(&client->connection, "over the limit of clients");
		return;
	}
	gidd->used[QUOTA_CLIENTS]++;
	if (sd_event_add_time_relative(gidd->event, &client->patience, CLOCK_MONOTONIC,
		    HELLO_PATIENCE_US, 0, handle_patience, client) < 0) {
		connection_fail(&client->connection, "gidd is out of memory");
	}
}

void client_destroy(struct client *client) {
	struct gidd *gidd = client->peer.gidd;
	link_forget(gidd, &client->peer);
	stream_destroy_all_of(client);
	subscription_forget_consumer(&client->peer);
	slab_destroy_all_of(client);
	slab_forget_importer(&client->peer);
	window_free_all_of(client);
	sd_event_source_disable_unref(client->patience);
	connection_finish(&client->connection);
	gidd->used[QUOTA_CLIENTS]--;
	TAILQ_REMOVE(&gidd->clients, client, entry);
	free(client);
}
