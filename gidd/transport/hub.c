// SPDX-License-Identifier: MIT
/*
 * The hub of the guests: routes messages between domains of different machines. It knows the sender
 * by the byte stream on which a message comes, and writes the sender into the envelope. Guests are
 * hostile: one that does not read, or breaks the protocol, loses its own links and nothing else.
 */
#include "hub.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "folder.h"
#include "gidd.h"
#include "hub_check.h"
#include "log.h"
#include "shm_files.h"

#define BACK_OFF_MIN_US 100000u
#define BACK_OFF_MAX_US 3200000u
/* The interval at which a guest that joins again and again is told of its windows. */
#define TELL_US 100000u
/* A pair that was up this long starts again with the shortest back-off. */
#define STABLE_US 10000000u

/* --- messages of the hub ---------------------------------------------------------------------- */

static uint64_t now_us(struct hub *hub) {
	uint64_t now = 0;
	sd_event_now(hub->base.gidd->event, CLOCK_MONOTONIC, &now);
	return now;
}

static struct hub_port *other_end(const struct hub_pair *pair, const struct hub_port *port) {
	return pair->ends[pair->ends[0] == port];
}

/* Tells one end whether the other one is up. */
static void send_pair_state(struct hub_pair *pair, struct hub_port *port, const char *why) {
	const struct config_domain *peer = other_end(pair, port)->domain;
	union gid_wire_message message;
	if (!port->joined) {
		return;
	}
	if (port->self && pair->up) {
		pair->hub->base.events->up(pair->hub->base.gidd, peer->number, pair->epoch);
		return;
	}
	if (port->self) {
		pair->hub->base.events->down(pair->hub->base.gidd, peer->number, why);
		return;
	}
	gid_wire_begin(&message, GID_WIRE_PEER, 0);
	message.peer.domain = peer->number;
	message.peer.epoch = pair->epoch;
	message.peer.up = pair->up;
	snprintf(message.peer.why, sizeof(message.peer.why), "%s", why);
	byte_stream_send(&port->stream, 0, 0, &message);
}

/* --- faults ----------------------------------------------------------------------------------- */

/* `by`: the domain that reports the fault, whose word it is; NULL: the hub saw it. */
static void note_fault(struct hub_pair *pair, const struct hub_port *of, const struct hub_port *by,
		const char *why) {
	struct hub_faults *faults = &pair->faults[pair->ends[1] == of];
	faults->count++;
	snprintf(faults->last, sizeof(faults->last), "%s%s%.100s",
			by == NULL ? "" : by->domain->name, by == NULL ? "" : " says: ", why);
}

/* Reports the fault to the links of our own domain. */
static void send_fault(const struct hub_port *of, const char *why) {
	const struct transport *base = &of->hub->base;
	base->events->fault(base->gidd, of->domain->number, why);
}

/* --- pairs ------------------------------------------------------------------------------------ */

static void pair_up(struct hub_pair *pair) {
	if (pair->up || !pair->ends[0]->joined || !pair->ends[1]->joined) {
		return;
	}
	sd_event_source_set_enabled(pair->again, SD_EVENT_OFF);
	pair->up = true;
	pair->ups++;
	pair->epoch = ++pair->hub->epoch;
	pair->joined_us = now_us(pair->hub);
	for (int i = 0; i < 2; i++) {
		shm_files_mark(&pair->hub->windows, pair->hub->base.gidd->runtime,
				pair->ends[i]->domain);
	}
	/* Our own domain comes last, as it may send at once. */
	for (int i = 0; i < 2; i++) {
		send_pair_state(pair, pair->ends[pair->ends[0]->self ? !i : i], "");
	}
}

