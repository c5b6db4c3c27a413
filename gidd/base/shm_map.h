// SPDX-License-Identifier: MIT
/** Which ranges of a window are in use. Pure: knows offsets, touches no memory. */
#ifndef GIDD_SHM_MAP_H
#define GIDD_SHM_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define SHM_PAGE 4096u

struct client;

/* Whole pages, not more than the map has; no two overlap. */
struct shm_range {
	TAILQ_ENTRY(shm_range) entry; /* by offset */
	uint64_t offset, size;
	struct client *client;	   /* whose; NULL: it is being emptied */
	uint32_t readers;	   /* enum gid_wire_readers: for whom it was asked for, */
	char stream[64];	   /* and for which stream */
	bool adopted;		   /* by a gidd before this one: that is not known */
	uint64_t table, table_end; /* of the generations of the slab in it; 0: there is none */
	/*
	 * Somebody may not read any more what is in it. It is emptied, by pieces of which so many
	 * are not answered yet, and then again when its client has left it.
	 */
	bool left;
	uint32_t pieces;
	uint64_t session; /* of the transport that was asked */
	/* While it is being cleaned: how far, and the request that waits for it. See shm_range.h.
	 */
	TAILQ_ENTRY(shm_range) dirty_entry;
	bool dirty;
	uint64_t clean;
	uint32_t serial;
};

struct shm_map {
	uint64_t begin, end;
	TAILQ_HEAD(shm_ranges, shm_range) ranges;
	struct shm_ranges ended;     /* free, but of use to know; no two overlap */
	struct shm_range **ended_at; /* for each page that which it is in; NULL: there was none */
};

void shm_map_init(struct shm_map *map, uint64_t begin, uint64_t end);
void shm_map_finish(struct shm_map *map);

/* The first free `size` bytes at or behind `from`: true and where they begin. */
bool shm_map_find(const struct shm_map *map, uint64_t from, uint64_t size, uint64_t *offset);

/* Marks a range as used. NULL: it is not of whole pages, or not free, or there is no memory. */
struct shm_range *shm_map_add(
		struct shm_map *map, uint64_t offset, uint64_t size, struct client *client);
void shm_map_remove(struct shm_map *map, struct shm_range *range);

/*
 * The same, but it is known until it is forgotten, before any of it is used again. False: there is
 * no memory to know it, and it is used as it was.
 */
bool shm_map_end(struct shm_map *map, struct shm_range *range);
/* The first of those that is in a part of this, which is in the map; NULL: none is. */
struct shm_range *shm_map_ended(const struct shm_map *map, uint64_t offset, uint64_t size);
void shm_map_forget(struct shm_map *map, struct shm_range *range);

/* The range that begins there and has that size, or NULL. */
struct shm_range *shm_map_at(const struct shm_map *map, uint64_t offset, uint64_t size);

/* The range that all of this lies in, or NULL. */
struct shm_range *shm_map_around(const struct shm_map *map, uint64_t offset, uint64_t size);

/* Bytes in use. */
uint64_t shm_map_used(const struct shm_map *map);

#endif
