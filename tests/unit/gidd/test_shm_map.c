// SPDX-License-Identifier: MIT
/* The ranges of a window against the plainest map there is, through many additions and removals. */
#include "shm_map.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tap.h"

#define PAGES 64u

static bool used[PAGES];

/* Where the first free run of that many pages begins, at or behind a page; PAGES: there is none. */
static uint32_t find_run(uint32_t from, uint32_t count) {
	for (uint32_t at = from; at + count <= PAGES; at++) {
		uint32_t length = 0;
		while (length < count && !used[at + length]) {
			length++;
		}
		if (length == count) {
			return at;
		}
	}
	return PAGES;
}

static bool finds_the_same(const struct shm_map *map, uint32_t from, uint32_t count) {
	uint64_t offset;
	/* Page 0 of the map is page 1 of the window, behind the header. */
	bool found = shm_map_find(
			map, (from + 1) * UINT64_C(4096), count * UINT64_C(4096), &offset);
	uint32_t run = find_run(from, count);
	return found == (run < PAGES) && (!found || offset == (run + 1) * UINT64_C(4096));
}

static void test_against_model(void) {
	struct shm_map map;
	bool same = true, exact = true;
	shm_map_init(&map, SHM_PAGE, (PAGES + 1) * (uint64_t)SHM_PAGE);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		uint32_t page = (uint32_t)rand() % PAGES, count = 1 + (uint32_t)rand() % 9;
		uint64_t offset = (page + 1) * UINT64_C(4096), size = count * UINT64_C(4096);
		bool fits = page + count <= PAGES && find_run(page, count) == page;
		if (rand() % 2 == 0) {
			struct shm_range *range = shm_map_add(&map, offset, size, NULL);
			exact &= (range != NULL) == fits;
			memset(used + page, 1, range == NULL ? 0 : count);
		} else {
			struct shm_range *range = shm_map_around(&map, offset, 4096);
			exact &= (range != NULL) == used[page];
			if (range != NULL) {
				exact &= shm_map_at(&map, range->offset, range->size) == range;
				memset(used + range->offset / 4096 - 1, 0, range->size / 4096);
				shm_map_remove(&map, range);
			}
		}
		same &= finds_the_same(&map, page, count);
		uint64_t pages = 0;
		for (uint32_t at = 0; at < PAGES; at++) {
			pages += used[at];
		}
		exact &= shm_map_used(&map) == pages * 4096;
	}
	tap_ok(same, "it finds the first place that is free");
	tap_ok(exact, "it takes what is free, and nothing else");
	shm_map_finish(&map);
}

static void test_edges(void) {
	struct shm_map map;
	uint64_t offset;
	shm_map_init(&map, 4096, 4 * 4096);
	tap_ok(shm_map_add(&map, 0, 4096, NULL) == NULL, "the first page is not dealt out");
	tap_ok(shm_map_add(&map, 4 * 4096, 4096, NULL) == NULL, "nor what is behind the last");
	tap_ok(shm_map_add(&map, 4096, 4 * 4096, NULL) == NULL, "nor more than there is");
	tap_ok(shm_map_add(&map, 4097, 4096, NULL) == NULL, "nor parts of pages");
	tap_ok(shm_map_add(&map, 4096, 100, NULL) == NULL, "of whatever size");
	tap_ok(shm_map_add(&map, 4096, UINT64_MAX & ~UINT64_C(4095), NULL) == NULL,
			"or a wrapping one");
	tap_ok(!shm_map_find(&map, 0, 4 * 4096, &offset), "what is too much is not found");
	tap_ok(!shm_map_find(&map, UINT64_MAX, 4096, &offset), "nor behind everything");
	tap_ok(shm_map_find(&map, 0, 3 * 4096, &offset) && offset == 4096, "all of it is");
	struct shm_range *range = shm_map_add(&map, 8192, 4096, NULL);
	tap_ok(range != NULL, "the middle is taken");
	tap_ok(shm_map_around(&map, 8192 + 4000, 96) == range, "its last bytes are in it");
	tap_ok(shm_map_around(&map, 8192 + 4000, 97) == NULL, "what leaves it is not");
	tap_ok(shm_map_around(&map, 8192, UINT64_MAX) == NULL, "however far");
	tap_ok(shm_map_at(&map, 8192, 4095) == NULL, "a part of it is not the whole");
	shm_map_finish(&map);
	tap_ok(shm_map_used(&map) == 0, "nothing is left");
}

/* Of each page what ended there, by a table of the test's own. */
static bool knows_the_same(const struct shm_map *map, struct shm_range *const ended[PAGES]) {
	for (uint32_t page = 0; page < PAGES; page++) {
		uint64_t offset = (page + 1) * UINT64_C(4096);
		uint32_t first = page;
		while (first < PAGES && ended[first] == NULL) {
			first++;
		}
		if (shm_map_ended(map, offset, 4096) != ended[page] ||
				shm_map_ended(map, offset, (PAGES - page) * UINT64_C(4096)) !=
						(first < PAGES ? ended[first] : NULL)) {
			return false;
		}
	}
	return true;
}

static void test_ended(void) {
	static struct shm_range *ended[PAGES];
	struct shm_map map;
	bool same = true;
	shm_map_init(&map, SHM_PAGE, (PAGES + 1) * (uint64_t)SHM_PAGE);
	same &= knows_the_same(&map, ended);
	for (int i = 0; i < 5000; i++) {
		uint32_t page = (uint32_t)rand() % PAGES, count = 1 + (uint32_t)rand() % 9;
		struct shm_range *there = ended[page];
		if (there != NULL) {
			memset(ended + there->offset / 4096 - 1, 0,
					there->size / 4096 * sizeof(ended[0]));
			shm_map_forget(&map, there);
		} else if (page + count <= PAGES) {
			uint64_t offset = (page + 1) * UINT64_C(4096),
				 size = count * UINT64_C(4096);
			struct shm_range *range = shm_map_ended(&map, offset, size) == NULL
					? shm_map_add(&map, offset, size, NULL)
					: NULL;
			same &= range == NULL || shm_map_end(&map, range);
			for (uint32_t at = 0; range != NULL && at < count; at++) {
				ended[page + at] = range;
			}
		}
		same &= knows_the_same(&map, ended);
	}
	tap_ok(same && shm_map_used(&map) == 0, "what ended is known, and free");
	shm_map_finish(&map);
}

#define MANY 65536u /* ranges, of a page each */
#define SECONDS 2   /* of the processor: a walk through all of them for each takes more */

static void test_many(void) {
	struct shm_map map;
	struct timespec begin, end;
	uint32_t forgotten = 0;
	shm_map_init(&map, SHM_PAGE, (MANY + 1) * (uint64_t)SHM_PAGE);
	for (uint64_t page = MANY; page > 0; page--) {
		struct shm_range *range = shm_map_add(&map, page * SHM_PAGE, SHM_PAGE, NULL);
		if (range != NULL) {
			shm_map_end(&map, range);
		}
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (uint64_t page = 1; page <= MANY; page++) {
		struct shm_range *range = shm_map_ended(&map, page * SHM_PAGE, SHM_PAGE);
		if (range != NULL) {
			shm_map_forget(&map, range);
			forgotten++;
		}
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	tap_ok(forgotten == MANY && end.tv_sec - begin.tv_sec < SECONDS,
			"%u are forgotten in no time", forgotten);
	shm_map_finish(&map);
}

int main(void) {
	test_against_model();
	test_edges();
	test_ended();
	test_many();
	return tap_finish();
}
