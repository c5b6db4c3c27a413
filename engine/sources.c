// SPDX-License-Identifier: MIT
#include "sources.h"

#include <errno.h>

#include "language.h"

_Static_assert(sizeof(((struct sources *)0)->used) / sizeof(struct source_use) == ENGINE_LAYERS_MAX,
		"one place for each layer of a list");

void sources_init(struct sources *sources, struct gid_domain *domain) {
	*sources = (struct sources){.domain = domain};
}

void sources_finish(struct sources *sources) {
	sources_forget(sources);
}

static void handle_revoked(void *data, struct gid_slab *slab) {
	struct source *source = data;
	source->revoked = true;
}

static void forget(struct source *source) {
	if (source->slab != NULL) {
		gid_slab_on_revoked(source->slab, NULL, source);
		gid_slab_unref(source->slab);
		*source = (struct source){0};
	}
}

void sources_forget(struct sources *sources) {
	for (size_t i = 0; i < SOURCES_MAX; i++) {
		forget(&sources->places[i]);
	}
	sources->used_count = 0;
}

void sources_begin(struct sources *sources, uint32_t owner) {
	sources->owner = owner;
	sources->list++;
	sources->used_count = 0;
}

void sources_end(struct sources *sources) {
	for (uint32_t i = 0; i < sources->used_count; i++) {
		const struct gid_slab_info *info = &sources->used[i].source->info;
		if (info->memory == GID_MEMORY_DMABUF) {
			gid_dmabuf_end_read(info->fd);
		}
	}
	sources->used_count = 0;
}

/* The place of a slab. If it has none: a free place, or that of the slab used longest ago. */
static struct source *find_place(struct sources *sources, uint32_t key) {
	struct source *best = NULL;
	for (size_t i = 0; i < SOURCES_MAX; i++) {
		struct source *place = &sources->places[i];
		if (place->slab != NULL && place->revoked && place->used != sources->list) {
			forget(place);
		}
		if (place->slab != NULL && place->key == key && !place->revoked) {
			return place;
		}
		if (best == NULL || (place->slab == NULL && best->slab != NULL) ||
				(place->slab != NULL && best->slab != NULL &&
						place->used < best->used)) {
			best = place;
		}
	}
	return best;
}

static int import(struct sources *sources, struct source *place, gid_id gid) {
	struct gid_slab *slab;
	forget(place);
	int ret = gid_slab_import(sources->domain, gid, &slab);
	if (ret < 0) {
		return ret;
	}
	*place = (struct source){.slab = slab, .key = gid_slab_key(gid)};
	gid_slab_get_info(slab, &place->info);
	ret = gid_slab_on_revoked(slab, handle_revoked, place);
	if (ret < 0) {
		gid_slab_unref(slab);
		*place = (struct source){0};
	}
	return ret;
}

static bool has(const struct source *place, gid_id gid) {
	return place->slab != NULL && place->key == gid_slab_key(gid);
}

struct gid_slab *sources_expect(struct sources *sources, gid_id gid) {
	struct source *place = gid_domain_of(gid) == sources->owner
			? find_place(sources, gid_slab_key(gid))
			: NULL;
	if (place == NULL || has(place, gid) || import(sources, place, gid) < 0) {
		return NULL;
	}
	place->used = sources->list;
	return place->slab;
}

int sources_find(struct sources *sources, gid_id gid, struct picture *picture) {
	if (gid_domain_of(gid) != sources->owner) {
		return -ENOENT;
	}
	struct source *place = find_place(sources, gid_slab_key(gid));
	if (!has(place, gid)) {
		int ret = import(sources, place, gid);
		if (ret < 0) {
			return ret;
		}
	}
	if (!gid_slab_is_current(place->slab, gid)) {
		return -ENOENT;
	}
	const uint8_t *memory = gid_slab_view(place->slab, gid_slot_of(gid));
	if (memory == NULL) {
		return -ENOTSUP;
	}
	if (place->info.memory == GID_MEMORY_DMABUF && gid_dmabuf_begin_read(place->info.fd) != 0) {
		return -EAGAIN;
	}
	place->used = sources->list;
	sources->used[sources->used_count++] = (struct source_use){place, gid};
	*picture = (struct picture){
			.layout = place->info.layout,
			.memory = memory,
			.may_be_drawn = sources->owner == gid_domain_number(sources->domain),
			.is_dmabuf = place->info.memory == GID_MEMORY_DMABUF,
			.dmabuf = place->info.fd,
			.offset = place->info.offset + gid_slot_of(gid) * place->info.slot_size,
	};
	return 0;
}

bool sources_are_current(const struct sources *sources) {
	for (uint32_t i = 0; i < sources->used_count; i++) {
		const struct source_use *use = &sources->used[i];
		if (use->source->revoked || !gid_slab_is_current(use->source->slab, use->gid)) {
			return false;
		}
	}
	return true;
}
