// SPDX-License-Identifier: MIT
#include "slabs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "access.h"
#include "client.h"
#include "closer.h"
#include "descriptor.h"
#include "link.h"
#include "log.h"
#include "quota.h"
#include "shm_range.h"
#include "shm_window.h"
#include "slab_book.h"
#include "streams.h"

/* --- numbers ---------------------------------------------------------------------------------- */

void slab_init(struct gidd *gidd) {
	TAILQ_INIT(&gidd->slabs);
	TAILQ_INIT(&gidd->slab_requests);
	/*
	 * Clients that outlive their gidd export again under their old numbers. A new gidd does not
	 * know those, and must not give them to others first: it starts at a random number.
	 */
	uint32_t seed = 0;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
		seed = (uint32_t)getpid() * 2654435761u;
	}
	gidd->slab_first = seed % GID_SLAB_MAX;
}

struct slab *slab_find(struct gidd *gidd, uint32_t key) {
	struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (gid_slab_key(slab_gid(slab)) == key) {
			return slab;
		}
	}
	return NULL;
}

static struct slab *find_own(struct gidd *gidd, uint32_t number) {
	return slab_find(gidd, gid_slab_key(gid_make(gidd->self->number, number, 0, 0)));
}

static uint32_t nth_number(const struct gidd *gidd, uint64_t n) {
	return (uint32_t)(1 + (gidd->slab_first + n) % GID_SLAB_MAX);
}

/* A number that this run has not used yet, as long as there is one. */
static uint32_t new_number(struct gidd *gidd) {
	uint32_t number;
	do {
		number = nth_number(gidd, gidd->slab_issued++);
	} while (find_own(gidd, number) != NULL || slab_book_expects(gidd->slab_book, number));
	return number;
}

/* Whether a client from before this run may have its old number back. */
static bool may_return(struct gidd *gidd, uint32_t number) {
	uint32_t place = (number - 1 + GID_SLAB_MAX - gidd->slab_first) % GID_SLAB_MAX;
	return place >= gidd->slab_issued && find_own(gidd, number) == NULL;
}

/* --- imports ---------------------------------------------------------------------------------- */

static struct import *find_import(const struct slab *slab, const struct peer *peer) {
	struct import *import;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (import->peer == peer) {
			return import;
		}
	}
	return NULL;
}

int slab_add_import(struct slab *slab, struct peer *peer) {
	if (find_import(slab, peer) != NULL) {
		return 0;
	}
	struct import *import = calloc(1, sizeof(*import));
	if (import == NULL) {
		return -ENOMEM;
	}
	import->slab = slab;
	import->peer = peer;
	TAILQ_INSERT_TAIL(&slab->importers, import, of_slab);
	TAILQ_INSERT_TAIL(&peer->imports, import, of_peer);
	return 0;
}

static void remove_import(struct import *import) {
	TAILQ_REMOVE(&import->slab->importers, import, of_slab);
	TAILQ_REMOVE(&import->peer->imports, import, of_peer);
	free(import);
}

static void send_revoked(struct peer *peer, const struct slab *slab) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_REVOKED, 0);
	message.revoked.gid = slab_gid(slab);
	peer_send(peer, &message, NULL, 0);
}

/* --- life ------------------------------------------------------------------------------------- */

struct slab *slab_create(struct gidd *gidd, const struct gid_wire_imported *description) {
	struct slab *slab = calloc(1, sizeof(*slab));
	if (slab == NULL) {
		return NULL;
	}
	slab->description.imported = *description;
	slab->fd = -1;
	TAILQ_INIT(&slab->importers);
	TAILQ_INSERT_TAIL(&gidd->slabs, slab, entry);
	return slab;
}

bool slab_is_granted(const struct slab *slab, uint32_t domain) {
	const struct import *import;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (domain_set_has(&import->lent, domain)) {
			return true;
		}
	}
	return domain_set_has(&slab->grants, domain);
}

/* After a restart it is not known which domains have the slab: each that may have it is told. */
static void revoke_inherited(struct gidd *gidd, const struct slab *slab) {
	struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		if (slab->inherited && slab_is_granted(slab, link->peer.domain)) {
			send_revoked(&link->peer, slab);
		}
	}
}

