// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "confirm.h"
#include "descriptor.h"
#include "link.h"
#include "log.h"
#include "subscription.h"
#include "window.h"

/* Of one client. It waits for each of its own, or asks for a few slabs at once. */
#define REQUESTS_MAX 64u

/* Something that the other gidd was asked and has not answered yet. */
struct link_request {
	TAILQ_ENTRY(link_request) entry;
	uint32_t serial; /* on the link */
	enum { REQUEST_IMPORT, REQUEST_CONFIRM, REQUEST_SUBSCRIBE } kind;
	/* IMPORT, CONFIRM: */
	struct peer *client; /* NULL: gone since */
	uint32_t client_serial;
	gid_id gid;
	/* SUBSCRIBE: our number, 0: gone since */
	uint32_t subscription;
};

static struct link_request *request_create(struct link *link, union gid_wire_message *message) {
	struct link_request *request = calloc(1, sizeof(*request));
	if (request == NULL) {
		return NULL;
	}
	request->serial = ++link->serial;
	message->header.serial = request->serial;
	TAILQ_INSERT_TAIL(&link->requests, request, entry);
	return request;
}

static void request_destroy(struct link *link, struct link_request *request) {
	TAILQ_REMOVE(&link->requests, request, entry);
	free(request);
}

static struct link_request *find(struct link *link, uint32_t serial) {
	struct link_request *request;
	TAILQ_FOREACH(request, &link->requests, entry) {
		if (request->serial == serial) {
			return request;
		}
	}
	return NULL;
}

static uint32_t count_of(const struct link *link, const struct peer *client) {
	const struct link_request *request;
	uint32_t count = 0;
	TAILQ_FOREACH(request, &link->requests, entry) {
		count += request->client == client;
	}
	return count;
}

static void refuse_import(struct link *link, struct peer *client, uint32_t serial) {
	peer_result(client, serial, -ENOTCONN, 0,
		"the link to domain %s is down: is its gidd running?", link->remote->name);
}

void link_import(struct link *link, struct peer *client, const struct gid_wire_import *asked) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_IMPORT, 0);
	message.import.gid = asked->gid;
	if (link->state != LINK_UP) {
		refuse_import(link, client, asked->header.serial);
		return;
	}
	struct link_request *request = NULL;
	if (count_of(link, client) < REQUESTS_MAX) {
		request = request_create(link, &message);
	}
	if (request == NULL) {
		peer_result(client, asked->header.serial, -EAGAIN, 0,
			"domain %s has not answered what was asked before", link->remote->name);
		return;
	}
	request->kind = REQUEST_IMPORT;
	request->client = client;
	request->client_serial = asked->header.serial;
	request->gid = asked->gid;
	peer_send(&link->peer, &message, NULL, 0);
}

void link_confirm(struct link *link, gid_id gid) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_IMPORT, 0);
	message.import.gid = gid;
	struct link_request *request = request_create(link, &message);
	if (request == NULL) {
		link_drop(link, "gidd is out of memory");
		return;
	}
	request->kind = REQUEST_CONFIRM;
	request->gid = gid;
	peer_send(&link->peer, &message, NULL, 0);
}

void link_subscribe(struct link *link, struct subscription *subscription) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBE, 0);
	bool lower = link->peer.gidd->self->number < link->peer.domain;
	message.subscribe.subscription = subscription->number | (lower ? GID_WIRE_LOWER_SIDE : 0);
	message.subscribe.domain = subscription->domain;
	message.subscribe.credit = subscription->credit;
	message.subscribe.flags = subscription->flags;
	message.subscribe.window_offset = subscription->window_offset;
	strcpy(message.subscribe.name, subscription->name);
	struct link_request *request = request_create(link, &message);
	if (request == NULL) {
		link_drop(link, "gidd is out of memory");
		return;
	}
	request->kind = REQUEST_SUBSCRIBE;
	request->subscription = subscription->number;
	peer_send(&link->peer, &message, subscription->fds, 2);
}

/* What is wrong with the answer to an import, or NULL. */
static const char *check_imported(struct gidd *gidd, const struct link_request *request,
	const struct gid_wire_imported *answer, int fd) {
	uint64_t bytes;
	const char *why = NULL;
	gid_id gid = gid_make(answer->domain, answer->slab, 0, 0);
	if (request->kind == REQUEST_SUBSCRIBE || gid_slab_key(gid) != gid_slab_key(request->gid)) {
		return "it answers with another slab than it was asked for";
	}
	if (answer->memory == GID_MEMORY_WINDOW) {
		window_check_read(gidd, answer->domain, fd, answer->offset,
			descriptor_slab_end(answer) - answer->offset, &why);
	} else {
		descriptor_check_slab(fd, answer, &bytes, &why);
	}
	return why;
}

static const char *pass_on_imported(struct link *link, const struct link_request *request,
	const struct gid_wire_imported *answer, int fd) {
	const char *why = check_imported(link->peer.gidd, request, answer, fd);
	if (why != NULL) {
		return why;
	}
	if (request->kind == REQUEST_CONFIRM) {
		confirm_answer(link->peer.gidd, request->gid, descriptor_inode(fd), answer->offset);
	} else if (request->client != NULL) {
		slab_imported(request->client, request->client_serial, answer, fd);
	}
	return NULL;
}

static const char *pass_on_result(struct link *link, const struct link_request *request,
	const struct gid_wire_result *result) {
	if (request->kind == REQUEST_SUBSCRIBE) {
		if (request->subscription != 0) {
			subscription_result(
				link->peer.gidd, &link->peer, request->subscription, result);
		}
	} else if (result->error == 0) {
		return "it answers an import with nothing";
	} else if (request->kind == REQUEST_CONFIRM) {
		confirm_answer(link->peer.gidd, request->gid, 0, 0);
	} else if (request->client != NULL) {
		slab_refuse(request->client, request->client_serial);
	}
	return NULL;
}

void link_answer(
	struct link *link, const union gid_wire_message *answer, int fds[static GID_WIRE_FDS_MAX]) {
	struct link_request *request = find(link, answer->header.serial);
	if (request == NULL) {
		peer_violation(&link->peer, "it answers what it was not asked");
		return;
	}
	const char *why = answer->header.type == GID_WIRE_IMPORTED
		? pass_on_imported(link, request, &answer->imported, fds[0])
		: pass_on_result(link, request, &answer->result);
	if (why != NULL) {
		/* The request stays: whoever waits for it hears when the link is lost. */
		peer_violation(&link->peer, why);
		return;
	}
	request_destroy(link, request);
}

void link_fail_requests(struct link *link) {
	struct link_request *request;
	while ((request = TAILQ_FIRST(&link->requests)) != NULL) {
		if (request->kind == REQUEST_IMPORT && request->client != NULL) {
			refuse_import(link, request->client, request->client_serial);
		}
		request_destroy(link, request);
	}
}

void link_forget(struct gidd *gidd, const struct peer *client) {
	struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		struct link_request *request;
		TAILQ_FOREACH(request, &link->requests, entry) {
			if (request->client == client) {
				request->client = NULL;
			}
		}
	}
}

void link_forget_subscription(struct gidd *gidd, const struct subscription *subscription) {
	struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		struct link_request *request;
		TAILQ_FOREACH(request, &link->requests, entry) {
			if (request->subscription == subscription->number) {
				request->subscription = 0;
			}
		}
	}
}
