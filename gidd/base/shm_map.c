// SPDX-License-Identifier: MIT
#include "shm_map.h"

#include <stdlib.h>

void shm_map_init(struct shm_map *map, uint64_t begin, uint64_t end) {
	map->begin = begin;
	map->end = end;
	map->ended_at = NULL;
	TAILQ_INIT(&map->ranges);
	TAILQ_INIT(&map->ended);
}

void shm_map_finish(struct shm_map *map) {
	struct shm_range *range;
	while ((range = TAILQ_FIRST(&map->ranges)) != NULL) {
		shm_map_remove(map, range);
	}
	while ((range = TAILQ_FIRST(&map->ended)) != NULL) {
		shm_map_forget(map, range);
	}
	free(map->ended_at);
	map->ended_at = NULL;
}

bool shm_map_find(const struct shm_map *map, uint64_t from, uint64_t size, uint64_t *offset) {
	const struct shm_range *range;
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

static bool is_valid(const struct shm_map *map, uint64_t offset, uint64_t size) {
	return size > 0 && offset % SHM_PAGE == 0 && size % SHM_PAGE == 0 && offset >= map->begin &&
			offset <= map->end && size <= map->end - offset;
}

struct shm_range *shm_map_add(
		struct shm_map *map, uint64_t offset, uint64_t size, struct client *client) {
	if (!is_valid(map, offset, size)) {
		return NULL;
	}
	struct shm_range *behind;
	TAILQ_FOREACH(behind, &map->ranges, entry) {
		if (behind->offset + behind->size > offset) {
			break;
		}
	}
	if (behind != NULL && behind->offset < offset + size) {
		return NULL;
	}
	struct shm_range *range = calloc(1, sizeof(*range));
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

void shm_map_remove(struct shm_map *map, struct shm_range *range) {
	TAILQ_REMOVE(&map->ranges, range, entry);
	free(range);
}

static struct shm_range **page_of(const struct shm_map *map, uint64_t offset) {
	return &map->ended_at[(offset - map->begin) / SHM_PAGE];
}

static void set_pages(struct shm_map *map, const struct shm_range *range, struct shm_range *ended) {
	for (uint64_t at = 0; at < range->size; at += SHM_PAGE) {
		*page_of(map, range->offset + at) = ended;
	}
}

bool shm_map_end(struct shm_map *map, struct shm_range *range) {
	if (map->ended_at == NULL) {
		map->ended_at = calloc(
				(map->end - map->begin) / SHM_PAGE + 1, sizeof(*map->ended_at));
	}
	if (map->ended_at == NULL) {
		return false;
	}
	TAILQ_REMOVE(&map->ranges, range, entry);
	TAILQ_INSERT_TAIL(&map->ended, range, entry);
	set_pages(map, range, range);
	return true;
}

struct shm_range *shm_map_ended(const struct shm_map *map, uint64_t offset, uint64_t size) {
	if (map->ended_at == NULL) {
		return NULL;
	}
	for (uint64_t at = 0; at < size; at += SHM_PAGE) {
		struct shm_range *range = *page_of(map, offset + at);
		if (range != NULL) {
			return range;
		}
	}
	return NULL;
}

void shm_map_forget(struct shm_map *map, struct shm_range *range) {
	TAILQ_REMOVE(&map->ended, range, entry);
	set_pages(map, range, NULL);
	free(range);
}

struct shm_range *shm_map_around(const struct shm_map *map, uint64_t offset, uint64_t size) {
	struct shm_range *range;
	TAILQ_FOREACH(range, &map->ranges, entry) {
		if (range->offset <= offset && offset - range->offset <= range->size &&
				size <= range->size - (offset - range->offset)) {
			return range;
		}
	}
	return NULL;
}

struct shm_range *shm_map_at(const struct shm_map *map, uint64_t offset, uint64_t size) {
	struct shm_range *range = shm_map_around(map, offset, size);
	return range != NULL && range->offset == offset && range->size == size ? range : NULL;
}

uint64_t shm_map_used(const struct shm_map *map) {
	const struct shm_range *range;
	uint64_t used = 0;
	TAILQ_FOREACH(range, &map->ranges, entry) {
		used += range->size;
	}
	return used;
}