void slab_destroy(struct gidd *gidd, struct slab *slab) {
	struct import *import;
	revoke_inherited(gidd, slab); /* before the imports go, and loans with them */
	while ((import = TAILQ_FIRST(&slab->importers)) != NULL) {
		send_revoked(import->peer, slab);
		remove_import(import);
	}
	if (slab->owner != NULL) {
		slab_book_remove(gidd->slab_book, slab->description.imported.slab);
		TAILQ_REMOVE(&slab->owner->slabs, slab, owner_entry);
		quota_give(slab->owner, QUOTA_SLABS, 1);
		quota_give(slab->owner, QUOTA_MEMORY, slab->charged);
		gid_closer_close(slab->fd);
	}
	TAILQ_REMOVE(&gidd->slabs, slab, entry);
	free(slab);
}

void slab_destroy_all_of(struct client *client) {
	struct slab *slab;
	while ((slab = TAILQ_FIRST(&client->slabs)) != NULL) {
		slab_destroy(client->peer.gidd, slab);
	}
}

/* --- export ----------------------------------------------------------------------------------- */

static void describe(struct gid_wire_imported *description, uint32_t domain,
		const struct gid_wire_export *request) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_IMPORTED, 0);
	message.imported.domain = domain;
	message.imported.slab = request->slab;
	message.imported.memory = request->memory;
	message.imported.slot_count = request->slot_count;
	message.imported.offset = request->offset;
	message.imported.slot_size = request->slot_size;
	message.imported.generations = request->generations;
	message.imported.description_size = request->description_size;
	message.imported.layout = request->layout;
	memcpy(message.imported.description, request->description, sizeof(request->description));
	*description = message.imported;
}

/* Each range holds one slab at most: the range's table ends with the slab. */
static int use_range(struct client *client, const struct gid_wire_imported *slab, uint32_t window,
		uint64_t end, const char **why) {
	struct gid_wire_allocated range;
	struct gidd *gidd = client->peer.gidd;
	shm_range_find(gidd, window, slab->offset, end - slab->offset, &range);
	if (slab_is_in(client, &range)) {
		*why = "a slab is in this memory already: ask for other memory";
		return -EBUSY;
	}
	shm_range_set_table(gidd, window, slab->generations, end);
	return 0;
}

/* Checks the memory of a client's slab. For our own windows, readers get a descriptor of ours. */
static int check_memory(struct client *client, const struct gid_wire_imported *slab, bool again,
		int *fd, uint64_t *bytes, uint32_t *window, const char **why) {
	*window = 0;
	if (slab->memory != GID_MEMORY_WINDOW) {
		return descriptor_take_slab(fd, slab, bytes, why);
	}
	*bytes = descriptor_slab_end(slab) - slab->offset;
	int error = shm_range_check(client, *fd, slab->offset, *bytes, again, why);
	if (error == 0) {
		struct gidd *gidd = client->peer.gidd;
		*window = shm_window_of(gidd, gidd->self->number, *fd)->number;
		error = use_range(client, slab, *window, slab->offset + *bytes, why);
	}
	if (error == 0 && shm_range_make_read_only(client->peer.gidd, fd) < 0) {
		*why = "gidd has no descriptor left";
		error = -EMFILE;
	}
	return error;
}

/* Whether the client may have the number back that it had before this run. */
static int check_return(struct client *client, uint32_t number, char why[static 192]) {
	struct gidd *gidd = client->peer.gidd;
	if (!may_return(gidd, number)) {
		snprintf(why, 192, "another slab has number %u now", number);
		return -EEXIST;
	}
	if (!slab_book_may_return(gidd->slab_book, number, client->uid)) {
		peer_log(&client->peer, LOG_LEVEL_WARNING,
				"may not have slab number %u: no program of its user had it",
				number);
		snprintf(why, 192, "no program of uid %u had slab number %u", (unsigned)client->uid,
				number);
		return -EEXIST;
	}
	return 0;
}

