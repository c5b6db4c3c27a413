// SPDX-License-Identifier: MIT
/**
 * Slabs: those of this domain with their grants, and those of other domains as far as somebody here
 * was given them.
 *
 * Functions named for a message take it from a peer, and answer it. Descriptors are taken over by
 * setting them to -1 in the caller's array.
 */
#ifndef GIDD_SLABS_H
#define GIDD_SLABS_H

#include "domain_set.h"
#include "gidd.h"

struct link;

struct slab {
	TAILQ_ENTRY(slab) entry, owner_entry;
	struct client *owner;		    /* NULL: of another domain */
	union gid_wire_message description; /* IMPORTED, as readers get it */
	int fd;				    /* -1: of another domain */
	uint32_t window;		    /* of ours, where it lies in one */
	uint64_t bytes;			    /* of the whole file, or of its part of a window */
	uint64_t charged;		    /* to the owner's quota; a window's memory is already */
	struct domain_set grants;	    /* the owner's */
	struct domain_set withheld;	    /* to these it may not be lent by others, either */
	bool evicting;			    /* its owner was told to leave its memory */
	bool inherited;	  /* exported before this gidd ran: who has it is not known */
	uint64_t inode;	  /* of another domain's memory: tells whether it is the same again */
	bool unconfirmed; /* the link was lost since: it was not asked for again yet */
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

void slab_init(struct gidd *gidd);

/* By gid_slab_key(); NULL: there is none. */
struct slab *slab_find(struct gidd *gidd, uint32_t key);

/* --- of this domain --------------------------------------------------------------------------- */

void slab_export(struct client *client, const struct gid_wire_export *request, int *fd);
void slab_unexport(struct client *client, const struct gid_wire_unexport *request);
/* The client is gone. Whoever has its slabs hears that they are gone. */
void slab_destroy_all_of(struct client *client);
/* Whether the client has exported a part of that range of the domain's own windows. */
bool slab_is_in(const struct client *client, const struct gid_wire_allocated *range);

/* By its owner, or lent by another client of the same domain. */
bool slab_is_granted(const struct slab *slab, uint32_t domain);

/*
 * Of the owner, or of another client of its domain that has the slab: a compositor lends what its
 * clients draw. That gives nothing away that it could not give as a copy, for it has the slab, and
 * the readers are those whom the configuration lets read the domain's memory. It ends with the
 * lender, who can take back only its own loans; the owner can take back everything.
 */
void slab_grant(struct client *client, const struct gid_wire_grant *request);
/* The configuration has changed. Takes back what it does not allow any more: how many grants. */
uint32_t slab_revoke_unshared(struct gidd *gidd);

/*
 * The owner's client is to leave memory that some may not read any more: that of the slab, of all
 * in a range of a window, or of the slabs beside windows that were lent to those whom its streams
 * were taken from (returns how many).
 */
void slab_evict(struct slab *slab);
void slab_evict_range(struct client *client, uint32_t window, uint64_t offset, uint64_t size);
uint32_t slab_evict_withdrawn(struct gidd *gidd);
/* Ends those that it has not left. */
void slab_end_eviction(struct gidd *gidd);

/* For a gid of this domain. */
void slab_import(struct peer *peer, const struct gid_wire_import *request);
/* The peer has let go of a slab of this domain, or a client of one of another's. */
void slab_unimport(struct peer *peer, const struct gid_wire_import *request);
/* The answer of one form: what there is, is not told. */
void slab_refuse(struct peer *peer, uint32_t serial);
/* All that it asked other domains for, and that they have not answered yet. */
void slab_refuse_requests(struct peer *peer);
/* It may have it no more. It hears of that; the slab may be gone then, as one of another's. */
void slab_take_import(struct import *import);
/* The peer is gone and holds nothing any more, and waits for nothing. */
void slab_forget_importer(struct peer *peer);

/* --- of other domains ------------------------------------------------------------------------- */

/* For a client: its gidd is asked. */
void slab_import_foreign(struct peer *peer, const struct gid_wire_import *request);
/* From the link to another domain. */
void slab_revoked(struct peer *link, const struct gid_wire_revoked *revoked);
/* The domain's machine is gone, and its memory may become anything. */
void slab_destroy_of_domain(struct gidd *gidd, uint32_t domain);

/*
 * The link was lost: slabs may die with their owners, and nobody tells us. What was imported before
 * is unconfirmed until it has been asked for again, some time after the link is up.
 */
void slab_mark_unconfirmed(struct gidd *gidd, uint32_t domain);
void slab_revalidate_domain(struct link *link);

/* --- between slabs.c and slabs_foreign.c ------------------------------------------------------ */

/* NULL: there is no memory. It has no owner, and so is of another domain, until it is given one. */
struct slab *slab_create(struct gidd *gidd, const struct gid_wire_imported *description);
/* Whoever has it hears of that. */
void slab_destroy(struct gidd *gidd, struct slab *slab);
/* 0, also where the peer has it already, or -ENOMEM. */
int slab_add_import(struct slab *slab, struct peer *peer);
/* Nobody here has the slab of another domain any more: tells its gidd. */
void slab_send_unimported(struct gidd *gidd, gid_id gid);
/* As slab_refuse_requests(), but that the peer is gone. */
void slab_forget_requests(struct peer *peer);

#endif
