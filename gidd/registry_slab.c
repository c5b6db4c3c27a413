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

/* --- finding and numbering -------------------------------------------------------------------- */

struct slab *slab_find(struct registry *registry, uint32_t key) {
	struct slab *slab;
	TAILQ_FOREACH(slab, &registry->slabs, entry) {
		if (gid_slab_key(slab_gid(slab)) == key) {
			return slab;
		}
	}
	return NULL;
}

struct slab *slab_find_own(struct gidd *gidd, uint32_t number) {
	return slab_find(&gidd->registry, gid_slab_key(gid_make(gidd->self->number, number, 0, 0)));
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
	} while (slab_find_own(gidd, number) != NULL);
	return number;
}

/* Whether a client that was there before this gidd may have its old number back. */
static bool may_return(struct gidd *gidd, uint32_t number) {
	struct registry *registry = &gidd->registry;
	uint32_t place = (number - 1 + GID_SLAB_MAX - registry->slab_first) % GID_SLAB_MAX;
	return place >= registry->slab_issued && slab_find_own(gidd, number) == NULL;
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
	TAILQ_INSERT_TAIL(&gidd->registry.slabs, slab, entry);
	return slab;
}

void slab_destroy(struct gidd *gidd, struct slab *slab) {
	struct import *import;
	while ((import = TAILQ_FIRST(&slab->importers)) != NULL) {
		slab_tell_revoked(import->peer, slab);
		import_remove(import);
	}
	if (slab->owner != NULL) {
		struct link *link;
		TAILQ_FOREACH(link, &gidd->links, entry) {
			if (slab->inherited && slab_is_granted(slab, link->peer.domain)) {
				slab_tell_revoked(&link->peer, slab);
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
	struct slab *slab = slab_find_own(client->peer.gidd, number);
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