static void pair_down(struct hub_pair *pair, const char *why) {
	if (!pair->up) {
		return;
	}
	pair->up = false;
	snprintf(pair->why, sizeof(pair->why), "%s", why);
	log_info("hub: %s and %s are separated: %s", pair->ends[0]->domain->name,
			pair->ends[1]->domain->name, why);
	if (now_us(pair->hub) - pair->joined_us > STABLE_US) {
		pair->back_off_us = BACK_OFF_MIN_US;
	} else if (pair->back_off_us < BACK_OFF_MAX_US) {
		pair->back_off_us *= 2;
	}
	send_pair_state(pair, pair->ends[0], why);
	send_pair_state(pair, pair->ends[1], why);
	sd_event_source_set_time_relative(pair->again, pair->back_off_us);
	sd_event_source_set_enabled(pair->again, SD_EVENT_ONESHOT);
}

static int handle_again(sd_event_source *source, uint64_t now, void *data) {
	pair_up(data);
	return 0;
}

static struct hub_pair *find_pair(struct hub *hub, const struct hub_port *port, uint32_t domain) {
	struct hub_pair *pair;
	TAILQ_FOREACH(pair, &hub->pairs, entry) {
		if ((pair->ends[0] == port || pair->ends[1] == port) &&
				other_end(pair, port)->domain->number == domain) {
			return pair;
		}
	}
	return NULL;
}

static void port_join(struct hub_port *port) {
	struct hub_pair *pair;
	port->joined = true;
	log_line(log_domain(port->domain->number), LOG_LEVEL_INFO, "hub: domain %s is there",
			port->domain->name);
	TAILQ_FOREACH(pair, &port->hub->pairs, entry) {
		if (pair->ends[0] == port || pair->ends[1] == port) {
			int waits = SD_EVENT_OFF;
			sd_event_source_get_enabled(pair->again, &waits);
			if (waits == SD_EVENT_OFF) {
				pair_up(pair);
			}
		}
	}
}

static void port_disconnect(struct hub_port *port, const char *why) {
	struct hub_pair *pair;
	if (!port->joined) {
		return;
	}
	port->joined = false;
	log_line(log_domain(port->domain->number), LOG_LEVEL_WARNING, "hub: domain %s is gone: %s",
			port->domain->name, why);
	TAILQ_FOREACH(pair, &port->hub->pairs, entry) {
		if (pair->ends[0] == port || pair->ends[1] == port) {
			pair_down(pair, why);
		}
	}
}

static void port_note_fault(struct hub_port *port, const char *why) {
	struct hub_pair *pair;
	send_fault(port, why);
	TAILQ_FOREACH(pair, &port->hub->pairs, entry) {
		if (pair->up && (pair->ends[0] == port || pair->ends[1] == port)) {
			note_fault(pair, port, NULL, why);
		}
	}
}

static void send_joined(struct hub_port *port, uint64_t nonce) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_JOINED, 0);
	message.join.version = GID_WIRE_VERSION;
	message.join.domain = port->domain->number;
	message.join.nonce = nonce;
	port->told_us = now_us(port->hub);
	byte_stream_send(&port->stream, 0, 0, &message);
}

/*
 * Its machine was restored to an earlier state: it does not know what was sent since, what it knows
 * of others is outdated, and its memory is not what they expect. 0; or -errno: its windows could
 * not be marked.
 */
static int set_back(void *data) {
	struct hub_port *port = data;
	struct hub *hub = port->hub;
	int error = shm_files_end_life(&hub->windows, hub->base.gidd->runtime, port->domain);
	port_disconnect(port, "its machine was set back to what it was before");
	if (port->connected) {
		port->stream.searching = true;
		send_joined(port, 0);
	}
	return error;
}

/*
 * Whether it repeats the number of an earlier PING, which no gidd does: its machine was restored
 * without notice of its QEMU.
 */
static bool was_set_back(struct hub_port *port, const union gid_wire_message *message) {
	uint32_t number = message->header.type == GID_WIRE_PING ? message->header.serial : 0;
	bool back = number != 0 && number <= port->pings;
	port->pings = number != 0 ? number : port->pings;
	return back;
}

/* --- routing ---------------------------------------------------------------------------------- */

