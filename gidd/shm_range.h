// SPDX-License-Identifier: MIT
/**
 * Ranges of the domain's own window, dealt out to its clients.
 *
 * A client has a descriptor of the whole window: clients of such a domain trust each other in that.
 * Each range has a description of its own with a lock on it, which lives as long as anybody has it
 * open or mapped: so a gidd that comes back does not deal out what clients of the one before it
 * use.
 *
 * Whatever was in a range before is nobody's business: it is cleaned before it is given. That is
 * done in pieces between other things, for a window can be as large as the machine's memory; the
 * clients that wait take turns.
 */
#ifndef GIDD_SHM_RANGE_H
#define GIDD_SHM_RANGE_H

#include "client.h"

/* ALLOC of a client, and FREE; `in_use`: a slab is in it. */
void shm_range_alloc(struct client *client, const struct gid_wire_alloc *request);
void shm_range_free(struct client *client, const struct gid_wire_allocated *request, bool in_use);
/* The client is gone. */
void shm_range_free_all_of(struct client *client);

/*
 * What a client says that it has of our window: whether it was given that. Where it has it from a
 * gidd before this one, and `adopt` is set, it keeps it. 0 or -errno with a sentence.
 */
int shm_range_check(struct client *client, int fd, uint64_t offset, uint64_t size, bool adopt,
		const char **why);

/* Puts a descriptor of our window that can only read in the place of one that can write. */
int shm_range_make_read_only(struct gidd *gidd, int *fd);

#endif
