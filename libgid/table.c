// SPDX-License-Identifier: MIT
#include "table.h"

#include <errno.h>
#include <stdlib.h>

#define SIZE_FIRST 16u

/* Where the search for a key begins: Knuth's multiplicative hash, TAOCP 3, 6.4. */
static uint32_t home_of(const struct gid_table *table, uint32_t key) {
	uint32_t hash = key * 2654435769u;
	return (hash ^ hash >> 16) & (table->size - 1);
}

static void put(struct gid_table *table, uint32_t key, void *value) {
	uint32_t at = home_of(table, key);
	while (table->places[at].key != 0) {
		at = (at + 1) & (table->size - 1);
	}
	table->places[at] = (struct gid_table_place){key, value};
	table->count++;
}

static int grow(struct gid_table *table) {
	struct gid_table grown = {
			.size = table->size == 0 ? SIZE_FIRST : table->size * 2,
			.removed = table->removed,
	};
	grown.places = calloc(grown.size, sizeof(*grown.places));
	if (grown.places == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < table->size; i++) {
		if (table->places[i].key != 0) {
			put(&grown, table->places[i].key, table->places[i].value);
		}
	}
	free(table->places);
	*table = grown; /* also forgets what was found last, which is no harm */
	return 0;
}

void *gid_table_search(struct gid_table *table, uint32_t key) {
	if (table->count == 0 || key == 0) {
		return NULL;
	}
	uint32_t at = home_of(table, key);
	while (table->places[at].key != 0) {
		if (table->places[at].key == key) {
			table->last_key = key;
			table->last = table->places[at].value;
			return table->last;
		}
		at = (at + 1) & (table->size - 1);
	}
	return NULL;
}

int gid_table_add(struct gid_table *table, uint32_t key, void *value) {
	if ((table->count + 1) * 2 > table->size) {
		int error = grow(table);
		if (error < 0) {
			return error;
		}
	}
	put(table, key, value);
	return 0;
}

void gid_table_remove(struct gid_table *table, uint32_t key) {
	if (gid_table_find(table, key) == NULL) {
		return;
	}
	uint32_t mask = table->size - 1;
	uint32_t hole = home_of(table, key);
	while (table->places[hole].key != key) {
		hole = (hole + 1) & mask;
	}
	/* Close the gap: whoever's search would pass through it moves into it. */
	for (uint32_t at = (hole + 1) & mask; table->places[at].key != 0; at = (at + 1) & mask) {
		uint32_t home = home_of(table, table->places[at].key);
		if (((at - home) & mask) >= ((at - hole) & mask)) {
			table->places[hole] = table->places[at];
			hole = at;
		}
	}
	table->places[hole] = (struct gid_table_place){0};
	table->count--;
	table->removed++;
	table->last_key = 0;
	table->last = NULL;
}

void gid_table_finish(struct gid_table *table) {
	free(table->places);
	*table = (struct gid_table){0};
}
