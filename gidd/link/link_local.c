// SPDX-License-Identifier: MIT
/*
 * A link between domains of one kernel: a unix socket between their gidds, which passes
 * descriptors.
 *
 * The domain with the lower number listens at RUNTIME/LOWER/link/HIGHER.sock. So the path
 * identifies the peer. Each side takes only the user that runs the other gidd.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closer.h"
#include "folder.h"
#include "link.h"
#include "listener.h"
#include "log.h"
#include "packet_stream.h"
#include "seal.h"
#include "socket.h"

#define RETRY_US 200000
#define ROUND_US 1000000u
#define QUIET_ROUNDS 3u /* after these gidd sends pings */
/* After these the peer counts as gone: counted in rounds in which we could have heard it. */
#define SILENT_ROUNDS 10u
#define RETRY_ACCURACY_US 5000 /* a timer can be this late; the default of sd-event is 250 ms */

struct local {
	struct link *link;
	char path[128];
	bool listens;
	uid_t user;		  /* who may run the other gidd, besides root and our own user */
	struct listener listener; /* used by the lower number */
	sd_event_source *retry;	  /* used by the higher number: the next attempt to connect */
	sd_event_source *round;	  /* set while connected */
	uint32_t silent;	  /* rounds since the last message */
	bool connected;
	struct packet_stream stream;
};

/* --- liveness --------------------------------------------------------------------------------- */

static void send_ping(struct local *local) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PING, 0);
	message.ping.time = gid_clock_now();
	packet_stream_send(&local->stream, &message, NULL, 0);
}

static void answer_ping(struct local *local, const struct gid_wire_ping *ping) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PONG, 0);
	message.pong.ping_time = ping->time;
	message.pong.time = gid_clock_now();
	packet_stream_send(&local->stream, &message, NULL, 0);
}

static int handle_round(sd_event_source *source, uint64_t now, void *data) {
	struct local *local = data;
	link_tick(local->link, ROUND_US);
	if (local->link->state == LINK_UP) {
		local->silent++;
	}
	if (local->silent > SILENT_ROUNDS) {
		link_drop(local->link, "it has been silent for too long");
		return 0;
	}
	if (local->silent >= QUIET_ROUNDS) {
		send_ping(local);
	}
	sd_event_source_set_time_relative(source, ROUND_US);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

/* --- the connection --------------------------------------------------------------------------- */

static void handle_message(void *data, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct local *local = data;
	bool is_up = local->link->state == LINK_UP;
	local->silent = 0;
	if (is_up && message->header.type == GID_WIRE_PING) {
		answer_ping(local, &message->ping);
	} else if (!is_up || message->header.type != GID_WIRE_PONG) {
		link_message(local->link, message, fds);
	}
}

static void try_later(struct local *local) {
	sd_event_source_set_time_relative(local->retry, RETRY_US);
	sd_event_source_set_enabled(local->retry, SD_EVENT_ONESHOT);
}

static void disconnect(struct local *local, const char *why) {
	char reason[192];
	snprintf(reason, sizeof(reason), "%s", why);
	local->connected = false;
	local->round = sd_event_source_disable_unref(local->round);
	packet_stream_finish(&local->stream);
	link_lost(local->link, reason);
}

static void handle_closed(void *data, const char *why) {
	struct local *local = data;
	disconnect(local, why);
	if (!local->listens) {
		try_later(local);
	}
}

static const struct packet_stream_handler handler = {
		.message = handle_message,
		.closed = handle_closed,
};

/* Takes ownership of `fd`. */
static void begin(struct local *local, int fd) {
	sd_event *event = local->link->peer.gidd->event;
	uint64_t giver = local->link->peer.source;
	gid_socket_accept_rights(fd);
	if (packet_stream_init(&local->stream, event, fd, giver, &handler, local) == 0) {
		local->connected = true;
		local->silent = 0;
		sd_event_add_time_relative(event, &local->round, CLOCK_MONOTONIC, ROUND_US,
				ROUND_US / 10, handle_round, local);
		link_connected(local->link);
	}
}

/* --- who may be at the other end -------------------------------------------------------------- */

/* By the kernel's word: of who connected, or of who listened where we connected. */
static bool is_of_peer(const struct local *local, int fd, struct ucred *credentials) {
	socklen_t size = sizeof(*credentials);
	*credentials = (struct ucred){.uid = (uid_t)-1};
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, &size) == 0 &&
			(credentials->uid == 0 || credentials->uid == geteuid() ||
					credentials->uid == local->user);
}

static void put_refusal(const struct local *local, char *text, size_t size) {
	snprintf(text, size, "refused: user= of domain %s is another user",
			local->link->remote->name);
}

/* --- the higher number connects --------------------------------------------------------------- */

/* Whoever listens there may have sent descriptors by now. */
static void leave(const struct local *local, int fd) {
	const uint64_t before = gid_closer_charge(local->link->peer.source);
	gid_closer_hang_up(fd);
	gid_closer_charge(before);
}

/* Notes why there is no connection. A stranger is told of once, and not five times a second. */
static void fail(struct local *local, bool is_stranger, const char *why) {
	char text[sizeof(local->link->why)];
	snprintf(text, sizeof(text), "%s: %s", local->path, why);
	if (is_stranger && strcmp(text, local->link->why) != 0) {
		peer_log(&local->link->peer, LOG_LEVEL_WARNING, "%s", text);
	}
	memcpy(local->link->why, text, sizeof(text));
}

