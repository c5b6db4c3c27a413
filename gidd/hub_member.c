// SPDX-License-Identifier: MIT
/* The hub's members: a socket for each, that its QEMU connects to, or its gidd where that is no
 * guest. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gidd.h"
#include "hub.h"
#include "log.h"
#include "server.h"

static void say_joined(struct hub_member *member, uint64_t nonce) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_JOINED, 0);
	message.join.version = GID_WIRE_VERSION;
	message.join.domain = member->domain->number;
	message.join.nonce = nonce;
	trunk_send(&member->trunk, 0, 0, &message);
}

static void handle_join(struct hub_member *member, const struct gid_wire_join *join) {
	bool again = member->joined && member->nonce == join->nonce;
	if (!again) {
		hub_leave(member, "its gidd began anew");
	}
	say_joined(member, join->nonce);
	if (again) {
		return;
	}
	if (join->version != GID_WIRE_VERSION) {
		log_warning("hub: domain %s speaks version %u, this gidd %u", member->domain->name,
			join->version, GID_WIRE_VERSION);
		return;
	}
	member->trunk.searching = false;
	member->nonce = join->nonce;
	hub_join(member);
}

static void handle_envelope(void *data, const struct gid_wire_envelope *envelope,
	const union gid_wire_message *message) {
	struct hub_member *member = data;
	if (envelope->domain != 0) {
		hub_route(member, envelope, message);
	} else if (message->header.type == GID_WIRE_JOIN) {
		handle_join(member, &message->join);
	} else if (message->header.type == GID_WIRE_PEER) {
		hub_peer(member, &message->peer);
	}
}

static void handle_garbled(void *data, const char *why) {
	struct hub_member *member = data;
	char reason[192];
	snprintf(reason, sizeof(reason), "protocol violation: %s", why);
	if (member->joined) {
		hub_note_fault(member, reason);
	}
	hub_leave(member, reason);
	say_joined(member, 0);
}

static void disconnect(struct hub_member *member, const char *why) {
	char reason[128];
	snprintf(reason, sizeof(reason), "%s", why);
	member->connected = false;
	trunk_finish(&member->trunk);
	hub_leave(member, reason);
}

static void handle_closed(void *data, const char *why) {
	disconnect(data, why);
}

static const struct trunk_handler handler = {
	.envelope = handle_envelope,
	.garbled = handle_garbled,
	.closed = handle_closed,
};

static int handle_connection(sd_event_source *source, int fd, uint32_t events, void *data) {
	struct hub_member *member = data;
	int stream = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (stream < 0) {
		return 0;
	}
	/* A machine has the socket to itself: whoever comes in now has replaced the one before. */
	if (member->connected) {
		disconnect(member, "another machine came in");
	}
	if (trunk_init(&member->trunk, member->hub->gidd->event, stream, &handler, member) == 0) {
		member->connected = true;
		say_joined(member, 0);
	}
	return 0;
}

static int listen_for(struct hub_member *member) {
	struct gidd *gidd = member->hub->gidd;
	char folder[112];
	int folder_size = snprintf(folder, sizeof(folder), "%s/hub", gidd->runtime);
	int size = snprintf(
		member->path, sizeof(member->path), "%s/%s.sock", folder, member->domain->name);
	if ((size_t)folder_size >= sizeof(folder) || (size_t)size >= sizeof(member->path)) {
		return -ENAMETOOLONG;
	}
	if (mkdir(folder, 0711) < 0 && errno != EEXIST) {
		return -errno;
	}
	member->listener = server_listen_stream(member->path, 0600);
	if (member->listener < 0) {
		return member->listener;
	}
	return sd_event_add_io(
		gidd->event, &member->io, member->listener, EPOLLIN, handle_connection, member);
}

int hub_member_open(struct hub *hub, const struct config_domain *domain) {
	struct hub_member *member = calloc(1, sizeof(*member));
	if (member == NULL) {
		return -ENOMEM;
	}
	member->hub = hub;
	member->domain = domain;
	member->listener = -1;
	member->self = member->joined = domain == hub->gidd->self;
	TAILQ_INSERT_TAIL(&hub->members, member, entry);
	int error = member->self ? 0 : listen_for(member);
	if (error < 0) {
		log_error("hub: no socket for domain %s at %s: %s", domain->name, member->path,
			strerror(-error));
	}
	return error < 0 ? error : 0;
}

void hub_member_close(struct hub_member *member) {
	sd_event_source_disable_unref(member->io);
	if (member->connected) {
		trunk_finish(&member->trunk);
	}
	if (member->listener >= 0) {
		unlink(member->path);
		close(member->listener);
	}
	free(member);
}
