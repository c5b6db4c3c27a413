// SPDX-License-Identifier: MIT
/**
 * A hash table from a number other than 0 to a pointer: open addressing with linear probing, at
 * most half full. Finding the same again costs no call, for it happens with each frame.
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
	uint64_t removed; /* keys, ever: as long as it stays, what was found is there */
	/* What was found last, or 0 and NULL: nearly always it is wanted again. */
	uint32_t last_key;
	void *last;
};

void *gid_table_search(struct gid_table *table, uint32_t key);

static inline void *gid_table_find(struct gid_table *table, uint32_t key) {
	return key == table->last_key ? table->last : gid_table_search(table, key);
}

/* Adds a key that is not in the table, or returns -ENOMEM. */
int gid_table_add(struct gid_table *table, uint32_t key, void *value);

/* Takes a key out, if it is there. */
void gid_table_remove(struct gid_table *table, uint32_t key);

void gid_table_finish(struct gid_table *table);

#endif
