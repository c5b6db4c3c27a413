// SPDX-License-Identifier: MIT
/* Slabs of other domains. Their gidds are asked for them, and asked again after a link was lost. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "descriptor.h"
#include "link.h"
#include "log.h"
#include "shm_window.h"
#include "slabs.h"

/* Open requests of one client for slabs of other domains. Our clients have a few at a time. */
#define REQUESTS_MAX 64u
/* The time that clients of a restarted gidd may take to register again. */
#define REVALIDATE_AFTER_US (UINT64_C(5) * 1000 * 1000)

static bool is_of(const struct slab *slab, uint32_t domain) {
	return slab->owner == NULL && gid_domain_of(slab_gid(slab)) == domain;
}

/*
 * Whether the other domain's memory in use here, with `bytes` more, is within its memory= and
 * slabs=. Its own gidd enforces these limits, but that gidd may be compromised, and what is mapped
 * here costs us. An unconfirmed slab may be gone already: it counts half.
 */
static bool is_within_limits(struct gidd *gidd, const struct config_domain *owner,
		const struct slab *old, uint64_t bytes) {
	uint64_t most_bytes = owner->quota[QUOTA_MEMORY], most_slabs = owner->quota[QUOTA_SLABS];
	uint64_t all_bytes = bytes, all_slabs = 1, sure_bytes = bytes, sure_slabs = 1;
	const struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (!is_of(slab, owner->number) || slab == old) {
			continue;
		}
		all_slabs++;
		sure_slabs += !slab->unconfirmed;
		if (__builtin_add_overflow(all_bytes, slab->bytes, &all_bytes) ||
				__builtin_add_overflow(sure_bytes,
						slab->unconfirmed ? 0 : slab->bytes, &sure_bytes)) {
			return false;
		}
	}
	return sure_bytes <= most_bytes && sure_slabs <= most_slabs &&
			all_bytes / 2 <= most_bytes && all_slabs / 2 <= most_slabs;
}

static void refuse_over_limits(
		struct peer *peer, uint32_t serial, const struct config_domain *owner) {
	char why[192];
	snprintf(why, sizeof(why),
			"domain %s shares more than memory=%llu and slabs=%llu of it allow: its "
			"gidd has another configuration, or was taken over",
			owner->name, (unsigned long long)owner->quota[QUOTA_MEMORY],
			(unsigned long long)owner->quota[QUOTA_SLABS]);
	peer_log(peer, LOG_LEVEL_WARNING, "import refused: %s", why);
	peer_result(peer, serial, -EDQUOT, 0, "%s", why);
}

/* Gives the slab of another domain to the client that asked for it. */
static void pass_on(struct peer *peer, uint32_t serial, const struct gid_wire_imported *answer,
		int fd, uint64_t bytes) {
	struct gidd *gidd = peer->gidd;
	const struct config_domain *owner = config_domain_by_number(gidd->config, answer->domain);
	gid_id gid = gid_make(answer->domain, answer->slab, 0, 0);
	struct slab *slab = slab_find(gidd, gid_slab_key(gid));
	uint64_t inode = descriptor_inode(fd);
	bool same = slab != NULL && slab->inode == inode &&
			slab->description.imported.offset == answer->offset;
	if (!is_within_limits(gidd, owner, slab, bytes)) {
		refuse_over_limits(peer, serial, owner);
		return;
	}
	if (slab != NULL && slab->owner == NULL && !same) {
		slab_destroy(gidd, slab); /* the number names other memory now */
		slab = NULL;
	}
	if (slab == NULL) {
		slab = slab_create(gidd, answer);
	}
	if (slab == NULL || slab->owner != NULL || slab_add_import(slab, peer) < 0) {
		slab_refuse(peer, serial);
		return;
	}
	slab->description.imported = *answer;
	slab->bytes = bytes;
	slab->inode = inode;
	slab->unconfirmed = false;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_IMPORTED, serial);
	message.imported = *answer;
	message.header.serial = serial;
	peer_send(peer, &message, &fd, 1);
}

/* Answers come in order: after the last one no slab is unconfirmed. */
static void log_revalidated(const struct gidd *gidd, uint32_t domain) {
	const struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (slab->unconfirmed && gid_domain_of(slab_gid(slab)) == domain) {
			return;
		}
	}
	log_line(log_domain(domain), LOG_LEVEL_INFO, "domain %u: slabs revalidated", domain);
}

/*
 * What the other domain answered: the slab's memory by inode and offset; 0: there is no such slab.
 */
