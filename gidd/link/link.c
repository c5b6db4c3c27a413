// SPDX-License-Identifier: MIT
#include "link.h"

#include <errno.h>
#include <gid/gid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "seal.h"
#include "shm_window.h"

#define GREETING_MAX_US (5 * UINT64_C(1000000)) /* where the kind does not set another limit */
/* Half of it is more than the honest clients of a domain need together. */
#define REQUESTS_MAX 8192u
/* The rest waits: connections have little room for answers, which carry descriptors. */
#define ON_THE_WAY_MAX 64u
#define ANSWER_PATIENCE_US (20 * UINT64_C(1000000))
#define SUSPICION_ROUNDS_MAX 10u /* as many as a link gets that is silent */

/* --- kinds ------------------------------------------------------------------------------------ */

extern const struct link_kind *const __start_gidd_link_kinds[];
extern const struct link_kind *const __stop_gidd_link_kinds[];

static const struct link_kind *find_kind(const char *name) {
	for (const struct link_kind *const *kind = __start_gidd_link_kinds;
			kind < __stop_gidd_link_kinds; kind++) {
		if (strcmp((*kind)->name, name) == 0) {
			return *kind;
		}
	}
	return NULL;
}

const struct config_link_keys *link_kind_keys(const char *name) {
	const struct link_kind *kind = find_kind(name);
	return kind != NULL ? &kind->keys : NULL;
}

struct link *link_find(struct gidd *gidd, uint32_t domain) {
	struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		if (link->peer.domain == domain) {
			return link;
		}
	}
	return NULL;
}

/* --- faults ----------------------------------------------------------------------------------- */

void link_note_fault(struct link *link, const char *why) {
	link->faults++;
	snprintf(link->fault, sizeof(link->fault), "%s", why);
}

void link_drop(struct link *link, const char *why) {
	link->kind->drop(link, false, why);
}

void link_fault(struct link *link, const char *why) {
	link_note_fault(link, why);
	link->kind->drop(link, true, why);
}

/* --- requests --------------------------------------------------------------------------------- */

/* A request to the other gidd, sent or waiting, and not answered yet. */
struct link_request {
	TAILQ_ENTRY(link_request) entry;
	uint32_t serial;
	bool is_sent;
	uint64_t waited_us;	/* since it was sent */
	link_answered answered; /* NULL: its answer is ignored */
	void *data;
	uint32_t size; /* of `message`, if it has to wait */
	char message[];
};

static struct link_request *find_request(struct link *link, uint32_t serial) {
	struct link_request *request;
	TAILQ_FOREACH(request, &link->requests, entry) {
		if (request->serial == serial) {
			break;
		}
	}
	return request;
}

/* Never 0, and not the serial of an open request. */
static uint32_t new_serial(struct link *link) {
	do {
		link->serial = link->serial % UINT32_MAX + 1;
	} while (find_request(link, link->serial) != NULL);
	return link->serial;
}

static void send_request(struct link *link, struct link_request *request,
		const union gid_wire_message *message, const int *fds, uint32_t fd_count) {
	request->is_sent = true;
	link->on_the_way++;
	peer_send(&link->peer, message, fds, fd_count);
}

int link_request(struct link *link, union gid_wire_message *message, const int *fds,
		uint32_t fd_count, link_answered answered, void *data) {
	if (link->state != LINK_UP) {
		return -ENOTCONN;
	}
	const bool waits = link->on_the_way >= ON_THE_WAY_MAX;
	if (link->request_count >= REQUESTS_MAX || (waits && fd_count > 0)) {
		return -EAGAIN;
	}
	const uint32_t size = waits ? message->header.size : 0;
	struct link_request *request = calloc(1, sizeof(*request) + size);
	if (request == NULL) {
		return -ENOMEM;
	}
	request->serial = message->header.serial = new_serial(link);
	request->answered = answered;
	request->data = data;
	request->size = size;
	memcpy(request->message, message, size);
	TAILQ_INSERT_TAIL(&link->requests, request, entry);
	link->request_count++;
	if (!waits) {
		send_request(link, request, message, fds, fd_count);
	} else if (link->unsent == NULL) {
		link->unsent = request;
	}
	return 0;
}

