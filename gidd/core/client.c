// SPDX-License-Identifier: MIT
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "access.h"
#include "closer.h"
#include "seal.h"
#include "socket.h"
#include "users.h"

#define HELLO_PATIENCE_US (5 * UINT64_C(1000000))

static struct client *client_of(struct peer *peer) {
	return peer->client;
}

static void send_message(struct peer *peer, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	packet_stream_send(&client_of(peer)->stream, message, fds, fd_count);
}

static void fail(struct peer *peer, const char *why) {
	packet_stream_fail(&client_of(peer)->stream, "protocol violation: %s", why);
}

static int handle_patience(sd_event_source *source, uint64_t now, void *data) {
	struct client *client = data;
	packet_stream_fail(&client->stream, "no greeting");
	return 0;
}

/* --- rights of its user ----------------------------------------------------------------------- */

/* NULL: the client may do what its domain may. */
static const struct config_client *find_section(struct client *client) {
	const struct gidd *gidd = client->peer.gidd;
	const struct config_client *section =
			users_find_section(gidd->config, gidd->self, client->uid);
	if (section != NULL && section->uid != CONFIG_NOBODY) {
		strcpy(client->user, section->user);
	} else {
		snprintf(client->user, sizeof(client->user), "%u", (unsigned)client->uid);
	}
	return section;
}

bool client_may_publish(struct client *client, const char *stream) {
	return access_client_may_publish(find_section(client), stream);
}

bool client_may_read(struct client *client, const char *stream) {
	return access_client_may_read(find_section(client), stream);
}

bool client_may_read_all(struct client *client) {
	return access_client_may_read_all(find_section(client));
}

const char *client_section_name(struct client *client) {
	const struct config_client *section = find_section(client);
	return section != NULL ? section->user : "*";
}

/* Users who may use `gidctl seal` see everything: they are the ones who help others. */
bool client_sees_a_part(struct client *client) {
	return !client_may_read_all(client) && !seal_is_for(client->uid);
}

bool client_may_import(struct client *client) {
	return access_client_may_import(find_section(client));
}

bool client_may_ask_for_status(struct client *client) {
	return access_client_may_ask_for_status(find_section(client));
}

/*
 * The limit for all programs of the user together. If no section has a limit, the user is not
 * looked up.
 */
static uint64_t user_quota(struct client *client, enum quota quota) {
	const struct gidd *gidd = client->peer.gidd;
	const struct config_client *section;
	TAILQ_FOREACH(section, &gidd->config->clients, entry) {
		if (section->domain == gidd->self && section->quota[quota] != UINT64_MAX) {
			break;
		}
	}
	section = section != NULL ? find_section(client) : NULL;
	return section != NULL ? section->quota[quota] : UINT64_MAX;
}

/* What all programs of the user have now. For QUOTA_CLIENTS: its live connections. */
static uint64_t used_by_user(const struct client *client, enum quota quota) {
	const struct client *other;
	uint64_t used = 0;
	TAILQ_FOREACH(other, &client->peer.gidd->clients, entry) {
		if (other->uid == client->uid) {
			used += quota == QUOTA_CLIENTS ? !other->stream.failed : other->used[quota];
		}
	}
	return used;
}

int client_check_user_quota(
		struct client *client, enum quota quota, uint64_t amount, char why[static 192]) {
	uint64_t limit = user_quota(client, quota);
	uint64_t used = limit != UINT64_MAX ? used_by_user(client, quota) : 0;
	if (used <= limit && amount <= limit - used) {
		return 0;
	}
	snprintf(why, 192, "over the limit %s=%llu of user %.63s (its programs have %llu)",
			quota_name(quota), (unsigned long long)limit, client->user,
			(unsigned long long)used);
	return -EDQUOT;
}

/* --- the sealed phase ------------------------------------------------------------------------- */

static void tell_sealed(struct client *client) {
	union gid_wire_message message;
	if (client->takes_sealed) {
		seal_put(client->peer.gidd, &message);
		peer_send(&client->peer, &message, NULL, 0);
	}
}

void client_tell_sealed(struct gidd *gidd) {
	struct client *client;
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		tell_sealed(client);
	}
}

