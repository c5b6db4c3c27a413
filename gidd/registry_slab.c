// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "client.h"
#include "descriptor.h"
#include "gidd.h"
#include "link.h"
#include "log.h"
#include "quota.h"
#include "window.h"

void registry_init(struct registry *registry) {
	*registry = (struct registry){0};
	TAILQ_INIT(&registry->slabs);
	TAILQ_INIT(&registry->streams);
	TAILQ_INIT(&registry->subscriptions);
	/*
	 * Clients that outlive a gidd export again under their old numbers. A new gidd must not
	 * have given those to others meanwhile, and does not know them: it begins elsewhere.
	 */
	uint32_t seed = 0;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
		seed = (uint32_t)getpid() * 2654435761u;
	}
	registry->slab_first = seed % GID_SLAB_MAX;
}

/* --- grants ----------------------------------------------------------------------------------- */

static bool has_domain(const struct domain_set *set, uint32_t domain) {
	return (set->bits[domain / 8] & 1u << domain % 8) != 0;
}

static void set_domain(struct domain_set *set, uint32_t domain, bool present) {
	uint8_t bit = (uint8_t)(1u << domain % 8);
	set->bits[domain / 8] =
		present ? set->bits[domain / 8] | bit : set->bits[domain / 8] & (uint8_t)~bit;
}

bool slab_is_granted(const struct slab *slab, uint32_t domain) {
	const struct import *import;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (has_domain(&import->lent, domain)) {
			return true;
		}
	}
	return has_domain(&slab->grants, domain);
}

/* --- finding and numbering -------------------------------------------------------------------- */

static struct slab *find(struct registry *registry, uint32_t key) {
	struct slab *slab;
	TAILQ_FOREACH(slab, &registry->slabs, entry) {
		if (gid_slab_key(slab_gid(slab)) == key) {
			return slab;
		}
	}
	return NULL;
}

static struct slab *find_own(struct gidd *gidd, uint32_t number) {
	return find(&gidd->registry, gid_slab_key(gid_make(gidd->self->number, number, 0, 0)));
}

static uint32_t nth_number(const struct registry *registry, uint32_t n) {
	return 1 + (registry->slab_first + n) % GID_SLAB_MAX;
}

/* A number that this run has not given before, as long as there is one. */
static uint32_t new_number(struct gidd *gidd) {
	struct registry *registry = &gidd->registry;
	uint32_t number;
	do {
		number = nth_number(registry, registry->slab_issued++);
	} while (find_own(gidd, number) != NULL);
	return number;
}

/* Whether a client that was there before this gidd may have its old number back. */
static bool may_return(struct gidd *gidd, uint32_t number) {
	struct registry *registry = &gidd->registry;
	uint32_t place = (number - 1 + GID_SLAB_MAX - registry->slab_first) % GID_SLAB_MAX;
	return place >= registry->slab_issued && find_own(gidd, number) == NULL;
}

/* --- importers -------------------------------------------------------------------------------- */

static struct import *find_import(const struct slab *slab, const struct peer *peer) {
	struct import *import;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (import->peer == peer) {
			return import;
		}
	}
	return NULL;
}

static int add_import(struct slab *slab, struct peer *peer) {
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

static void tell_revoked(struct peer *peer, const struct slab *slab) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_REVOKED, 0);
	message.revoked.gid = slab_gid(slab);
	peer_send(peer, &message, NULL, 0);
}

/* --- slabs of this domain --------------------------------------------------------------------- */

static struct slab *slab_create(struct gidd *gidd, const struct gid_wire_imported *description) {
	struct slab *slab = calloc(1, sizeof(*slab));
	if (slab == NULL) {
		return NULL;
	}
	slab->description.imported = *description;
	slab->fd = -1;
	TAILQ_INIT(&slab->importers);
	TAILQ_INSERT_TAIL(&gidd->registry.slabs, slab, entry);
	return slab;
}

