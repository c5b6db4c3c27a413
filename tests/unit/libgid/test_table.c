// SPDX-License-Identifier: MIT
/* The hash table against the plainest one there is, through many additions and removals. */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define KEYS 3000u

static char values[KEYS + 1];
static bool there[KEYS + 1];

/* Keys that differ in few bits, as those of the slabs of one domain do, or in the upper ones. */
static uint32_t key_of(uint32_t i, bool upper) {
	return upper ? i << 24 | i >> 8 : i;
}

static bool agrees(struct gid_table *table, bool upper) {
	uint32_t count = 0;
	for (uint32_t i = 1; i <= KEYS; i++) {
		if (gid_table_find(table, key_of(i, upper)) != (there[i] ? &values[i] : NULL)) {
			return false;
		}
		count += there[i];
	}
	return count == table->count;
}

static void test_churn(bool upper) {
	struct gid_table table = {0};
	memset(there, 0, sizeof(there));
	bool good = agrees(&table, upper);
	srandom(1);
	for (int step = 0; step < 200000 && good; step++) {
		uint32_t i = 1 + (uint32_t)random() % KEYS;
		if (there[i]) {
			gid_table_remove(&table, key_of(i, upper));
		} else {
			good = gid_table_add(&table, key_of(i, upper), &values[i]) == 0;
		}
		there[i] = !there[i];
		if (step % 5000 == 0) {
			good = good && agrees(&table, upper);
		}
	}
	tap_ok(good && agrees(&table, upper), "it agrees with a plain one, %s keys",
			upper ? "scattered" : "dense");
	tap_ok(table.count * 2 <= table.size, "and is at most half full");
	gid_table_finish(&table);
}

int main(void) {
	struct gid_table table = {0};
	tap_ok(gid_table_find(&table, 1) == NULL, "nothing is in an empty table");
	gid_table_remove(&table, 1);
	tap_ok(gid_table_add(&table, 7, values) == 0 && gid_table_find(&table, 7) == values,
			"a key is found");
	tap_ok(gid_table_find(&table, 0) == NULL, "the key 0 is none");
	gid_table_remove(&table, 8);
	tap_ok(table.count == 1, "removing what is not there changes nothing");
	gid_table_remove(&table, 7);
	tap_ok(gid_table_find(&table, 7) == NULL && table.count == 0, "a key is removed");
	gid_table_finish(&table);
	test_churn(false);
	test_churn(true);
	return tap_finish();
}
