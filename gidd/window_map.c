// SPDX-License-Identifier: MIT
#include "window_map.h"

#include <stdlib.h>

void window_map_init(struct window_map *map, uint64_t begin, uint64_t end) {
	map->begin = begin;
	map->end = end;
	TAILQ_INIT(&map->ranges);
}

void window_map_finish(struct window_map *map) {
	struct window_range *range;
	while ((range = TAILQ_FIRST(&map->ranges)) != NULL) {
		window_map_remove(map, range);
	}
}

bool window_map_find(const struct window_map *map, uint64_t from, uint64_t size, uint64_t *offset) {
	const struct window_range *range;
	uint64_t at = from > map->begin ? from : map->begin;
	TAILQ_FOREACH(range, &map->ranges, entry) {
		if (range->offset + range->size <= at) {
			continue;
		}
		if (range->offset >= at && range->offset - at >= size) {
			break;
		}
		at = range->offset + range->size;
	}
	*offset = at;
	return at <= map->end && map->end - at >= size;
}

static bool is_valid(const struct window_map *map, uint64_t offset, uint64_t size) {
	return size > 0 && offset % WINDOW_PAGE == 0 && size % WINDOW_PAGE == 0 &&
		offset >= map->begin && offset <= map->end && size <= map->end - offset;
}

struct window_range *window_map_add(
	struct window_map *map, uint64_t offset, uint64_t size, struct client *client) {
	if (!is_valid(map, offset, size)) {
		return NULL;
	}
	struct window_range *behind;
	TAILQ_FOREACH(behind, &map->ranges, entry) {
		if (behind->offset + behind->size > offset) {
			break;
		}
	}
	if (behind != NULL && behind->offset < offset + size) {
		return NULL;
	}
	struct window_range *range = calloc(1, sizeof(*range));
	if (range == NULL) {
		return NULL;
	}
	range->offset = offset;
	range->size = size;
	range->client = client;
	if (behind != NULL) {
		TAILQ_INSERT_BEFORE(behind, range, entry);
	} else {
		TAILQ_INSERT_TAIL(&map->ranges, range, entry);
	}
	return range;
}

void window_map_remove(struct window_map *map, struct window_range *range) {
	TAILQ_REMOVE(&map->ranges, range, entry);
	free(range);
}

struct window_range *window_map_around(
	const struct window_map *map, uint64_t offset, uint64_t size) {
	struct window_range *range;
	TAILQ_FOREACH(range, &map->ranges, entry) {
		if (range->offset <= offset && offset - range->offset <= range->size &&
			size <= range->size - (offset - range->offset)) {
			return range;
		}
	}
	return NULL;
}

struct window_range *window_map_at(const struct window_map *map, uint64_t offset, uint64_t size) {
	struct window_range *range = window_map_around(map, offset, size);
	return range != NULL && range->offset == offset && range->size == size ? range : NULL;
}

uint64_t window_map_used(const struct window_map *map) {
	const struct window_range *range;
	uint64_t used = 0;
	TAILQ_FOREACH(range, &map->ranges, entry) {
		used += range->size;
	}
	return used;
}
