// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>

#include "client.h"
#include "descriptor.h"
#include "gidd.h"

struct import *import_find(const struct slab *slab, const struct peer *peer) {
	struct import *import;
	TAILQ_FOREACH(import, &slab->importers, of_slab) {
		if (import->peer == peer) {
			return import;
		}
	}
	return NULL;
}

static int import_add(struct slab *slab, struct peer *peer) {
	if (import_find(slab, peer) != NULL) {
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

void import_remove(struct import *import) {
	TAILQ_REMOVE(&import->slab->importers, import, of_slab);
	TAILQ_REMOVE(&import->peer->imports, import, of_peer);
	free(import);
}

void slab_tell_revoked(struct peer *peer, const struct slab *slab) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_REVOKED, 0);
	message.revoked.gid = slab_gid(slab);
	peer_send(peer, &message, NULL, 0);
}

void slab_refuse(struct peer *peer, uint32_t serial) {
	peer_result(peer, serial, -ENOENT, 0, "%s",
		"no such slab can be read here: it is unknown, not granted, or was revoked");
}

void slab_import(struct peer *peer, const struct gid_wire_import *request) {
	struct slab *slab = slab_find(&peer->gidd->registry, gid_slab_key(request->gid));
	bool own = peer->domain == peer->gidd->self->number;
	if (slab == NULL || slab->owner == NULL || (!own && !slab_is_granted(slab, peer->domain)) ||
		import_add(slab, peer) < 0) {
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
	struct slab *slab = slab_find(&peer->gidd->registry, gid_slab_key(gid));
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
	if (slab == NULL || slab->owner != NULL || import_add(slab, peer) < 0) {
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
	struct slab *slab = slab_find(&link->gidd->registry, gid_slab_key(revoked->gid));
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
		slab_end_loans(import);
		import_remove(import);
		if (slab->owner == NULL && TAILQ_EMPTY(&slab->importers)) {
			slab_destroy(peer->gidd, slab);
		}
	}
}
