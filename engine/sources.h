// SPDX-License-Identifier: MIT
/**
 * The pictures that a requester's lists name by their gids. Slabs stay imported, so that a later
 * frame costs nothing.
 *
 * A source is read only if it belongs to the requester's own domain, every program of which may
 * read it: the engine never lends what it may read to somebody who may not.
 */
#ifndef ENGINE_SOURCES_H
#define ENGINE_SOURCES_H

#include <gid/domain.h>

#include "source_picture.h"

#define SOURCES_MAX 256u /* slabs that stay imported */

struct source {
	struct gid_slab *slab; /* NULL: this place is free */
	uint32_t key;	       /* gid_slab_key() */
	bool revoked;
	uint64_t used; /* the list that used it last */
	struct gid_slab_info info;
};

/* A source that the present list uses. */
struct source_use {
	struct source *source;
	gid_id gid;
};

struct sources {
	struct gid_domain *domain;
	uint32_t owner; /* number of the requester's domain */
	uint64_t list;	/* counts lists */
	struct source places[SOURCES_MAX];
	struct source_use used[64]; /* ENGINE_LAYERS_MAX, of the list in work */
	uint32_t used_count;
};

void sources_init(struct sources *sources, struct gid_domain *domain);
void sources_finish(struct sources *sources);

/* A list of a program of that domain begins. */
void sources_begin(struct sources *sources, uint32_t owner);

/*
 * Finds a picture for the list in work, whose pixels may be read until sources_end(). May wait for
 * gidd where the slab is new. Returns 0; -ENOENT: it is unknown, not granted to the engine, out of
 * date or another domain's; -ENOTSUP: no processor can read it; -EAGAIN: a device still draws it;
 * or what gid_slab_import() returns.
 */
int sources_find(struct sources *sources, gid_id gid, struct picture *picture);

/*
 * Imports the slab of a gid that later lists will name, so that they need not wait for it. Returns
 * the slab if it is new, valid until the next call that finds or expects a source; else NULL.
 */
struct gid_slab *sources_expect(struct sources *sources, gid_id gid);

/* Whether all sources that this list has used so far are still valid. */
bool sources_are_current(const struct sources *sources);

/* The list ends. */
void sources_end(struct sources *sources);

/* The requester is gone: gives all slabs back. */
void sources_forget(struct sources *sources);

#endif