void slab_destroy(struct gidd *gidd, struct slab *slab) {
	struct import *import;
	while ((import = TAILQ_FIRST(&slab->importers)) != NULL) {
		tell_revoked(import->peer, slab);
		remove_import(import);
	}
	if (slab->owner != NULL) {
		struct link *link;
		TAILQ_FOREACH(link, &gidd->links, entry) {
			if (slab->inherited && slab_is_granted(slab, link->peer.domain)) {
				tell_revoked(&link->peer, slab);
			}
		}
		TAILQ_REMOVE(&slab->owner->slabs, slab, owner_entry);
		quota_give(slab->owner, QUOTA_SLABS, 1);
		quota_give(slab->owner, QUOTA_MEMORY, slab->charged);
		close(slab->fd);
	}
	TAILQ_REMOVE(&gidd->registry.slabs, slab, entry);
	free(slab);
}

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

/* Checks the memory of a client's slab. Of our own window readers get a descriptor of ours. */
static int check_memory(struct client *client, const struct gid_wire_imported *slab, bool again,
	int *fd, uint64_t *bytes, const char **why) {
	if (slab->memory != GID_MEMORY_WINDOW) {
		return descriptor_check_slab(*fd, slab, bytes, why);
	}
	*bytes = descriptor_slab_end(slab) - slab->offset;
	int error = window_check_own(client, *fd, slab->offset, *bytes, again, why);
	if (error == 0 && window_replace(client->peer.gidd, fd) < 0) {
		*why = "gidd has no descriptor left";
		error = -EMFILE;
	}
	return error;
}