/* Passes a message to our own domain. */
static void receive(const struct hub_pair *pair, uint32_t source,
		const union gid_wire_message *message) {
	const struct transport *base = &pair->hub->base;
	base->events->receive(base->gidd, source, pair->epoch, message);
}

/* Delivers the message of a guest. */
static void deliver(struct hub_pair *pair, const struct hub_port *from,
		const union gid_wire_message *message) {
	struct hub_port *to = other_end(pair, from);
	uint32_t source = from->domain->number;
	if (to->self) {
		receive(pair, source, message);
	} else if (byte_stream_queued(&to->stream) > BYTE_STREAM_QUEUE_MAX / 2) {
		/*
		 * Either end may be at fault. The rest of the queue is for messages of other
		 * domains.
		 */
		pair_down(pair, "more is sent than is read");
	} else {
		byte_stream_send(&to->stream, source, pair->epoch, message);
	}
}

static void refuse(struct hub_pair *pair, struct hub_port *from,
		const union gid_wire_message *message) {
	union gid_wire_message answer;
	gid_wire_begin(&answer, GID_WIRE_RESULT, message->header.serial);
	answer.result.error = -ENOENT;
	snprintf(answer.result.text, sizeof(answer.result.text),
			"the host's configuration does not share that with domain %s",
			from->domain->name);
	if (from->self) {
		receive(pair, other_end(pair, from)->domain->number, &answer);
	} else {
		byte_stream_send(&from->stream, other_end(pair, from)->domain->number, pair->epoch,
				&answer);
	}
}

static void route(struct hub_port *from, const struct gid_wire_envelope *envelope,
		const union gid_wire_message *message) {
	struct hub_pair *pair = find_pair(from->hub, from, envelope->domain);
	const char *why;
	if (was_set_back(from, message)) {
		(void)set_back(from);
		byte_stream_rest(&from->stream);
		return;
	}
	if (pair == NULL || !pair->up || envelope->epoch != pair->epoch) {
		return; /* it was sent before the sender heard that the pair is down */
	}
	switch (hub_check(from->hub->base.gidd->config, &from->hub->windows, from->domain,
			other_end(pair, from)->domain, message, &why)) {
	case HUB_PASS:
		deliver(pair, from, message);
		break;
	case HUB_REFUSE:
		refuse(pair, from, message);
		break;
	case HUB_BREAK:
		log_line(log_domain(from->domain->number), LOG_LEVEL_WARNING,
				"hub: domain %s: protocol violation: %s", from->domain->name, why);
		note_fault(pair, from, NULL, why);
		if (other_end(pair, from)->self) {
			send_fault(from, why);
		}
		pair_down(pair, why);
		break;
	}
}

static void handle_peer(struct hub_port *from, const struct gid_wire_peer *peer) {
	struct hub_pair *pair = find_pair(from->hub, from, peer->domain);
	if (pair != NULL && pair->up && peer->epoch == pair->epoch && peer->up == 0) {
		if (peer->fault == 1) {
			note_fault(pair, other_end(pair, from), from, peer->why);
		}
		pair_down(pair, peer->why);
	}
}

/* --- our own domain --------------------------------------------------------------------------- */

static struct hub_port *find_self(struct hub *hub) {
	struct hub_port *port;
	TAILQ_FOREACH(port, &hub->ports, entry) {
		if (port->self) {
			break;
		}
	}
	return port;
}

static void hub_send(struct transport *transport, uint32_t domain, uint32_t epoch,
		const union gid_wire_message *message) {
	struct hub *hub = (struct hub *)transport;
	const struct hub_port *self = find_self(hub);
	struct hub_pair *pair = find_pair(hub, self, domain);
	if (pair != NULL && pair->up && pair->epoch == epoch) {
		/* The other end is a guest: only one domain is our own. */
		byte_stream_send(&other_end(pair, self)->stream, self->domain->number, epoch,
				message);
	}
}

