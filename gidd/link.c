// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "confirm.h"
#include "link.h"
#include "log.h"
#include "subscription.h"
#include "window.h"

#define HELLO_PATIENCE_US (5 * UINT64_C(1000000))

/* --- kinds ------------------------------------------------------------------------------------ */

extern const struct link_kind *const __start_gidd_link_kinds[];
extern const struct link_kind *const __stop_gidd_link_kinds[];

const struct link_kind *link_kind_find(const char *name) {
	for (const struct link_kind *const *kind = __start_gidd_link_kinds;
		kind < __stop_gidd_link_kinds; kind++) {
		if (strcmp((*kind)->name, name) == 0) {
			return *kind;
		}
	}
	return NULL;
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

/* --- life ------------------------------------------------------------------------------------- */

static void send_message(struct peer *peer, const union gid_wire_message *message, const int *fds,
	uint32_t fd_count) {
	struct link *link = link_of(peer);
	if (link->state != LINK_DOWN) {
		link->kind->send(link, message, fds, fd_count);
	}
}

static void fail(struct peer *peer, const char *why) {
	struct link *link = link_of(peer);
	char reason[192];
	snprintf(reason, sizeof(reason), "protocol violation: %s", why);
	link_fault(link, reason);
}

static void note_fault(struct link *link, const char *why) {
	link->faults++;
	snprintf(link->fault, sizeof(link->fault), "%s", why);
}

void link_drop(struct link *link, const char *why) {
	link->kind->drop(link, false, why);
}

void link_fault(struct link *link, const char *why) {
	note_fault(link, why);
	link->kind->drop(link, true, why);
}

void link_note_fault(struct gidd *gidd, uint32_t domain, const char *why) {
	struct link *link = link_find(gidd, domain);
	if (link != NULL) {
		note_fault(link, why);
	}
}

static int handle_patience(sd_event_source *source, uint64_t now, void *data) {
	struct link *link = data;
	if (link->state == LINK_HELLO) {
		link_drop(link, "the other gidd does not greet");
	}
	return 0;
}

static int link_open(struct gidd *gidd, const struct config_domain *remote) {
	const struct config_link *config = config_link_find(gidd->config, gidd->self, remote);
	bool is_remote = config_is_remote(gidd->config, gidd->self, remote);
	const char *kind = config != NULL ? config->kind : is_remote ? "ivshmem" : "local";
	struct link *link = calloc(1, sizeof(*link));
	if (link == NULL) {
		return -ENOMEM;
	}
	peer_init(&link->peer, gidd, remote->number);
	snprintf(link->peer.label, sizeof(link->peer.label), "link to %s", remote->name);
	link->peer.send = send_message;
	link->peer.fail = fail;
	link->remote = remote;
	link->config = config;
	link->kind = link_kind_find(kind);
	link->clock_known = !link->kind->windows_only; /* one kernel has one clock */
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

int link_open_all(struct gidd *gidd) {
	const struct config_domain *remote;
	TAILQ_FOREACH(remote, &gidd->config->domains, entry) {
		if (!config_is_pair(gidd->config, gidd->self, remote) ||
			link_find(gidd, remote->number) != NULL) {
			continue;
		}
		int error = link_open(gidd, remote);
		if (error < 0) {
			return error;
		}
	}
	return 0;
}

void link_close_all(struct gidd *gidd) {
	struct link *link;
	while ((link = TAILQ_FIRST(&gidd->links)) != NULL) {
		link_fail_requests(link);
		subscription_link_down(gidd, &link->peer);
		slab_forget_importer(&link->peer);
		sd_event_source_disable_unref(link->patience);
		sd_event_source_disable_unref(link->confirm);
		link->kind->close(link);
		TAILQ_REMOVE(&gidd->links, link, entry);
		free(link);
	}
}

/* --- up and down ------------------------------------------------------------------------------ */

static void link_up(struct link *link) {
	link->state = LINK_UP;
	link->ups++;
	link->patience = sd_event_source_disable_unref(link->patience);
	log_info("%s: up", link->peer.label);
	window_find(
		link->peer.gidd, link->peer.domain); /* so that it is open when it is asked for */
	subscription_link_up(link->peer.gidd, &link->peer);
	if (!link->kind->windows_only) {
		confirm_link_up(link);
	}
}

void link_connected(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	link->state = LINK_HELLO;
	sd_event_add_time_relative(gidd->event, &link->patience, CLOCK_MONOTONIC, HELLO_PATIENCE_US,
		0, handle_patience, link);
	if (gidd->self->number > link->peer.domain) {
		union gid_wire_message hello;
		gid_wire_begin(&hello, GID_WIRE_HELLO, 0);
		hello.hello.version = GID_WIRE_VERSION;
		hello.hello.domain = gidd->self->number;
		snprintf(hello.hello.name, sizeof(hello.hello.name), "gidd");
		peer_send(&link->peer, &hello, NULL, 0);
	}
}

void link_lost(struct link *link, const char *why) {
	bool was_up = link->state == LINK_UP;
	link->state = LINK_DOWN;
	link->suspect.subscription = 0;
	link->patience = sd_event_source_disable_unref(link->patience);
	snprintf(link->why, sizeof(link->why), "%s", why);
	log_warning("%s: %s: %s", link->peer.label, was_up ? "lost" : "not up", why);
	link_fail_requests(link);
	subscription_link_down(link->peer.gidd, &link->peer);
	if (link->kind->windows_only) {
		/* Its machine died, or began anew: what it has in memory now may be anything. */
		slab_lose_domain(link->peer.gidd, link->peer.domain);
		slab_forget_importer(&link->peer);
		window_forget(link->peer.gidd, link->peer.domain);
	} else {
		confirm_link_lost(link);
	}
}

/* --- messages --------------------------------------------------------------------------------- */

static void greet(struct link *link, const union gid_wire_message *message) {
	struct gidd *gidd = link->peer.gidd;
	bool listens = gidd->self->number < link->peer.domain;
	uint32_t version, domain;
	if (listens && message->header.type == GID_WIRE_HELLO) {
		version = message->hello.version;
		domain = message->hello.domain;
	} else if (!listens && message->header.type == GID_WIRE_WELCOME) {
		version = message->welcome.version;
		domain = message->welcome.domain;
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
		snprintf(
			welcome.welcome.name, sizeof(welcome.welcome.name), "%s", gidd->self->name);
		peer_send(&link->peer, &welcome, NULL, 0);
	}
	link_up(link);
}

static void handle_import(struct link *link, const struct gid_wire_import *request) {
	if (gid_domain_of(request->gid) != link->peer.gidd->self->number) {
		slab_refuse(&link->peer, request->header.serial);
		return;
	}
	slab_import(&link->peer, request);
}

void link_message(struct link *link, const union gid_wire_message *message,
	int fds[static GID_WIRE_FDS_MAX]) {
	if (link->state != LINK_UP) {
		greet(link, message);
		return;
	}
	switch ((enum gid_wire_type)message->header.type) {
	case GID_WIRE_RESULT:
	case GID_WIRE_IMPORTED:
		link_answer(link, message, fds);
		break;
	case GID_WIRE_IMPORT:
		handle_import(link, &message->import);
		break;
	case GID_WIRE_REVOKED:
		slab_revoked(&link->peer, &message->revoked);
		break;
	case GID_WIRE_SUBSCRIBE:
		subscription_request(&link->peer, &message->subscribe, fds);
		break;
	case GID_WIRE_ACCEPT:
		subscription_accept(&link->peer, &message->subscribed, &fds[0]);
		break;
	case GID_WIRE_SUBSCRIPTION_END:
		suspect_ended(link, message->subscription_end.subscription);
		subscription_ended(&link->peer, &message->subscription_end);
		break;
	default:
		peer_violation(&link->peer, "a message that no gidd sends");
		break;
	}
}
