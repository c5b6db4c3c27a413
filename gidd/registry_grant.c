// SPDX-License-Identifier: MIT
#include <errno.h>

#include "client.h"
#include "gidd.h"
#include "link.h"

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

/* The domain had the grant, and may have it no more. */
static void lose_grant(struct gidd *gidd, struct slab *slab, uint32_t domain) {
	struct link *link = link_find(gidd, domain);
	if (link == NULL || slab_is_granted(slab, domain)) {
		return;
	}
	struct import *import = import_find(slab, &link->peer);
	if (import != NULL) {
		import_remove(import);
	}
	if (import != NULL || slab->inherited) {
		slab_tell_revoked(&link->peer, slab);
	}
}

static void take_back(struct gidd *gidd, struct slab *slab, uint32_t domain) {
	struct import *import;
	set_domain(&slab->grants, domain, false);
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		set_domain(&import->lent, domain, false);
	}
	lose_grant(gidd, slab, domain);
}

static void set_owner_grant(
	struct gidd *gidd, struct slab *slab, const struct gid_wire_grant *request) {
	bool had = slab_is_granted(slab, request->domain);
	set_domain(&slab->withheld, request->domain, request->allow == 0);
	if (request->allow != 0) {
		set_domain(&slab->grants, request->domain, true);
	} else if (had) {
		take_back(gidd, slab, request->domain);
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

void slab_end_loans(struct import *import) {
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
	struct slab *slab = slab_find_own(gidd, request->slab);
	struct import *import = slab == NULL ? NULL : import_find(slab, &client->peer);
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

uint32_t slab_revoke_unshared(struct gidd *gidd) {
	const struct config_domain *reader;
	struct slab *slab;
	uint32_t revoked = 0;
	TAILQ_FOREACH(slab, &gidd->registry.slabs, entry) {
		TAILQ_FOREACH(reader, &gidd->config->domains, entry) {
			if (slab->owner != NULL && reader != gidd->self &&
				slab_is_granted(slab, reader->number) &&
				config_share_find(gidd->config, gidd->self, reader) == NULL) {
				take_back(gidd, slab, reader->number);
				revoked++;
			}
		}
	}
	return revoked;
}