static void hub_part(struct transport *transport, uint32_t domain, uint32_t epoch, bool fault,
		const char *why) {
	struct hub *hub = (struct hub *)transport;
	const struct hub_port *self = find_self(hub);
	struct hub_pair *pair = find_pair(hub, self, domain);
	if (pair != NULL && pair->up && pair->epoch == epoch) {
		if (fault) {
			note_fault(pair, other_end(pair, self), NULL, why);
		}
		pair_down(pair, why);
	}
}

/* --- revocation ------------------------------------------------------------------------------- */

/*
 * Clears part of a guest's own window. The guest could write zeroes itself, but that could be
 * undone.
 */
static void handle_punch(struct hub_port *port, const struct gid_wire_allocated *punch) {
	union gid_wire_message answer;
	int error = shm_files_punch(&port->hub->windows, port->hub->base.gidd->runtime,
			port->domain, punch->offset, punch->size);
	if (error < 0) {
		log_line(log_domain(port->domain->number), LOG_LEVEL_WARNING,
				"hub: memory of domain %s is not emptied: %s", port->domain->name,
				strerror(-error));
	}
	gid_wire_begin(&answer, GID_WIRE_PUNCHED, 0);
	answer.allocated.offset = punch->offset;
	answer.allocated.size = punch->size;
	byte_stream_send(&port->stream, 0, 0, &answer);
	byte_stream_rest(&port->stream);
}

static void hub_punch(struct transport *transport, uint64_t place, uint64_t size) {
	struct hub *hub = (struct hub *)transport;
	struct gidd *gidd = hub->base.gidd;
	int error = shm_files_punch(&hub->windows, gidd->runtime, gidd->self, place, size);
	if (error < 0) {
		log_warning("memory is not emptied: %s", strerror(-error));
	}
	gidd->withdraw_events->punched(gidd, place, size);
}

/*
 * Tells a domain which domains read its windows: their first pages, which it may write, prove
 * nothing.
 */
static void send_windows(struct hub_port *port) {
	struct gidd *gidd = port->hub->base.gidd;
	const struct config_window *window, *last = NULL;
	union gid_wire_message message;
	port->sent_us = now_us(port->hub);
	shm_files_mark(&port->hub->windows, gidd->runtime, port->domain);
	TAILQ_FOREACH(window, &port->hub->windows, entry) {
		last = window->owner == port->domain && window->size > 0 ? window : last;
	}
	TAILQ_FOREACH(window, &port->hub->windows, entry) {
		if (window->owner != port->domain || window->size == 0) {
			continue;
		}
		gid_wire_begin(&message, GID_WIRE_OWN_WINDOW, 0);
		message.own_window.number = window->number;
		message.own_window.more = window != last;
		message.own_window.size = window->size;
		message.own_window.filled = window->made;
		memcpy(message.own_window.readers, window->readers.bits,
				sizeof(message.own_window.readers));
		if (port->self) {
			gidd->withdraw_events->own_window(gidd, &message.own_window);
		} else {
			byte_stream_send(&port->stream, 0, 0, &message);
		}
	}
}

static int handle_send_windows(sd_event_source *source, uint64_t now, void *data) {
	struct hub_port *port = data;
	if (port->joined) {
		send_windows(port);
	}
	return 0;
}

/* Now or after a delay: a guest that sends JOIN without end causes no more work than others. */
static void send_windows_soon(struct hub_port *port) {
	uint64_t due = port->sent_us + TELL_US;
	if (port->sent_us == 0 || now_us(port->hub) >= due) {
		send_windows(port);
		return;
	}
	sd_event_source_set_time(port->send_timer, due);
	sd_event_source_set_enabled(port->send_timer, SD_EVENT_ONESHOT);
}

/* Allocates the pages of windows for the remaining readers, before any program moves there. */
static void fill_spares(struct hub_port *port, const char *reader) {
	const struct config_domain *loser =
			config_domain_find(port->hub->base.gidd->config, reader);
	if (loser != NULL) {
		config_windows_fill_spares(&port->hub->windows, port->domain, loser);
		if (port->joined) {
			send_windows(port);
		}
	}
}