static void revalidate(struct gidd *gidd, gid_id gid, uint64_t inode, uint64_t offset) {
	struct slab *slab = slab_find(gidd, gid_slab_key(gid));
	if (slab != NULL && slab->owner == NULL) {
		if (inode != 0 && inode == slab->inode &&
				offset == slab->description.imported.offset) {
			slab->unconfirmed = false;
		} else {
			slab_destroy(gidd, slab);
		}
	}
	log_revalidated(gidd, gid_domain_of(gid));
}

/* A request to another domain's gidd for one of its slabs, not answered yet. */
struct slab_request {
	TAILQ_ENTRY(slab_request) entry;
	struct peer *peer; /* who asked; NULL: gidd asks whether the slab still exists */
	uint32_t serial;   /* of the peer's request */
	gid_id gid;
};

static void request_destroy(struct gidd *gidd, struct slab_request *request) {
	TAILQ_REMOVE(&gidd->slab_requests, request, entry);
	free(request);
}

static uint32_t count_requests(const struct gidd *gidd, const struct peer *peer) {
	const struct slab_request *request;
	uint32_t count = 0;
	TAILQ_FOREACH(request, &gidd->slab_requests, entry) {
		count += request->peer == peer;
	}
	return count;
}

/* What is wrong with the answer, or NULL. `*bytes` is set to the size of its memory. */
static const char *check_answer(struct gidd *gidd, const struct slab_request *request,
		const struct gid_wire_imported *answer, int *fd, uint64_t *bytes) {
	const char *why = NULL;
	gid_id gid = gid_make(answer->domain, answer->slab, 0, 0);
	if (gid_slab_key(gid) != gid_slab_key(request->gid)) {
		return "it answers with another slab than it was asked for";
	}
	if (answer->memory == GID_MEMORY_WINDOW) {
		*bytes = descriptor_slab_end(answer) - answer->offset;
		shm_window_check_read(gidd, answer->domain, *fd, answer->offset, *bytes, &why);
	} else {
		descriptor_take_slab(fd, answer, bytes, &why);
	}
	return why;
}

static void refuse_down(struct peer *peer, uint32_t serial, const struct link *link) {
	peer_result(peer, serial, -ENOTCONN, 0,
			"the link to domain %s is down: is its gidd running?", link->remote->name);
}

static const char *handle_answer(struct link *link, const union gid_wire_message *answer,
		int fds[static GID_WIRE_FDS_MAX], void *data) {
	struct gidd *gidd = link->peer.gidd;
	struct slab_request *request = data;
	bool imported = answer != NULL && answer->header.type == GID_WIRE_IMPORTED;
	uint64_t bytes = 0;
	const char *why = imported ? check_answer(gidd, request, &answer->imported, &fds[0], &bytes)
				   : NULL;
	if (answer != NULL && !imported && answer->result.error == 0) {
		why = "its answer to an import has no slab";
	}
	if (why != NULL) {
		return why;
	}
	struct peer *peer = request->peer;
	if (answer == NULL && peer != NULL) {
		refuse_down(peer, request->serial, link);
	} else if (imported && peer != NULL) {
		pass_on(peer, request->serial, &answer->imported, fds[0], bytes);
	} else if (peer != NULL) {
		slab_refuse(peer, request->serial);
	} else if (imported) {
		revalidate(gidd, request->gid, descriptor_inode(fds[0]), answer->imported.offset);
	} else if (answer != NULL) {
		revalidate(gidd, request->gid, 0, 0);
	}
	request_destroy(gidd, request);
	return NULL;
}

static int ask(struct link *link, struct peer *peer, uint32_t serial, gid_id gid) {
	struct gidd *gidd = link->peer.gidd;
	union gid_wire_message message;
	struct slab_request *request = calloc(1, sizeof(*request));
	if (request == NULL) {
		return -ENOMEM;
	}
	*request = (struct slab_request){.peer = peer, .serial = serial, .gid = gid};
	TAILQ_INSERT_TAIL(&gidd->slab_requests, request, entry);
	gid_wire_begin(&message, GID_WIRE_IMPORT, 0);
	message.import.gid = gid;
	int error = link_request(link, &message, NULL, 0, handle_answer, request);
	if (error < 0) {
		request_destroy(gidd, request);
	}
	return error;
}

