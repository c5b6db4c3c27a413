// SPDX-License-Identifier: MIT
/*
 * A gidd that the hub joins to others: one byte stream to the hub, over which all of its links to
 * other machines go. In a guest that is a virtio-serial port; beside the hub, a unix socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "carrier.h"
#include "log.h"
#include "trunk.h"

#define PORT "/dev/virtio-ports/org.gidway.link"
#define RETRY_US 200000
#define RETRY_ACCURACY_US 5000

struct member {
	struct gidd *gidd;
	struct trunk trunk;
	bool connected, joined;
	uint64_t nonce;
	int last_error; /* of connecting, which is said once */
	sd_event_source *retry;
};

/* --- the session ------------------------------------------------------------------------------ */

static void leave(struct member *member, const char *why) {
	struct link *link;
	bool was_joined = member->joined;
	if (!was_joined) {
		return;
	}
	member->joined = false;
	member->nonce = 0;
	log_warning("the hub: lost: %s", why);
	TAILQ_FOREACH(link, &member->gidd->links, entry) {
		ivshmem_down(member->gidd, link->peer.domain, why);
	}
}

static void ask_to_join(struct member *member) {
	union gid_wire_message message;
	while (member->nonce == 0) {
		(void)!getrandom(&member->nonce, sizeof(member->nonce), 0);
	}
	gid_wire_begin(&message, GID_WIRE_JOIN, 0);
	message.join.version = GID_WIRE_VERSION;
	message.join.nonce = member->nonce;
	trunk_send(&member->trunk, 0, 0, &message);
}

static void handle_joined(struct member *member, const struct gid_wire_join *joined) {
	const struct config_domain *self = member->gidd->self;
	if (joined->nonce == 0) {
		leave(member, "the hub began anew");
		member->trunk.searching = true;
		ask_to_join(member);
		return;
	}
	if (joined->nonce != member->nonce || member->joined) {
		return;
	}
	if (joined->version != GID_WIRE_VERSION || joined->domain != self->number) {
		log_error("the hub speaks version %u and takes us for domain %u: install the same "
			  "gidway and configuration here and there",
			joined->version, joined->domain);
		trunk_fail(&member->trunk, "the hub does not know us");
		return;
	}
	member->trunk.searching = false;
	member->joined = true;
	log_info("the hub: joined");
}

static void handle_peer(struct member *member, const struct gid_wire_peer *peer) {
	if (peer->up == 1) {
		ivshmem_up(member->gidd, peer->domain, peer->epoch);
	} else {
		ivshmem_down(member->gidd, peer->domain, peer->why);
	}
}

static void handle_envelope(void *data, const struct gid_wire_envelope *envelope,
	const union gid_wire_message *message) {
	struct member *member = data;
	if (message->header.type == GID_WIRE_JOINED && envelope->domain == 0) {
		handle_joined(member, &message->join);
	} else if (message->header.type == GID_WIRE_PEER && envelope->domain == 0) {
		handle_peer(member, &message->peer);
	} else if (envelope->domain != 0) {
		ivshmem_receive(member->gidd, envelope->domain, envelope->epoch, message);
	}
}

static void handle_garbled(void *data, const char *why) {
	leave(data, why);
}

/* --- the connection --------------------------------------------------------------------------- */

static void handle_closed(void *data, const char *why) {
	struct member *member = data;
	char reason[128];
	snprintf(reason, sizeof(reason), "%s", why);
	member->connected = false;
	trunk_finish(&member->trunk);
	leave(member, reason);
	member->nonce = 0;
}

static const struct trunk_handler handler = {
	.envelope = handle_envelope,
	.garbled = handle_garbled,
	.closed = handle_closed,
};

static int connect_stream(const char *path) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path)) {
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = -errno;
		if (fd >= 0) {
			close(fd);
		}
		return error;
	}
	return fd;
}

static int open_control(const struct gidd *gidd, char *path, size_t size) {
	struct stat status;
	snprintf(path, size, "%s/hub/%s.sock", gidd->runtime, gidd->self->name);
	if (gidd->self->control != NULL) {
		snprintf(path, size, "%s", gidd->self->control);
	} else if (gidd->self->kind == KIND_GUEST && access(path, F_OK) < 0) {
		snprintf(path, size, PORT);
	}
	if (stat(path, &status) < 0) {
		return -errno;
	}
	if (S_ISSOCK(status.st_mode)) {
		return connect_stream(path);
	}
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static void begin(struct member *member) {
	char path[256];
	struct gidd *gidd = member->gidd;
	int error = open_control(gidd, path, sizeof(path));
	if (error >= 0) {
		error = trunk_init(&member->trunk, gidd->event, error, &handler, member);
	}
	if (error < 0) {
		struct link *link;
		if (error != member->last_error) {
			log_warning("the hub: %s: %s", path, strerror(-error));
		}
		member->last_error = error;
		TAILQ_FOREACH(link, &gidd->links, entry) {
			if (link->kind->windows_only) {
				snprintf(link->why, sizeof(link->why),
					"no way to the hub: %.100s: %s", path, strerror(-error));
			}
		}
		return;
	}
	member->last_error = 0;
	member->connected = true;
	ask_to_join(member);
}

/* Connects, and asks again until the hub has answered. */
static int handle_retry(sd_event_source *source, uint64_t now, void *data) {
	struct member *member = data;
	if (!member->connected) {
		begin(member);
	} else if (!member->joined && trunk_queued(&member->trunk) == 0) {
		ask_to_join(member);
	}
	sd_event_source_set_time_relative(source, RETRY_US);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

/* --- used ------------------------------------------------------------------------------------- */

void member_send(struct member *member, uint32_t domain, uint32_t epoch,
	const union gid_wire_message *message) {
	if (member->joined) {
		trunk_send(&member->trunk, domain, epoch, message);
	}
}

void member_part(
	struct member *member, uint32_t domain, uint32_t epoch, bool fault, const char *why) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PEER, 0);
	message.peer.domain = domain;
	message.peer.epoch = epoch;
	message.peer.fault = fault;
	snprintf(message.peer.why, sizeof(message.peer.why), "%s", why);
	if (member->joined) {
		trunk_send(&member->trunk, 0, 0, &message);
	}
	ivshmem_down(member->gidd, domain, why);
}

int member_open(struct gidd *gidd) {
	struct member *member = calloc(1, sizeof(*member));
	if (member == NULL) {
		return -ENOMEM;
	}
	member->gidd = gidd;
	int error = sd_event_add_time_relative(gidd->event, &member->retry, CLOCK_MONOTONIC, 0,
		RETRY_ACCURACY_US, handle_retry, member);
	if (error < 0) {
		free(member);
		return error;
	}
	gidd->member = member;
	return 0;
}

void member_close(struct member *member) {
	sd_event_source_disable_unref(member->retry);
	if (member->connected) {
		trunk_finish(&member->trunk);
	}
	free(member);
}