static struct hub_port *find_port(struct hub *hub, const struct config_domain *domain) {
	struct hub_port *port;
	TAILQ_FOREACH(port, &hub->ports, entry) {
		if (port->domain == domain) {
			break;
		}
	}
	return port;
}

static int hub_withdraw(struct transport *transport, const struct config_domain *owner,
		const struct gid_wire_withdraw *withdraw) {
	struct hub *hub = (struct hub *)transport;
	struct hub_port *port = find_port(hub, owner);
	union gid_wire_message message;
	if (port == NULL) {
		return -EXDEV;
	}
	fill_spares(port, withdraw->reader);
	if (port->self) {
		return 0;
	}
	if (!port->joined) {
		return -EHOSTDOWN;
	}
	gid_wire_begin(&message, GID_WIRE_WITHDRAW, 0);
	message.withdraw = *withdraw;
	message.withdraw.header.serial = 0;
	byte_stream_send(&port->stream, 0, 0, &message);
	return 0;
}

/* A new gidd of the domain does not know what was revoked from whom. */
static void send_withdrawals(struct hub_port *port) {
	const struct config_withdrawal *withdrawal;
	union gid_wire_message message;
	TAILQ_FOREACH(withdrawal, &port->hub->base.gidd->config->withdrawals, entry) {
		if (withdrawal->owner != port->domain || port->self) {
			continue;
		}
		gid_wire_begin(&message, GID_WIRE_WITHDRAW, 0);
		strcpy(message.withdraw.owner, withdrawal->owner->name);
		strcpy(message.withdraw.reader,
				withdrawal->reader == NULL ? "" : withdrawal->reader->name);
		strcpy(message.withdraw.name, withdrawal->streams);
		byte_stream_send(&port->stream, 0, 0, &message);
	}
}

static void hub_reload(struct transport *transport) {
	struct hub *hub = (struct hub *)transport;
	const struct gidd *gidd = hub->base.gidd;
	int error = shm_files_extend(&hub->windows, gidd->config, gidd->runtime);
	if (error < 0) {
		log_warning("hub: windows for the new configuration: %s", strerror(-error));
	}
	struct hub_port *port;
	TAILQ_FOREACH(port, &hub->ports, entry) {
		if (port->joined) {
			send_windows(port);
		}
	}
}

/* --- ports ------------------------------------------------------------------------------------ */

/* One socket each: the domain's QEMU connects to it, or the domain's gidd if it is no guest. */

static void handle_join(struct hub_port *port, const struct gid_wire_join *join) {
	bool again = port->joined && port->nonce == join->nonce;
	if (!again) {
		port_disconnect(port, "its gidd started again");
	}
	send_joined(port, join->nonce);
	if (again) {
		return;
	}
	if (join->version != GID_WIRE_VERSION) {
		log_line(log_domain(port->domain->number), LOG_LEVEL_WARNING,
				"hub: domain %s speaks version %u, this gidd %u",
				port->domain->name, join->version, GID_WIRE_VERSION);
		return;
	}
	port->stream.searching = false;
	port->nonce = join->nonce;
	port->pings = 0;
	send_windows_soon(port);
	send_withdrawals(port);
	port_join(port);
}

static void handle_envelope(void *data, const struct gid_wire_envelope *envelope,
		const union gid_wire_message *message) {
	struct hub_port *port = data;
	if (envelope->domain != 0) {
		route(port, envelope, message);
	} else if (message->header.type == GID_WIRE_JOIN) {
		handle_join(port, &message->join);
	} else if (message->header.type == GID_WIRE_PEER) {
		handle_peer(port, &message->peer);
	} else if (message->header.type == GID_WIRE_PUNCH && port->joined) {
		handle_punch(port, &message->allocated);
	}
}