/* Needs no client object, which would be a new allocation. */
static void refuse_sealed(const struct gidd *gidd, int fd, uid_t uid) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_RESULT, 0);
	message.result.error = -ESHUTDOWN;
	strcpy(message.result.text, gidd->seal.text);
	(void)gid_socket_send(fd, &message, message.header.size, NULL, 0);
	log_line(log_user(uid), LOG_LEVEL_WARNING, "a program of uid %u is refused: %s",
			(unsigned)uid, gidd->seal.text);
	/*
	 * Closing a socket with unread data resets it: the program would get an error, not the
	 * sentence.
	 */
	shutdown(fd, SHUT_RDWR);
	gid_closer_empty(fd, NULL);
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
				"gidd of domain %s speaks version %u of the wire, this program %u: "
				"install the same release of both",
				gidd->self->name, GID_WIRE_VERSION, hello->version);
		packet_stream_fail(&client->stream, "it speaks version %u", hello->version);
		return;
	}
	client->patience = sd_event_source_disable_unref(client->patience);
	client->takes_doorbells = (hello->domain & GID_WIRE_TAKES_DOORBELLS) != 0;
	client->takes_sealed = (hello->domain & GID_WIRE_TAKES_SEALED) != 0;
	snprintf(client->program, sizeof(client->program), "%s",
			hello->name[0] == '\0' ? "client" : hello->name);
	peer_describe(client->peer.label, sizeof(client->peer.label), client->program, client->pid,
			client->uid);
	peer_log(&client->peer, LOG_LEVEL_INFO, "connected");
	union gid_wire_message welcome;
	gid_wire_begin(&welcome, GID_WIRE_WELCOME, hello->header.serial);
	welcome.welcome.version = GID_WIRE_VERSION;
	welcome.welcome.domain = gidd->self->number;
	snprintf(welcome.welcome.name, sizeof(welcome.welcome.name), "%s", gidd->self->name);
	welcome.welcome.window =
			config_has_window(gidd->config, gidd->self) ? gidd->self->window : 0;
	peer_send(&client->peer, &welcome, NULL, 0);
	tell_sealed(client);
}

static void handle_message(void *data, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct client *client = data;
	if (client->patience != NULL) {
		handle_hello(client, message);
		return;
	}
	client->peer.gidd->client_events->message(client, message, fds);
}

/* The client has lost nothing, and may ask again. */
static bool handle_starved(void *data, const struct gid_wire_header *header) {
	struct client *client = data;
	bool is_request = header->type == GID_WIRE_EXPORT || header->type == GID_WIRE_SUBSCRIBE;
	if (client->patience != NULL || !is_request) {
		return false;
	}
	peer_result(&client->peer, header->serial, -EMFILE, 0,
			"gidd of domain %s can open no more files: ask again later",
			client->peer.gidd->self->name);
	return true;
}

static void handle_closed(void *data, const char *why) {
	struct client *client = data;
	peer_log(&client->peer, strcmp(why, "hung up") == 0 ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
			"closed: %s", why);
	client_destroy(client);
}

/* --- life ------------------------------------------------------------------------------------- */

static const struct packet_stream_handler handler = {
		.message = handle_message,
		.starved = handle_starved,
		.closed = handle_closed,
};

static bool is_full(struct gidd *gidd) {
	return gidd->used[QUOTA_CLIENTS] >= gidd->self->quota[QUOTA_CLIENTS];
}

/*
 * The newest connection of the user who has more than half of all; NULL: there is no such user, or
 * it is `user`.
 */
static struct client *find_to_yield(struct gidd *gidd, uid_t user) {
	struct client *client, *newest = NULL;
	int64_t lead = 0;
	uint64_t count = 0;
	uid_t most = user;
	/* Majority vote: connections of different users cancel in pairs, so a majority remains. */
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		if (!client->stream.failed && lead == 0) {
			most = client->uid;
		}
		if (!client->stream.failed) {
			lead += client->uid == most ? 1 : -1;
		}
	}
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		if (!client->stream.failed && client->uid == most) {
			newest = client;
			count++;
		}
	}
	bool may = most != user && count > gidd->self->quota[QUOTA_CLIENTS] / 2;
	return may ? newest : NULL;
}