bool link_has_room(const struct link *link) {
	return link->request_count < REQUESTS_MAX / 2;
}

bool link_is_busy(const struct link *link) {
	bool has_queue = link->kind->has_queue != NULL && link->kind->has_queue(link);
	return has_queue || link->on_the_way >= ON_THE_WAY_MAX;
}

void link_cancel(struct gidd *gidd, const void *data) {
	struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		struct link_request *request;
		TAILQ_FOREACH(request, &link->requests, entry) {
			if (request->data == data) {
				request->answered = NULL;
			}
		}
	}
}

static void request_destroy(struct link *link, struct link_request *request) {
	if (link->unsent == request) {
		link->unsent = TAILQ_NEXT(request, entry);
	}
	TAILQ_REMOVE(&link->requests, request, entry);
	link->request_count--;
	link->on_the_way -= request->is_sent;
	free(request);
}

/* Sends waiting requests. */
static void send_next(struct link *link) {
	struct link_request *request;
	while ((request = link->unsent) != NULL && link->on_the_way < ON_THE_WAY_MAX) {
		union gid_wire_message message;
		if (request->answered == NULL) {
			request_destroy(link, request);
			continue;
		}
		link->unsent = TAILQ_NEXT(request, entry);
		memcpy(&message, request->message, request->size);
		send_request(link, request, &message, NULL, 0);
	}
}

static void handle_answer(struct link *link, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX]) {
	struct link_request *request = find_request(link, answer->header.serial);
	if (request == NULL || !request->is_sent) {
		peer_violation(&link->peer, "it answers what it was not asked");
		return;
	}
	const char *why = request->answered == NULL
			? NULL
			: request->answered(link, answer, fds, request->data);
	if (why != NULL) {
		/* The request stays: its callback is called when the link is lost. */
		peer_violation(&link->peer, why);
		return;
	}
	request_destroy(link, request);
	send_next(link);
}

void link_tick(struct link *link, uint64_t passed_us) {
	struct link_request *request;
	bool late = false;
	if (link->state == LINK_HELLO) {
		link->greeting_us += passed_us;
		if (link->greeting_us >= link->greeting_max_us) {
			link_drop(link, "the other gidd sends no greeting");
		}
	}
	TAILQ_FOREACH(request, &link->requests, entry) {
		request->waited_us += request->is_sent ? passed_us : 0;
		late |= request->waited_us > ANSWER_PATIENCE_US;
	}
	if (late) {
		link_drop(link, "it does not answer what it was asked");
	}
}

static void fail_requests(struct link *link) {
	struct link_request *request;
	int none[GID_WIRE_FDS_MAX] = {-1, -1};
	while ((request = TAILQ_FIRST(&link->requests)) != NULL) {
		if (request->answered != NULL) {
			request->answered(link, NULL, none, request->data);
		}
		request_destroy(link, request);
	}
}

/* --- suspicions ------------------------------------------------------------------------------- */

bool link_can_suspect(const struct link *link) {
	return link->kind->windows_only && link->state == LINK_UP && link->suspicion.number == 0;
}

void link_suspect(struct link *link, uint32_t number, const char *why, const char *stream) {
	struct link_suspicion *suspicion = &link->suspicion;
	*suspicion = (struct link_suspicion){.number = number, .since = gid_clock_now()};
	snprintf(suspicion->why, sizeof(suspicion->why), "%s", why);
	snprintf(suspicion->stream, sizeof(suspicion->stream), "%s", stream);
}

static void link_convict(struct link *link) {
	log_error("%s: %s: it is stream %s", link->peer.label, link->suspicion.why,
			link->suspicion.stream);
	link->suspicion.number = 0;
	link_fault(link, link->suspicion.why);
}

