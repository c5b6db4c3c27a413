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

/* All that was given to a client in one piece, of which this is a part, as ALLOCATED names it. */
void shm_range_find(struct gidd *gidd, uint32_t window, uint64_t offset, uint64_t size,
		struct gid_wire_allocated *range);

/* A slab lies in one of our windows that has its generations there. */
void shm_range_set_table(struct gidd *gidd, uint32_t window, uint64_t table, uint64_t end);

/*
 * Calls `each` for every range that is newly found to be in a window with readers who may not read
 * it any more. Returns how many there are.
 */
typedef void shm_range_func(struct client *client, uint32_t window, uint64_t offset, uint64_t size);
uint32_t shm_range_evict_unshared(struct gidd *gidd, shm_range_func *each);
/* The same for the one that all of this lies in; false: there is none. */
bool shm_range_evict(struct gidd *gidd, uint32_t window, uint64_t offset, uint64_t size);
/* Has all those emptied that are not being emptied. False: there are none. */
bool shm_range_empty_evicted(struct gidd *gidd);
/* The hub has emptied a piece of a window of ours. */
void shm_range_punched(struct gidd *gidd, uint64_t place, uint64_t size);

/* The hub says of a window of ours who reads it: those who waited for that get their memory. */
void shm_range_own_window(struct gidd *gidd, const struct gid_wire_own_window *window);

/* Puts a descriptor of our window that can only read in the place of one that can write. */
int shm_range_make_read_only(struct gidd *gidd, int *fd);

#endif