/* Ends no connection for another program of the same user: only the domain's limit applies then. */
static bool make_room(struct gidd *gidd, uid_t user) {
	struct client *yields = is_full(gidd) ? find_to_yield(gidd, user) : NULL;
	if (yields != NULL) {
		packet_stream_fail(&yields->stream,
				"its user has more than half of clients=%llu, and another's "
				"program came",
				(unsigned long long)gidd->self->quota[QUOTA_CLIENTS]);
	}
	return yields != NULL || !is_full(gidd);
}

/* Whether the client may stay, by the limits of its user and domain. If not, it is told why. */
static bool admit(struct client *client) {
	struct gidd *gidd = client->peer.gidd;
	char why[192];
	bool of_user = client_check_user_quota(client, QUOTA_CLIENTS, 0, why) == 0;
	bool room = of_user && make_room(gidd, client->uid);
	gidd->used[QUOTA_CLIENTS]++;
	if (!of_user) {
		peer_refuse(&client->peer, 0, -EDQUOT, "%s", why);
		packet_stream_fail(&client->stream, "over the limit of its user's clients");
	} else if (!room) {
		peer_refuse(&client->peer, 0, -EDQUOT, "domain %s has its clients=%llu already",
				gidd->self->name,
				(unsigned long long)gidd->self->quota[QUOTA_CLIENTS]);
		packet_stream_fail(&client->stream, "over the limit of clients");
	}
	return room;
}

/* Whether the client may send descriptors. If not, it is told why, and its connection ends. */
static bool admit_descriptors(struct client *client, int fd) {
	const char *refusal = packet_stream_refuses(client->peer.source);
	if (refusal == NULL) {
		gid_socket_accept_rights(fd);
		return true;
	}
	/* With its queue empty, closing it cannot get stuck, so nobody is charged. */
	client->stream.giver = gid_socket_refuse_rights(fd) ? 0 : client->peer.source;
	peer_result(&client->peer, 0, -EAGAIN, 0, "%s", refusal);
	packet_stream_fail(&client->stream, "%s", refusal);
	return false;
}

void client_create(struct gidd *gidd, int fd) {
	struct ucred credentials = {.pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1};
	socklen_t size = sizeof(credentials);
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
	if (seal_is_on(gidd) && !seal_is_for(credentials.uid)) {
		refuse_sealed(gidd, fd, credentials.uid);
		return;
	}
	struct client *client = calloc(1, sizeof(*client));
	if (client == NULL) {
		gid_closer_hang_up(fd);
		return;
	}
	peer_init(&client->peer, gidd, gidd->config, gidd->self->number);
	TAILQ_INIT(&client->slabs);
	TAILQ_INIT(&client->streams);
	client->peer.client = client;
	client->peer.source = log_user(credentials.uid);
	client->peer.send = send_message;
	client->peer.fail = fail;
	client->pid = credentials.pid;
	client->uid = credentials.uid;
	client->id = ++gidd->client_count;
	peer_describe(client->peer.label, sizeof(client->peer.label), "client", client->pid,
			client->uid);
	if (packet_stream_init(&client->stream, gidd->event, fd, client->peer.source, &handler,
			    client) < 0) {
		free(client);
		return;
	}
	TAILQ_INSERT_TAIL(&gidd->clients, client, entry);
	if (!admit(client) || !admit_descriptors(client, fd)) {
		return;
	}
	if (sd_event_add_time_relative(gidd->event, &client->patience, CLOCK_MONOTONIC,
			    HELLO_PATIENCE_US, 0, handle_patience, client) < 0) {
		packet_stream_fail(&client->stream, "gidd is out of memory");
	}
}

void client_destroy(struct client *client) {
	struct gidd *gidd = client->peer.gidd;
	gidd->client_events->gone(client);
	sd_event_source_disable_unref(client->patience);
	packet_stream_finish(&client->stream);
	gidd->used[QUOTA_CLIENTS]--;
	TAILQ_REMOVE(&gidd->clients, client, entry);
	free(client);
}
