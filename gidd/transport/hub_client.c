// SPDX-License-Identifier: MIT
/*
 * The connection to the hub: one byte stream for all links to other machines. In a guest that is a
 * virtio-serial port; on the hub's system, a unix socket.
 */
#include "hub_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "byte_stream.h"
#include "gidd.h"
#include "log.h"
#include "random_number.h"

#define PORT "/dev/virtio-ports/org.gidway.link"
#define RETRY_US 200000
#define RETRY_ACCURACY_US 5000
#define QUIET_ROUNDS 10u /* in units of RETRY_US */

struct hub_client {
	struct transport base;
	struct byte_stream stream;
	bool connected, joined;
	uint64_t nonce;
	int last_error;	       /* of connecting; logged once */
	unsigned pings, quiet; /* as of the last round; rounds without a new ping */
	unsigned long sleeps;  /* suspends of its machine, as of the last round */
	sd_event_source *retry;
};

/* --- the joined state ------------------------------------------------------------------------- */

static void disconnect(struct hub_client *client, const char *why) {
	if (!client->joined) {
		return;
	}
	client->joined = false;
	client->nonce = 0;
	log_warning("the hub: lost: %s", why);
	client->base.events->down(client->base.gidd, 0, why);
}

static void ask_to_join(struct hub_client *client) {
	union gid_wire_message message;
	client->nonce = client->nonce != 0 ? client->nonce : random_number();
	gid_wire_begin(&message, GID_WIRE_JOIN, 0);
	message.join.version = GID_WIRE_VERSION;
	message.join.nonce = client->nonce;
	byte_stream_send(&client->stream, 0, 0, &message);
}

static void handle_joined(struct hub_client *client, const struct gid_wire_join *joined) {
	const struct config_domain *self = client->base.gidd->self;
	if (joined->nonce == 0) {
		disconnect(client, "the hub started again");
		client->stream.searching = true;
		ask_to_join(client);
		return;
	}
	if (joined->nonce != client->nonce || client->joined) {
		return;
	}
	if (joined->version != GID_WIRE_VERSION || joined->domain != self->number) {
		log_error("the hub speaks version %u and calls this domain %u: install the same "
			  "gidway and configuration on both machines",
				joined->version, joined->domain);
		byte_stream_fail(&client->stream, "the hub does not know this domain");
		return;
	}
	client->stream.searching = false;
	client->joined = true;
	client->base.session++;
	log_info("the hub: joined");
}

static void handle_peer(struct hub_client *client, const struct gid_wire_peer *peer) {
	if (peer->up == 1) {
		client->base.events->up(client->base.gidd, peer->domain, peer->epoch);
	} else {
		client->base.events->down(client->base.gidd, peer->domain, peer->why);
	}
}

static void handle_own(struct hub_client *client, const union gid_wire_message *message) {
	struct gidd *gidd = client->base.gidd;
	if (message->header.type == GID_WIRE_WITHDRAW) {
		gidd->withdraw_events->withdrawn(gidd, &message->withdraw);
	} else if (message->header.type == GID_WIRE_PUNCHED) {
		gidd->withdraw_events->punched(
				gidd, message->allocated.offset, message->allocated.size);
	} else if (message->header.type == GID_WIRE_OWN_WINDOW) {
		gidd->withdraw_events->own_window(gidd, &message->own_window);
	}
}

static void handle_envelope(void *data, const struct gid_wire_envelope *envelope,
		const union gid_wire_message *message) {
	struct hub_client *client = data;
	if (message->header.type == GID_WIRE_JOINED && envelope->domain == 0) {
		handle_joined(client, &message->join);
	} else if (message->header.type == GID_WIRE_PEER && envelope->domain == 0) {
		handle_peer(client, &message->peer);
	} else if (envelope->domain == 0) {
		handle_own(client, message);
	} else {
		client->base.events->receive(
				client->base.gidd, envelope->domain, envelope->epoch, message);
	}
}

static void handle_garbled(void *data, const char *why) {
	disconnect(data, why);
}

/* --- the connection --------------------------------------------------------------------------- */

static void handle_closed(void *data, const char *why) {
	struct hub_client *client = data;
	char reason[128];
	snprintf(reason, sizeof(reason), "%s", why);
	client->connected = false;
	byte_stream_finish(&client->stream);
	disconnect(client, reason);
	client->nonce = 0;
}

/* How often this machine was suspended, or tried to; 0: the kernel does not tell. */
static unsigned long count_sleeps(void) {
	static const char *const counts[] = {
			"/sys/power/suspend_stats/success", "/sys/power/suspend_stats/fail"};
	unsigned long sum = 0;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		char text[32] = "";
		int fd = open(counts[i], O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			ssize_t size = read(fd, text, sizeof(text) - 1);
			sum += size > 0 ? strtoul(text, NULL, 10) : 0;
			close(fd);
		}
	}
	return sum;
}

