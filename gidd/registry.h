// SPDX-License-Identifier: MIT
/**
 * What this domain has: slabs with their grants, streams, and subscriptions in either direction.
 *
 * Functions named for a message take it from a peer, and answer it. Descriptors are taken over by
 * setting them to -1 in the caller's array.
 */
#ifndef GIDD_REGISTRY_H
#define GIDD_REGISTRY_H

#include "peer.h"

struct slab;
struct stream;
TAILQ_HEAD(slabs, slab);
TAILQ_HEAD(streams, stream);

struct registry {
	struct slabs slabs;
	struct streams streams;
	struct subscriptions subscriptions;
	uint32_t slab_first, slab_issued; /* numbers that this run has given */
	uint32_t stream_number, subscription_number;
};

void registry_init(struct registry *registry);

/* --- slabs: of this domain, and of others as far as they were given to somebody here ---------- */

/* A bit for each domain. */
struct domain_set {
	uint8_t bits[(GID_DOMAIN_MAX + 8) / 8];
};

struct slab {
	TAILQ_ENTRY(slab) entry, owner_entry;
	struct client *owner;		    /* NULL: of another domain */
	union gid_wire_message description; /* IMPORTED, as readers get it */
	int fd;				    /* -1: of another domain */
	uint64_t bytes;			    /* of the whole file, or of its part of a window */
	uint64_t charged;		    /* to the owner's quota; a window's memory is already */
	struct domain_set grants;	    /* the owner's */
	struct domain_set withheld;	    /* to these it may not be lent by others, either */
	bool inherited; /* exported before this gidd ran: who has it is not known */
	uint64_t inode; /* of another domain's memory: tells whether it is the same again */
	bool doubtful;	/* the link was lost since: see confirm.c */
	struct imports importers;
};

/* A peer was given a slab. */
struct import {
	TAILQ_ENTRY(import) of_slab, of_peer;
	struct slab *slab;
	struct peer *peer;
	struct domain_set lent; /* by this client of the owner's domain: see slab_grant() */
};

static inline gid_id slab_gid(const struct slab *slab) {
	const struct gid_wire_imported *imported = &slab->description.imported;
	return gid_make(imported->domain, imported->slab, 0, 0);
}

/* --- registry_slab.c: the slabs themselves ---------------------------------------------------- */

/* By gid_slab_key(), and by their number those of this domain; NULL: there is none. */
struct slab *slab_find(struct registry *registry, uint32_t key);
struct slab *slab_find_own(struct gidd *gidd, uint32_t number);

/* Without owner, readers and memory yet; NULL: out of memory. */
struct slab *slab_create(struct gidd *gidd, const struct gid_wire_imported *description);
/* Whoever has it hears that it is gone. */
void slab_destroy(struct gidd *gidd, struct slab *slab);
void slab_destroy_all_of(struct client *client);

void slab_export(struct client *client, const struct gid_wire_export *request, int *fd);
void slab_unexport(struct client *client, const struct gid_wire_unexport *request);

/* --- registry_grant.c: who may have them ------------------------------------------------------ */

/* By its owner, or lent by another client of the same domain. */
bool slab_is_granted(const struct slab *slab, uint32_t domain);

/*
 * Of the owner, or of another client of its domain that has the slab: a compositor lends what its
 * clients draw. That gives nothing away that it could not give as a copy, for every client of a
 * domain may read the domain's slabs, and the readers are those whom the configuration lets read
 * the domain's memory. It ends with the lender, who can take back only its own loans; the owner can
 * take back everything.
 */
void slab_grant(struct client *client, const struct gid_wire_grant *request);
/* The configuration has changed. Takes back what it does not allow any more: how many grants. */
uint32_t slab_revoke_unshared(struct gidd *gidd);
/* The lender is gone, or has the slab no more. */
void slab_end_loans(struct import *import);

/* --- registry_import.c: who has them ---------------------------------------------------------- */

struct import *import_find(const struct slab *slab, const struct peer *peer);
void import_remove(struct import *import);

/* For a gid of this domain. */
void slab_import(struct peer *peer, const struct gid_wire_import *request);
/* The one answer for a slab that is unknown, not granted or revoked. */
void slab_refuse(struct peer *peer, uint32_t serial);
/* The slab of another domain goes to a client that asked for it. */
void slab_imported(
	struct peer *peer, uint32_t serial, const struct gid_wire_imported *answer, int fd);
/* The peer, which may have it, hears that it is gone. */
void slab_tell_revoked(struct peer *peer, const struct slab *slab);
/* From the link to another domain. */
void slab_revoked(struct peer *link, const struct gid_wire_revoked *revoked);
/* The domain's machine is gone, and its memory may become anything. */
void slab_lose_domain(struct gidd *gidd, uint32_t domain);
/* The peer is gone and holds nothing any more. */
void slab_forget_importer(struct peer *peer);

/* --- registry_stream.c ------------------------------------------------------------------------ */

struct stream {
	TAILQ_ENTRY(stream) entry, owner_entry;
	struct client *owner;
	uint32_t number;
	char name[GID_NAME_MAX + 1];
	struct subscriptions subscriptions;
};

struct stream *stream_find(struct registry *registry, const char *name);

void stream_publish(struct client *client, const struct gid_wire_publish *request);
void stream_unpublish(struct client *client, const struct gid_wire_unpublish *request);
void stream_destroy_all_of(struct client *client);

#endif