void slab_export(struct client *client, const struct gid_wire_export *request, int *fd) {
	struct gidd *gidd = client->peer.gidd;
	uint32_t serial = request->header.serial;
	struct gid_wire_imported description;
	uint64_t bytes;
	uint32_t window;
	const char *wrong;
	char why[192];

	describe(&description, gidd->self->number, request);
	int error = check_memory(
			client, &description, request->slab != 0, fd, &bytes, &window, &wrong);
	if (error < 0) {
		peer_log(&client->peer, LOG_LEVEL_WARNING, "export refused: %s", wrong);
		peer_result(&client->peer, serial, error, 0, "%s", wrong);
		return;
	}
	error = request->slab != 0 ? check_return(client, request->slab, why) : 0;
	if (error < 0) {
		peer_result(&client->peer, serial, error, 0, "%s", why);
		return;
	}
	error = quota_take(client, QUOTA_SLABS, 1, why);
	if (error < 0) {
		goto error_quota;
	}
	uint64_t charged = request->memory == GID_MEMORY_WINDOW ? 0 : bytes;
	error = quota_take(client, QUOTA_MEMORY, charged, why);
	if (error < 0) {
		goto error_slabs;
	}
	if (request->slab == 0) {
		description.slab = new_number(gidd);
	}
	struct slab *slab = slab_create(gidd, &description);
	if (slab == NULL) {
		error = -ENOMEM;
		snprintf(why, sizeof(why), "gidd is out of memory");
		goto error_memory;
	}
	slab->owner = client;
	slab->bytes = bytes;
	slab->window = window;
	slab->charged = charged;
	slab->inherited = request->slab != 0;
	slab->fd = *fd;
	*fd = -1;
	TAILQ_INSERT_TAIL(&client->slabs, slab, owner_entry);
	slab_book_put(gidd->slab_book, description.slab, client->uid);
	peer_result(&client->peer, serial, 0, description.slab, "%s", "");
	return;

error_memory:
	quota_give(client, QUOTA_MEMORY, charged);
error_slabs:
	quota_give(client, QUOTA_SLABS, 1);
error_quota:
	peer_log(&client->peer, LOG_LEVEL_WARNING, "export refused: %s", why);
	peer_refuse(&client->peer, serial, error, "%s", why);
}

static struct slab *find_owned(struct client *client, uint32_t number) {
	struct slab *slab = find_own(client->peer.gidd, number);
	return slab != NULL && slab->owner == client ? slab : NULL;
}

void slab_unexport(struct client *client, const struct gid_wire_unexport *request) {
	struct slab *slab = find_owned(client, request->slab);
	if (slab == NULL) {
		peer_result(&client->peer, request->header.serial, -ENOENT, 0,
				"this client has no slab %u", request->slab);
		return;
	}
	slab_destroy(client->peer.gidd, slab);
	peer_result(&client->peer, request->header.serial, 0, 0, "%s", "");
}

static bool lies_in(const struct slab *slab, uint32_t window, uint64_t offset, uint64_t size) {
	const struct gid_wire_imported *info = &slab->description.imported;
	return info->memory == GID_MEMORY_WINDOW && slab->window == window &&
			info->offset >= offset && info->offset - offset < size;
}

bool slab_is_in(const struct client *client, const struct gid_wire_allocated *range) {
	uint64_t offset = gid_wire_window_offset(range->offset);
	uint32_t window = gid_wire_window_number(range->offset);
	const struct slab *slab;
	TAILQ_FOREACH(slab, &client->slabs, owner_entry) {
		if (lies_in(slab, window, offset, range->size)) {
			return true;
		}
	}
	return false;
}

/* --- grants ----------------------------------------------------------------------------------- */

/* Revokes the grant, unless someone else still grants the slab to the domain. */
static void revoke_grant(struct gidd *gidd, struct slab *slab, uint32_t domain) {
	struct link *link = link_find(gidd, domain);
	if (link == NULL || slab_is_granted(slab, domain)) {
		return;
	}
	struct import *import = find_import(slab, &link->peer);
	if (import != NULL) {
		remove_import(import);
	}
	if (import != NULL || slab->inherited) {
		send_revoked(&link->peer, slab);
	}
}