static void try_now(struct local *local) {
	if (packet_stream_refuses(local->link->peer.source) != NULL) {
		fail(local, false, strerror(EMFILE));
		return;
	}
	int fd = gid_socket_connect(local->path, 0);
	if (fd < 0) {
		fail(local, false, strerror(-fd));
		return;
	}
	struct ucred credentials;
	if (!is_of_peer(local, fd, &credentials)) {
		char why[128];
		put_refusal(local, why, sizeof(why));
		leave(local, fd);
		fail(local, true, why);
		return;
	}
	begin(local, fd);
	if (!local->connected) {
		fail(local, false, "no memory");
	}
}

static int handle_retry(sd_event_source *source, uint64_t now, void *data) {
	struct local *local = data;
	const struct gidd *gidd = local->link->peer.gidd;
	if (seal_is_on(gidd)) {
		snprintf(local->link->why, sizeof(local->link->why), "%s", gidd->seal.text);
	} else {
		try_now(local);
	}
	if (!local->connected) {
		try_later(local);
	}
	return 0;
}

/*
 * The file may name a user whom this system does not know, as a container's: then only root and our
 * own user may listen.
 */
static int open_connecting(struct local *local) {
	struct gidd *gidd = local->link->peer.gidd;
	if (listener_find_user(local->link->remote, &local->user) < 0) {
		local->user = (uid_t)-1;
	}
	return sd_event_add_time_relative(gidd->event, &local->retry, CLOCK_MONOTONIC, 0,
			RETRY_ACCURACY_US, handle_retry, local);
}

/* --- the lower number listens ----------------------------------------------------------------- */

static bool may_come_in(struct local *local, int fd) {
	struct ucred credentials;
	char who[64];
	const bool may = is_of_peer(local, fd, &credentials);
	peer_describe(who, sizeof(who), "a gidd", credentials.pid, credentials.uid);
	peer_log(&local->link->peer, LOG_LEVEL_INFO, "%s connects", who);
	return may;
}

static void handle_connection(void *data, int fd) {
	struct local *local = data;
	const struct gidd *gidd = local->link->peer.gidd;
	if (seal_is_on(gidd)) { /* the peer retries five times a second: not logged */
		snprintf(local->link->why, sizeof(local->link->why), "%s", gidd->seal.text);
		gid_closer_hang_up(fd);
		return;
	}
	if (!may_come_in(local, fd)) {
		char why[128];
		put_refusal(local, why, sizeof(why));
		peer_log(&local->link->peer, LOG_LEVEL_WARNING, "%s", why);
		gid_closer_hang_up(fd);
		return;
	}
	const char *refusal = packet_stream_refuses(local->link->peer.source);
	if (refusal != NULL) {
		peer_log(&local->link->peer, LOG_LEVEL_WARNING, "refused: %s", refusal);
		gid_closer_hang_up(fd);
		return;
	}
	/* Only one gidd serves a domain: a new connection replaces the old one. */
	if (local->connected) {
		disconnect(local, "another gidd connected in its place");
	}
	begin(local, fd);
}

/* The folder belongs to us, and each socket in it to the one user that may connect to it. */
static int open_listening(struct local *local, const char *folder) {
	struct link *link = local->link;
	int error = listener_find_user(link->remote, &local->user);
	if (error < 0) {
		return error;
	}
	error = folder_make(folder, 0711);
	if (error < 0) {
		return error;
	}
	bool other = local->user != geteuid();
	const struct listener_access access = {
			.mode = 0600,
			.user = other ? local->user : (uid_t)-1,
			.group = -1,
	};
	error = listener_open(&local->listener, link->peer.gidd->event, local->path, SOCK_SEQPACKET,
			&access, handle_connection, local);
	if (error < 0) {
		log_error("cannot listen on %s%s%s: %s", local->path, other ? " for user " : "",
				other ? link->remote->user : "", strerror(-error));
	}
	return error;
}

/* --- the kind --------------------------------------------------------------------------------- */

static void local_close(struct link *link) {
	struct local *local = link->kind_data;
	listener_close(&local->listener);
	sd_event_source_disable_unref(local->retry);
	sd_event_source_disable_unref(local->round);
	if (local->connected) {
		packet_stream_finish(&local->stream);
	}
	free(local);
}

static int local_open(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	struct local *local = calloc(1, sizeof(*local));
	if (local == NULL) {
		return -ENOMEM;
	}
	link->kind_data = local;
	local->link = link;
	local->listener.fd = -1;
	local->listens = gidd->self->number < link->remote->number;
	const struct config_domain *lower = local->listens ? gidd->self : link->remote;
	const struct config_domain *higher = local->listens ? link->remote : gidd->self;
	char folder[112];
	int folder_size =
			snprintf(folder, sizeof(folder), "%s/%s/link", gidd->runtime, lower->name);
	int size = snprintf(local->path, sizeof(local->path), "%s/%s.sock", folder, higher->name);
	int error = -ENAMETOOLONG;
	if ((size_t)folder_size < sizeof(folder) && (size_t)size < sizeof(local->path)) {
		error = local->listens ? open_listening(local, folder) : open_connecting(local);
	}
	if (error < 0) {
		local_close(link);
		return error;
	}
	return 0;
}

static void local_send(struct link *link, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	struct local *local = link->kind_data;
	packet_stream_send(&local->stream, message, fds, fd_count);
}

static bool local_has_queue(const struct link *link) {
	const struct local *local = link->kind_data;
	return packet_stream_has_queue(&local->stream);
}

static void local_drop(struct link *link, bool fault, const char *why) {
	struct local *local = link->kind_data;
	packet_stream_fail(&local->stream, "%s", why);
}

static const struct ini_key keys[] = {CONFIG_LINK_KIND};

LINK_KIND(kind_local) = {
		.name = "local",
		.keys = {INI_KEY_TABLE("a link of kind local", keys), 0},
		.open = local_open,
		.send = local_send,
		.has_queue = local_has_queue,
		.drop = local_drop,
		.close = local_close,
};