/*
 * When the machine is suspended, the port's driver drops data under way without notice. A socket
 * does not.
 */
static bool has_slept(struct hub_client *client) {
	if (client->stream.is_socket) {
		return false;
	}
	unsigned long before = client->sleeps;
	client->sleeps = count_sleeps();
	return client->sleeps != before;
}

static const struct byte_stream_handler handler = {
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

static void begin(struct hub_client *client) {
	char path[256];
	struct gidd *gidd = client->base.gidd;
	int error = open_control(gidd, path, sizeof(path));
	if (error >= 0) {
		error = byte_stream_init(&client->stream, gidd->event, error, &handler, client);
	}
	if (error < 0) {
		char why[192];
		if (error != client->last_error) {
			log_warning("the hub: %s: %s", path, strerror(-error));
		}
		client->last_error = error;
		snprintf(why, sizeof(why), "cannot reach the hub: %.100s: %s", path,
				strerror(-error));
		client->base.events->unreachable(gidd, why);
		return;
	}
	client->last_error = 0;
	client->connected = true;
	client->sleeps = count_sleeps();
	ask_to_join(client);
}

/*
 * A gidd without links sends nothing. If its machine was restored to an earlier state, it has lost
 * what the hub sent since. So it sends JOIN from time to time.
 */
static bool was_quiet(struct hub_client *client) {
	bool spoke = client->pings != client->base.pings;
	client->pings = client->base.pings;
	client->quiet = spoke || client->quiet == QUIET_ROUNDS ? 0 : client->quiet + 1;
	return client->quiet == QUIET_ROUNDS;
}

/* Connects, and asks to join until the hub has answered. */
static int handle_retry(sd_event_source *source, uint64_t now, void *data) {
	struct hub_client *client = data;
	if (client->connected && has_slept(client)) {
		byte_stream_fail(&client->stream, "this machine was suspended");
	} else if (!client->connected) {
		begin(client);
	} else if ((!client->joined || was_quiet(client)) &&
			byte_stream_queued(&client->stream) == 0) {
		ask_to_join(client);
	}
	sd_event_source_set_time_relative(source, RETRY_US);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

/* --- calls of the links ----------------------------------------------------------------------- */

static void hub_client_send(struct transport *transport, uint32_t domain, uint32_t epoch,
		const union gid_wire_message *message) {
	struct hub_client *client = (struct hub_client *)transport;
	if (client->joined) {
		byte_stream_send(&client->stream, domain, epoch, message);
	}
}

static void hub_client_part(struct transport *transport, uint32_t domain, uint32_t epoch,
		bool fault, const char *why) {
	struct hub_client *client = (struct hub_client *)transport;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PEER, 0);
	message.peer.domain = domain;
	message.peer.epoch = epoch;
	message.peer.fault = fault;
	snprintf(message.peer.why, sizeof(message.peer.why), "%s", why);
	if (client->joined) {
		byte_stream_send(&client->stream, 0, 0, &message);
	}
	client->base.events->down(client->base.gidd, domain, why);
}

static void hub_client_punch(struct transport *transport, uint64_t place, uint64_t size) {
	struct hub_client *client = (struct hub_client *)transport;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_PUNCH, 0);
	message.allocated.offset = place;
	message.allocated.size = size;
	if (client->joined) {
		byte_stream_send(&client->stream, 0, 0, &message);
	}
}

static int hub_client_withdraw(struct transport *transport, const struct config_domain *owner,
		const struct gid_wire_withdraw *withdraw) {
	return owner == transport->gidd->self ? 0 : -EXDEV;
}

static void hub_client_reload(struct transport *transport) {
}

static void hub_client_close(struct transport *transport) {
	struct hub_client *client = (struct hub_client *)transport;
	sd_event_source_disable_unref(client->retry);
	if (client->connected) {
		byte_stream_finish(&client->stream);
	}
	free(client);
}

static const struct transport_kind kind = {
		.send = hub_client_send,
		.part = hub_client_part,
		.punch = hub_client_punch,
		.withdraw = hub_client_withdraw,
		.reload = hub_client_reload,
		.close = hub_client_close,
};

int hub_client_open(struct gidd *gidd, const struct transport_events *events,
		struct transport **transport) {
	struct hub_client *client = calloc(1, sizeof(*client));
	if (client == NULL) {
		return -ENOMEM;
	}
	client->base = (struct transport){.kind = &kind, .events = events, .gidd = gidd};
	int error = sd_event_add_time_relative(gidd->event, &client->retry, CLOCK_MONOTONIC, 0,
			RETRY_ACCURACY_US, handle_retry, client);
	if (error < 0) {
		free(client);
		return error;
	}
	*transport = &client->base;
	return 0;
}