/* Ends all loans of the slab to the domain. Lenders hear of it: they may still send there. */
static void end_loans_to(struct slab *slab, uint32_t domain) {
	union gid_wire_message message;
	struct import *import;
	gid_wire_begin(&message, GID_WIRE_GRANT, 0);
	message.grant.slab = slab->description.imported.slab;
	message.grant.domain = domain;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (domain_set_has(&import->lent, domain)) {
			domain_set_put(&import->lent, domain, false);
			peer_send(import->peer, &message, NULL, 0);
		}
	}
}

static void take_back(struct gidd *gidd, struct slab *slab, uint32_t domain) {
	domain_set_put(&slab->grants, domain, false);
	end_loans_to(slab, domain);
	revoke_grant(gidd, slab, domain);
}

static void set_owner_grant(
		struct gidd *gidd, struct slab *slab, const struct gid_wire_grant *request) {
	bool had = slab_is_granted(slab, request->domain);
	domain_set_put(&slab->withheld, request->domain, request->allow == 0);
	if (request->allow != 0) {
		domain_set_put(&slab->grants, request->domain, true);
	} else if (had) {
		take_back(gidd, slab, request->domain);
	}
}

static int set_loan(
		struct gidd *gidd, struct import *import, const struct gid_wire_grant *request) {
	struct slab *slab = import->slab;
	bool had = slab_is_granted(slab, request->domain);
	if (request->allow != 0 && domain_set_has(&slab->withheld, request->domain)) {
		return -EPERM;
	}
	domain_set_put(&import->lent, request->domain, request->allow != 0);
	if (had && request->allow == 0) {
		revoke_grant(gidd, slab, request->domain);
	}
	return 0;
}

static void end_loans(struct import *import) {
	struct domain_set lent = import->lent;
	import->lent = (struct domain_set){0};
	for (uint32_t domain = 1; domain <= GID_DOMAIN_MAX; domain++) {
		if (domain_set_has(&lent, domain)) {
			revoke_grant(import->peer->gidd, import->slab, domain);
		}
	}
}

void slab_grant(struct client *client, const struct gid_wire_grant *request) {
	struct gidd *gidd = client->peer.gidd;
	uint32_t serial = request->header.serial;
	struct slab *slab = find_own(gidd, request->slab);
	struct import *import = slab == NULL ? NULL : find_import(slab, &client->peer);
	if (slab == NULL || (slab->owner != client && import == NULL)) {
		peer_result(&client->peer, serial, -ENOENT, 0, "this client has no slab %u",
				request->slab);
		return;
	}
	const struct config_domain *reader = config_domain_by_number(gidd->config, request->domain);
	if (reader == NULL || !access_may_import(gidd->config, gidd->self, reader)) {
		peer_refuse(&client->peer, serial, -EPERM,
				"the cockpit's configuration has no [share %s %s]",
				gidd->self->name, reader == NULL ? "…" : reader->name);
		return;
	}
	struct link *link = link_find(gidd, request->domain);
	if (link != NULL && request->allow != 0 &&
			!link_can_carry(&link->peer, slab->fd, slab->description.imported.offset)) {
		peer_result(&client->peer, serial, -ENOTSUP, 0,
				"domain %s is another machine, which cannot see this memory: copy "
				"it into a slab that gidway made for that stream",
				reader->name);
		return;
	}
	int error = 0;
	if (slab->owner == client) {
		set_owner_grant(gidd, slab, request);
	} else {
		error = set_loan(gidd, import, request);
	}
	peer_result(&client->peer, serial, error, 0, "%s",
			error == 0 ? "" : "the slab's owner does not let this domain read it");
}

uint32_t slab_revoke_unshared(struct gidd *gidd) {
	const struct config_domain *reader;
	struct slab *slab;
	uint32_t revoked = 0;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		TAILQ_FOREACH(reader, &gidd->config->domains, entry) {
			if (slab->owner != NULL && slab_is_granted(slab, reader->number) &&
					!access_may_import(gidd->config, gidd->self, reader)) {
				take_back(gidd, slab, reader->number);
				revoked++;
			}
		}
	}
	return revoked;
}

