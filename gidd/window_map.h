// SPDX-License-Identifier: MIT
/** Which ranges of a window are in use. Pure: knows offsets, touches no memory. */
#ifndef GIDD_WINDOW_MAP_H
#define GIDD_WINDOW_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define WINDOW_PAGE 4096u

struct client;

/* Whole pages, not more than the map has; no two overlap. */
struct window_range {
	TAILQ_ENTRY(window_range) entry; /* by offset */
	uint64_t offset, size;
	struct client *client; /* whose */
};

struct window_map {
	uint64_t begin, end;
	TAILQ_HEAD(window_ranges, window_range) ranges;
};

void window_map_init(struct window_map *map, uint64_t begin, uint64_t end);
void window_map_finish(struct window_map *map);

/* The first free `size` bytes at or behind `from`: true and where they begin. */
bool window_map_find(const struct window_map *map, uint64_t from, uint64_t size, uint64_t *offset);

/* Marks a range as used. NULL: it is not of whole pages, or not free, or there is no memory. */
struct window_range *window_map_add(
	struct window_map *map, uint64_t offset, uint64_t size, struct client *client);
void window_map_remove(struct window_map *map, struct window_range *range);

/* The range that begins there and has that size, or NULL. */
struct window_range *window_map_at(const struct window_map *map, uint64_t offset, uint64_t size);

/* The range that all of this lies in, or NULL. */
struct window_range *window_map_around(
	const struct window_map *map, uint64_t offset, uint64_t size);

/* Bytes in use. */
uint64_t window_map_used(const struct window_map *map);

#endif