void slab_export(struct client *client, const struct gid_wire_export *request, int *fd) {
	struct gidd *gidd = client->peer.gidd;
	uint32_t serial = request->header.serial;
	struct gid_wire_imported description;
	uint64_t bytes;
	const char *wrong;
	char why[192];

	describe(&description, gidd->self->number, request);
	int error = check_memory(client, &description, request->slab != 0, fd, &bytes, &wrong);
	if (error < 0) {
		log_warning("%s: export refused: %s", client->peer.label, wrong);
		peer_result(&client->peer, serial, error, 0, "%s", wrong);
		return;
	}
	if (request->slab != 0 && !may_return(gidd, request->slab)) {
		peer_result(&client->peer, serial, -EEXIST, 0,
			"the slab's old number %u is not to be had any more", request->slab);
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
	slab->charged = charged;
	slab->inherited = request->slab != 0;
	slab->fd = *fd;
	*fd = -1;
	TAILQ_INSERT_TAIL(&client->slabs, slab, owner_entry);
	peer_result(&client->peer, serial, 0, description.slab, "%s", "");
	return;

error_memory:
	quota_give(client, QUOTA_MEMORY, charged);
error_slabs:
	quota_give(client, QUOTA_SLABS, 1);
error_quota:
	log_warning("%s: export refused: %s", client->peer.label, why);
	peer_result(&client->peer, serial, error, 0, "%s", why);
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

/* The domain had the grant, and may have it no more. */
static void lose_grant(struct gidd *gidd, struct slab *slab, uint32_t domain) {
	struct link *link = link_find(gidd, domain);
	if (link == NULL || slab_is_granted(slab, domain)) {
		return;
	}
	struct import *import = find_import(slab, &link->peer);
	if (import != NULL) {
		remove_import(import);
	}
	if (import != NULL || slab->inherited) {
		tell_revoked(&link->peer, slab);
	}
}

static void set_owner_grant(
	struct gidd *gidd, struct slab *slab, const struct gid_wire_grant *request) {
	bool had = slab_is_granted(slab, request->domain);
	set_domain(&slab->grants, request->domain, request->allow != 0);
	set_domain(&slab->withheld, request->domain, request->allow == 0);
	if (request->allow == 0) {
		struct import *import;
		TAILQ_FOREACH(import, &slab->importers, of_slab) {
			set_domain(&import->lent, request->domain, false);
		}
		if (had) {
			lose_grant(gidd, slab, request->domain);
		}
	}
}

static int set_loan(
	struct gidd *gidd, struct import *import, const struct gid_wire_grant *request) {
	struct slab *slab = import->slab;
	bool had = slab_is_granted(slab, request->domain);
	if (request->allow != 0 && has_domain(&slab->withheld, request->domain)) {
		return -EPERM;
	}
	set_domain(&import->lent, request->domain, request->allow != 0);
	if (had && request->allow == 0) {
		lose_grant(gidd, slab, request->domain);
	}
	return 0;
}

static void end_loans(struct import *import) {
	struct domain_set lent = import->lent;
	import->lent = (struct domain_set){0};
	for (uint32_t domain = 1; domain <= GID_DOMAIN_MAX; domain++) {
		if (has_domain(&lent, domain)) {
			lose_grant(import->peer->gidd, import->slab, domain);
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
	bool own = reader == gidd->self;
	if (!own &&
		(reader == NULL || config_share_find(gidd->config, gidd->self, reader) == NULL)) {
		peer_result(&client->peer, serial, -EPERM, 0,
			"the cockpit's configuration has no [share %s %s]", gidd->self->name,
			reader == NULL ? "…" : reader->name);
		return;
	}
	struct link *link = link_find(gidd, request->domain);
	bool windows_only = link != NULL && link->kind->windows_only;
	if (windows_only && slab->description.imported.memory != GID_MEMORY_WINDOW &&
		request->allow != 0) {
		peer_result(&client->peer, serial, -ENOTSUP, 0,
			"domain %s is another machine, which cannot see a memfd or dma-buf: copy "
			"it into a slab that gidway made",
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

void slab_destroy_all_of(struct client *client) {
	struct slab *slab;
	while ((slab = TAILQ_FIRST(&client->slabs)) != NULL) {
		slab_destroy(client->peer.gidd, slab);
	}
}

/* --- imports ---------------------------------------------------------------------------------- */

void slab_refuse(struct peer *peer, uint32_t serial) {
	peer_result(peer, serial, -ENOENT, 0, "%s",
		"no such slab can be read here: it is unknown, not granted, or was revoked");
}

void slab_import(struct peer *peer, const struct gid_wire_import *request) {
	struct slab *slab = find(&peer->gidd->registry, gid_slab_key(request->gid));
	bool own = peer->domain == peer->gidd->self->number;
	if (slab == NULL || slab->owner == NULL || (!own && !slab_is_granted(slab, peer->domain)) ||
		add_import(slab, peer) < 0) {
		slab_refuse(peer, request->header.serial);
		return;
	}
	union gid_wire_message answer = slab->description;
	answer.header.serial = request->header.serial;
	peer_send(peer, &answer, &slab->fd, 1);
}

void slab_imported(
	struct peer *peer, uint32_t serial, const struct gid_wire_imported *answer, int fd) {
	gid_id gid = gid_make(answer->domain, answer->slab, 0, 0);
	struct slab *slab = find(&peer->gidd->registry, gid_slab_key(gid));
	uint64_t inode = descriptor_inode(fd);
	bool same = slab != NULL && slab->inode == inode &&
		slab->description.imported.offset == answer->offset;
	if (slab != NULL && slab->owner == NULL && !same) {
		slab_destroy(peer->gidd, slab); /* the number names other memory now */
		slab = NULL;
	}
	if (slab == NULL) {
		slab = slab_create(peer->gidd, answer);
	}
	if (slab == NULL || slab->owner != NULL || add_import(slab, peer) < 0) {
		slab_refuse(peer, serial);
		return;
	}
	slab->description.imported = *answer;
	slab->inode = inode;
	slab->doubtful = false;
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_IMPORTED, serial);
	message.imported = *answer;
	message.header.serial = serial;
	peer_send(peer, &message, &fd, 1);
}

void slab_revoked(struct peer *link, const struct gid_wire_revoked *revoked) {
	if (gid_domain_of(revoked->gid) != link->domain) {
		peer_violation(link, "it revokes a slab that is not its own");
		return;
	}
	struct slab *slab = find(&link->gidd->registry, gid_slab_key(revoked->gid));
	if (slab != NULL) {
		slab_destroy(link->gidd, slab);
	}
}

void slab_lose_domain(struct gidd *gidd, uint32_t domain) {
	struct slab *slab, *next;
	for (slab = TAILQ_FIRST(&gidd->registry.slabs); slab != NULL; slab = next) {
		next = TAILQ_NEXT(slab, entry);
		if (slab->owner == NULL && gid_domain_of(slab_gid(slab)) == domain) {
			slab_destroy(gidd, slab);
		}
	}
}

void slab_forget_importer(struct peer *peer) {
	struct import *import;
	while ((import = TAILQ_FIRST(&peer->imports)) != NULL) {
		struct slab *slab = import->slab;
		end_loans(import);
		remove_import(import);
		if (slab->owner == NULL && TAILQ_EMPTY(&slab->importers)) {
			slab_destroy(peer->gidd, slab);
		}
	}
}