/* --- eviction --------------------------------------------------------------------------------- */

void slab_evict(struct slab *slab) {
	slab->evicting = true;
	send_revoked(&slab->owner->peer, slab);
}

void slab_evict_range(struct client *client, uint32_t window, uint64_t offset, uint64_t size) {
	struct slab *slab;
	TAILQ_FOREACH(slab, &client->slabs, owner_entry) {
		if (lies_in(slab, window, offset, size)) {
			slab_evict(slab);
		}
	}
}

/* Its owner, or an importer such as a compositor, may have sent it. */
static bool was_sent_to(const struct slab *slab, const struct config_domain *reader) {
	const struct import *import;
	if (stream_is_withdrawn(slab->owner, reader)) {
		return true;
	}
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (import->peer->client != NULL &&
				stream_is_withdrawn(import->peer->client, reader)) {
			return true;
		}
	}
	return false;
}

static bool was_lent_to_withdrawn(const struct gidd *gidd, const struct slab *slab) {
	const struct config_domain *reader;
	TAILQ_FOREACH(reader, &gidd->config->domains, entry) {
		if (slab_is_granted(slab, reader->number) && was_sent_to(slab, reader)) {
			return true;
		}
	}
	return false;
}

uint32_t slab_evict_withdrawn(struct gidd *gidd) {
	struct slab *slab;
	uint32_t count = 0;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		bool in_window = slab->description.imported.memory == GID_MEMORY_WINDOW;
		if (slab->owner != NULL && !in_window && !slab->evicting &&
				was_lent_to_withdrawn(gidd, slab)) {
			slab_evict(slab);
			count++;
		}
	}
	return count;
}

void slab_end_eviction(struct gidd *gidd) {
	struct slab *slab, *next;
	for (slab = TAILQ_FIRST(&gidd->slabs); slab != NULL; slab = next) {
		next = TAILQ_NEXT(slab, entry);
		if (slab->evicting) {
			send_revoked(&slab->owner->peer, slab); /* again: it did not leave */
			slab_destroy(gidd, slab);
		}
	}
}

/* --- import of our slabs ---------------------------------------------------------------------- */

void slab_refuse(struct peer *peer, uint32_t serial) {
	peer_refuse(peer, serial, -ENOENT, "%s",
			"no such slab can be read here: it is unknown, not granted, or was revoked");
}

void slab_import(struct peer *peer, const struct gid_wire_import *request) {
	struct slab *slab = slab_find(peer->gidd, gid_slab_key(request->gid));
	bool own = peer->domain == peer->gidd->self->number;
	if (slab == NULL || slab->owner == NULL || (!own && !slab_is_granted(slab, peer->domain)) ||
			slab_add_import(slab, peer) < 0) {
		slab_refuse(peer, request->header.serial);
		return;
	}
	union gid_wire_message answer = slab->description;
	answer.header.serial = request->header.serial;
	peer_send(peer, &answer, &slab->fd, 1);
}

/* --- end of imports --------------------------------------------------------------------------- */

static void let_go(struct import *import) {
	struct slab *slab = import->slab;
	struct gidd *gidd = import->peer->gidd;
	end_loans(import);
	remove_import(import);
	if (slab->owner == NULL && TAILQ_EMPTY(&slab->importers)) {
		slab_send_unimported(gidd, slab_gid(slab));
		slab_destroy(gidd, slab);
	}
}

void slab_take_import(struct import *import) {
	send_revoked(import->peer, import->slab);
	let_go(import);
}

void slab_forget_importer(struct peer *peer) {
	struct import *import;
	slab_forget_requests(peer);
	while ((import = TAILQ_FIRST(&peer->imports)) != NULL) {
		let_go(import);
	}
}

void slab_unimport(struct peer *peer, const struct gid_wire_import *request) {
	struct slab *slab = slab_find(peer->gidd, gid_slab_key(request->gid));
	struct import *import = slab == NULL ? NULL : find_import(slab, peer);
	if (import != NULL) {
		let_go(import);
	}
}