static void handle_garbled(void *data, const char *why) {
	struct hub_port *port = data;
	char reason[192];
	snprintf(reason, sizeof(reason), "protocol violation: %s", why);
	if (port->joined) {
		port_note_fault(port, reason);
	}
	port_disconnect(port, reason);
	send_joined(port, 0);
}

/*
 * The sender believes that it has joined: its machine was restored, and has lost what it was told
 * since.
 */
static void handle_skipped(void *data) {
	struct hub_port *port = data;
	if (now_us(port->hub) >= port->told_us + TELL_US) {
		send_joined(port, 0);
	}
}

static void disconnect(struct hub_port *port, const char *why) {
	char reason[128];
	snprintf(reason, sizeof(reason), "%s", why);
	port->connected = false;
	byte_stream_finish(&port->stream);
	port_disconnect(port, reason);
}

static void handle_closed(void *data, const char *why) {
	disconnect(data, why);
}

static const struct byte_stream_handler handler = {
		.envelope = handle_envelope,
		.garbled = handle_garbled,
		.skipped = handle_skipped,
		.closed = handle_closed,
};

static void handle_connection(void *data, int fd) {
	struct hub_port *port = data;
	/* A machine has the socket to itself: a new connection replaces the old one. */
	if (port->connected) {
		disconnect(port, "another machine connected in its place");
	}
	if (byte_stream_init(&port->stream, port->hub->base.gidd->event, fd, &handler, port) == 0) {
		port->connected = true;
		/*
		 * A machine that starts reads the first pages of its windows before its gidd runs.
		 */
		shm_files_mark(&port->hub->windows, port->hub->base.gidd->runtime, port->domain);
		send_joined(port, 0);
	}
}

static int listen_for(struct hub_port *port) {
	struct listener_access access = {.mode = 0600, .group = -1};
	const struct gidd *gidd = port->hub->base.gidd;
	const char *name = port->domain->name;
	char folder[112], path[128], bus[128];
	int folder_size = snprintf(folder, sizeof(folder), "%s/hub", gidd->runtime);
	int size = snprintf(path, sizeof(path), "%s/%s.sock", folder, name);
	int bus_size = snprintf(bus, sizeof(bus), "%s/%s.bus", folder, name);
	if ((size_t)folder_size >= sizeof(folder) || (size_t)size >= sizeof(path) ||
			(size_t)bus_size >= sizeof(bus)) {
		return -ENAMETOOLONG;
	}
	int error = folder_make(folder, 0711);
	if (error < 0) {
		return error;
	}
	/* The machine runs as the domain's user. */
	error = listener_find_user(port->domain, &access.user);
	if (error < 0) {
		return error;
	}
	if (access.user == geteuid()) {
		access.user = -1;
	}
	error = listener_open(&port->listener, gidd->event, path, SOCK_STREAM, &access,
			handle_connection, port);
	if (error == 0 && port->domain->kind == KIND_GUEST) {
		error = hub_restore_open(&port->restore, gidd->event, bus, &access,
				log_domain(port->domain->number), set_back, port);
	}
	return error;
}

static int port_open(struct hub *hub, const struct config_domain *domain) {
	struct hub_port *port = calloc(1, sizeof(*port));
	if (port == NULL) {
		return -ENOMEM;
	}
	port->hub = hub;
	port->domain = domain;
	port->listener.fd = port->restore.listener.fd = -1;
	port->self = port->joined = domain == hub->base.gidd->self;
	TAILQ_INSERT_TAIL(&hub->ports, port, entry);
	int error = sd_event_add_time(hub->base.gidd->event, &port->send_timer, CLOCK_MONOTONIC, 0,
			TELL_US / 20, handle_send_windows, port);
	if (error < 0) {
		return error;
	}
	sd_event_source_set_enabled(port->send_timer, SD_EVENT_OFF);
	error = port->self ? 0 : listen_for(port);
	if (error < 0) {
		log_error("hub: no socket for domain %s in %s/hub: %s", domain->name,
				hub->base.gidd->runtime, strerror(-error));
	}
	return error < 0 ? error : 0;
}

