// SPDX-License-Identifier: MIT
/**
 * A hash table from a number other than 0 to a pointer: open addressing with linear probing, at
 * most half full. Finding costs no call, for it happens once a frame.
 */
#ifndef GID_TABLE_H
#define GID_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct gid_table_place {
	uint32_t key; /* 0: free */
	void *value;
};

/* All zeroes is an empty table. */
struct gid_table {
	struct gid_table_place *places;
	uint32_t size; /* a power of two, or 0 */
	uint32_t count;
	uint32_t last; /* the place that was found last: nearly always it is wanted again */
};

/* Where the search for a key begins: Knuth's multiplicative hash, TAOCP 3, 6.4. */
static inline uint32_t gid_table_home(const struct gid_table *table, uint32_t key) {
	uint32_t hash = key * 2654435769u;
	return (hash ^ hash >> 16) & (table->size - 1);
}

static inline void *gid_table_find(struct gid_table *table, uint32_t key) {
	if (table->count == 0 || key == 0) {
		return NULL;
	}
	if (table->places[table->last].key == key) {
		return table->places[table->last].value;
	}
	uint32_t at = gid_table_home(table, key);
	while (table->places[at].key != 0) {
		if (table->places[at].key == key) {
			table->last = at;
			return table->places[at].value;
		}
		at = (at + 1) & (table->size - 1);
	}
	return NULL;
}

/* Adds a key that is not in the table, or returns -ENOMEM. */
int gid_table_add(struct gid_table *table, uint32_t key, void *value);

/* Takes a key out, if it is there. */
void gid_table_remove(struct gid_table *table, uint32_t key);

void gid_table_finish(struct gid_table *table);

#endif