void slab_import_foreign(struct peer *peer, const struct gid_wire_import *request) {
	struct gidd *gidd = peer->gidd;
	struct link *link = link_find(gidd, gid_domain_of(request->gid));
	uint32_t serial = request->header.serial;
	if (link == NULL || !client_may_import(peer->client)) {
		slab_refuse(peer, serial);
		return;
	}
	int error = count_requests(gidd, peer) >= REQUESTS_MAX || !link_has_room(link)
			? -EAGAIN
			: ask(link, peer, serial, request->gid);
	if (error == -ENOTCONN) {
		refuse_down(peer, serial, link);
	} else if (error < 0) {
		peer_result(peer, serial, -EAGAIN, 0,
				"domain %s has not answered what was asked before",
				link->remote->name);
	}
}

void slab_revoked(struct peer *link, const struct gid_wire_revoked *revoked) {
	if (gid_domain_of(revoked->gid) != link->domain) {
		peer_violation(link, "it revokes a slab that is not its own");
		return;
	}
	struct slab *slab = slab_find(link->gidd, gid_slab_key(revoked->gid));
	if (slab != NULL) {
		slab_destroy(link->gidd, slab);
	}
}

void slab_destroy_of_domain(struct gidd *gidd, uint32_t domain) {
	struct slab *slab, *next;
	for (slab = TAILQ_FIRST(&gidd->slabs); slab != NULL; slab = next) {
		next = TAILQ_NEXT(slab, entry);
		if (slab->owner == NULL && gid_domain_of(slab_gid(slab)) == domain) {
			slab_destroy(gidd, slab);
		}
	}
}

/*
 * Whether its gidd has yet to answer a request for the slab: it must not be told that nobody here
 * has it.
 */
static bool is_asked_for(const struct gidd *gidd, gid_id gid) {
	const struct slab_request *request;
	TAILQ_FOREACH(request, &gidd->slab_requests, entry) {
		if (gid_slab_key(request->gid) == gid_slab_key(gid)) {
			return true;
		}
	}
	return false;
}

void slab_send_unimported(struct gidd *gidd, gid_id gid) {
	struct link *link = link_find(gidd, gid_domain_of(gid));
	union gid_wire_message message;
	if (link != NULL && link->state == LINK_UP && !is_asked_for(gidd, gid)) {
		gid_wire_begin(&message, GID_WIRE_UNIMPORT, 0);
		message.import.gid = gid;
		peer_send(&link->peer, &message, NULL, 0);
	}
}

static void end_requests(struct peer *peer, bool refuse) {
	struct gidd *gidd = peer->gidd;
	struct slab_request *request, *next;
	for (request = TAILQ_FIRST(&gidd->slab_requests); request != NULL; request = next) {
		next = TAILQ_NEXT(request, entry);
		if (request->peer != peer) {
			continue;
		}
		if (refuse) {
			slab_refuse(peer, request->serial);
		}
		link_cancel(gidd, request);
		request_destroy(gidd, request);
	}
}

void slab_refuse_requests(struct peer *peer) {
	end_requests(peer, true);
}

void slab_forget_requests(struct peer *peer) {
	end_requests(peer, false);
}

/* --- revalidation after a link was lost ------------------------------------------------------- */

void slab_mark_unconfirmed(struct gidd *gidd, uint32_t domain) {
	struct slab *slab;
	gidd->revalidations[domain] = sd_event_source_disable_unref(gidd->revalidations[domain]);
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (is_of(slab, domain)) {
			slab->unconfirmed = true;
		}
	}
}

/* Asks for what nobody asks for now. Whether all of it was asked for. */
static bool ask_for_unconfirmed(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	struct slab *slab;
	bool all = true;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (is_of(slab, link->peer.domain) && slab->unconfirmed) {
			const gid_id gid = slab_gid(slab);
			all = !is_asked_for(gidd, gid) && ask(link, NULL, 0, gid) == 0 && all;
		}
	}
	return all;
}

static int handle_revalidate(sd_event_source *source, uint64_t now, void *data) {
	struct link *link = data;
	struct gidd *gidd = link->peer.gidd;
	uint32_t domain = link->peer.domain;
	gidd->revalidations[domain] = sd_event_source_disable_unref(gidd->revalidations[domain]);
	if (!ask_for_unconfirmed(link)) {
		slab_revalidate_domain(link);
	}
	return 0;
}

void slab_revalidate_domain(struct link *link) {
	struct gidd *gidd = link->peer.gidd;
	sd_event_add_time_relative(gidd->event, &gidd->revalidations[link->peer.domain],
			CLOCK_MONOTONIC, REVALIDATE_AFTER_US, 0, handle_revalidate, link);
}