static void port_close(struct hub_port *port) {
	listener_close(&port->listener);
	hub_restore_close(&port->restore);
	sd_event_source_disable_unref(port->send_timer);
	if (port->connected) {
		byte_stream_finish(&port->stream);
	}
	free(port);
}

/* --- life ------------------------------------------------------------------------------------- */

static int pair_create(struct hub *hub, struct hub_port *one, struct hub_port *other) {
	struct hub_pair *pair = calloc(1, sizeof(*pair));
	if (pair == NULL) {
		return -ENOMEM;
	}
	pair->hub = hub;
	pair->ends[0] = one;
	pair->ends[1] = other;
	pair->back_off_us = BACK_OFF_MIN_US;
	snprintf(pair->why, sizeof(pair->why), "not there yet");
	int error = sd_event_add_time_relative(hub->base.gidd->event, &pair->again, CLOCK_MONOTONIC,
			0, BACK_OFF_MIN_US / 20, handle_again, pair);
	if (error < 0) {
		free(pair);
		return error;
	}
	sd_event_source_set_enabled(pair->again, SD_EVENT_OFF);
	TAILQ_INSERT_TAIL(&hub->pairs, pair, entry);
	return 0;
}

static int make_pairs(struct hub *hub) {
	struct hub_port *one, *other;
	TAILQ_FOREACH(one, &hub->ports, entry) {
		for (other = TAILQ_NEXT(one, entry); other != NULL;
				other = TAILQ_NEXT(other, entry)) {
			int error = config_is_remote(hub->base.gidd->config, one->domain,
						    other->domain)
					? pair_create(hub, one, other)
					: 0;
			if (error < 0) {
				return error;
			}
		}
	}
	return 0;
}

static void hub_close(struct transport *transport) {
	struct hub *hub = (struct hub *)transport;
	struct hub_pair *pair;
	struct hub_port *port;
	while ((pair = TAILQ_FIRST(&hub->pairs)) != NULL) {
		TAILQ_REMOVE(&hub->pairs, pair, entry);
		sd_event_source_disable_unref(pair->again);
		free(pair);
	}
	while ((port = TAILQ_FIRST(&hub->ports)) != NULL) {
		TAILQ_REMOVE(&hub->ports, port, entry);
		port_close(port);
	}
	config_windows_finish(&hub->windows);
	free(hub);
}

static const struct transport_kind kind = {
		.send = hub_send,
		.part = hub_part,
		.punch = hub_punch,
		.withdraw = hub_withdraw,
		.reload = hub_reload,
		.close = hub_close,
};

const struct hub *hub_of(const struct transport *transport) {
	bool is_hub = transport != NULL && transport->kind == &kind;
	return is_hub ? (const struct hub *)transport : NULL;
}

int hub_open(struct gidd *gidd, const struct transport_events *events,
		struct transport **transport) {
	struct hub *hub = calloc(1, sizeof(*hub));
	if (hub == NULL) {
		return -ENOMEM;
	}
	hub->base = (struct transport){.kind = &kind, .events = events, .gidd = gidd};
	TAILQ_INIT(&hub->ports);
	TAILQ_INIT(&hub->pairs);
	config_windows_init(&hub->windows);
	int error = shm_files_plan(&hub->windows, gidd->config, gidd->runtime);
	if (error == 0) {
		error = shm_files_make(&hub->windows, gidd->config, gidd->runtime);
	}
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &gidd->config->domains, entry) {
		if (error == 0 && config_has_window(gidd->config, domain)) {
			error = port_open(hub, domain);
		}
	}
	struct hub_port *self = find_self(hub);
	if (error == 0 && self != NULL) {
		send_windows(self);
	}
	if (error == 0) {
		error = make_pairs(hub);
	}
	if (error < 0) {
		hub_close(&hub->base);
		return error;
	}
	*transport = &hub->base;
	return 0;
}