void link_acquit(struct link *link, uint32_t number) {
	if (link->suspicion.number == number) {
		link->suspicion.number = 0;
	}
}

void link_inspect(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	const char *why = link->state == LINK_UP ? shm_window_judge(gidd, link->peer.domain) : NULL;
	if (link->suspicion.number != 0 && ++link->suspicion.rounds > SUSPICION_ROUNDS_MAX) {
		link_convict(link);
	} else if (why != NULL) {
		link_fault(link, why);
	} else {
		link->events->inspect(link);
	}
}

void link_pong(struct link *link, uint64_t ping_time) {
	if (link->suspicion.number != 0 && ping_time >= link->suspicion.since) {
		link_convict(link);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

static void send_message(struct peer *peer, const union gid_wire_message *message, const int *fds,
		uint32_t fd_count) {
	struct link *link = link_of(peer);
	if (link->state != LINK_DOWN) {
		link->kind->send(link, message, fds, fd_count);
	}
}

static void fail(struct peer *peer, const char *why) {
	char reason[192];
	snprintf(reason, sizeof(reason), "protocol violation: %s", why);
	link_fault(link_of(peer), reason);
}

static int link_open(struct gidd *gidd, const struct config_domain *remote,
		const struct link_events *events) {
	const struct config_link *config = config_link_find(gidd->config, gidd->self, remote);
	bool is_remote = config_is_remote(gidd->config, gidd->self, remote);
	const char *kind = config != NULL ? config->kind : is_remote ? "ivshmem" : "local";
	struct link *link = calloc(1, sizeof(*link));
	if (link == NULL) {
		return -ENOMEM;
	}
	peer_init(&link->peer, gidd, gidd->config, remote->number);
	snprintf(link->peer.label, sizeof(link->peer.label), "link to %s", remote->name);
	link->peer.send = send_message;
	link->peer.fail = fail;
	link->remote = remote;
	link->config = config;
	link->events = events;
	link->kind = find_kind(kind);
	link->clock_known = !link->kind->windows_only; /* one kernel has one clock */
	link->greeting_max_us = GREETING_MAX_US;
	TAILQ_INIT(&link->requests);
	snprintf(link->why, sizeof(link->why), "not reached yet");
	int error = link->kind->open(link);
	if (error < 0) {
		log_error("%s: cannot be opened: %s", link->peer.label, strerror(-error));
		free(link);
		return error;
	}
	TAILQ_INSERT_TAIL(&gidd->links, link, entry);
	return 0;
}

int link_open_all(struct gidd *gidd, const struct link_events *events) {
	const struct config_domain *remote;
	int first = 0;
	TAILQ_FOREACH(remote, &gidd->config->domains, entry) {
		if (config_is_pair(gidd->config, gidd->self, remote) &&
				link_find(gidd, remote->number) == NULL) {
			int error = link_open(gidd, remote, events);
			first = first == 0 ? error : first;
		}
	}
	return first;
}

void link_close_all(struct gidd *gidd) {
	struct link *link;
	while ((link = TAILQ_FIRST(&gidd->links)) != NULL) {
		link->state = LINK_DOWN;
		fail_requests(link);
		link->events->lost(link);
		link->kind->close(link);
		TAILQ_REMOVE(&gidd->links, link, entry);
		free(link);
	}
}

bool link_can_carry(struct peer *peer, int fd, uint64_t window_offset) {
	if (peer->client != NULL || !link_of(peer)->kind->windows_only) {
		return true;
	}
	const struct shm_window *window = window_offset == 0
			? NULL
			: shm_window_of(peer->gidd, peer->gidd->self->number, fd);
	return window != NULL && domain_set_has(&window->readers, peer->domain);
}

/* --- states ----------------------------------------------------------------------------------- */

static void link_up(struct link *link) {
	link->state = LINK_UP;
	link->ups++;
	peer_log(&link->peer, LOG_LEVEL_INFO, "up");
	/* Opens the windows in advance. */
	shm_window_open_all(link->peer.gidd, link->peer.domain);
	link->events->up(link);
}

void link_connected(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	link->state = LINK_HELLO;
	link->greeting_us = 0;
	if (seal_is_on(gidd)) {
		link->kind->drop(link, false, gidd->seal.text);
		return;
	}
	if (gidd->self->number > link->peer.domain) {
		union gid_wire_message hello;
		gid_wire_begin(&hello, GID_WIRE_HELLO, 0);
		hello.hello.version = GID_WIRE_VERSION;
		hello.hello.domain = gidd->self->number;
		snprintf(hello.hello.name, sizeof(hello.hello.name), GID_WIRE_NAME_TAKES_OFFERS);
		peer_send(&link->peer, &hello, NULL, 0);
	}
}

void link_lost(struct link *link, const char *why) {
	bool was_up = link->state == LINK_UP;
	link->state = LINK_DOWN;
	link->suspicion.number = 0;
	snprintf(link->why, sizeof(link->why), "%s", why);
	peer_log(&link->peer, LOG_LEVEL_WARNING, "%s: %s", was_up ? "lost" : "not up", why);
	fail_requests(link);
	link->events->lost(link);
	if (link->kind->windows_only) {
		/* Its machine died or restarted: the contents of its memory are no longer known. */
		shm_window_forget(link->peer.gidd, link->peer.domain);
	}
}

/* --- messages --------------------------------------------------------------------------------- */

static void greet(struct link *link, const union gid_wire_message *message) {
	struct gidd *gidd = link->peer.gidd;
	bool listens = gidd->self->number < link->peer.domain;
	uint32_t version, domain;
	if (seal_is_on(gidd)) { /* gidd was sealed after it connected, or its drop is pending */
		link_drop(link, gidd->seal.text);
		return;
	}
	if (listens && message->header.type == GID_WIRE_HELLO) {
		version = message->hello.version;
		domain = message->hello.domain;
		link->takes_offers = strcmp(message->hello.name, GID_WIRE_NAME_TAKES_OFFERS) == 0;
	} else if (!listens && message->header.type == GID_WIRE_WELCOME) {
		version = message->welcome.version;
		domain = message->welcome.domain;
		link->takes_offers = message->welcome.window == GID_WIRE_TAKES_OFFERS;
	} else {
		peer_violation(&link->peer, "it does not begin with a greeting");
		return;
	}
	if (version != GID_WIRE_VERSION) {
		char why[96];
		snprintf(why, sizeof(why), "it speaks version %u, this gidd %u", version,
				GID_WIRE_VERSION);
		link_drop(link, why);
		return;
	}
	if (domain != link->peer.domain) {
		peer_violation(&link->peer, "it says that it is another domain");
		return;
	}
	if (listens) {
		union gid_wire_message welcome;
		gid_wire_begin(&welcome, GID_WIRE_WELCOME, message->header.serial);
		welcome.welcome.version = GID_WIRE_VERSION;
		welcome.welcome.domain = gidd->self->number;
		welcome.welcome.window = GID_WIRE_TAKES_OFFERS;
		snprintf(welcome.welcome.name, sizeof(welcome.welcome.name), "%s",
				gidd->self->name);
		peer_send(&link->peer, &welcome, NULL, 0);
	}
	link_up(link);
}

void link_message(struct link *link, const union gid_wire_message *message,
		int fds[static GID_WIRE_FDS_MAX]) {
	uint32_t type = message->header.type;
	if (link->state != LINK_UP) {
		greet(link, message);
	} else if (type == GID_WIRE_RESULT || type == GID_WIRE_IMPORTED) {
		handle_answer(link, message, fds);
	} else {
		link->events->message(link, message, fds);
	}
}
