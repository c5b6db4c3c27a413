// SPDX-License-Identifier: MIT
/** The slabs that frames of a stream lie in: its consumers' domains get the grant to read them. */
#include <errno.h>
#include <stdlib.h>

#include "producer.h"

static struct gid_slab *find(struct gid_producer *producer, uint32_t key) {
	return gid_slab_find(producer->domain, (gid_id)key << 32);
}

/* Forgets those that are gone, so that a stream of ever new slabs does not grow. */
static void forget_gone(struct gid_producer *producer) {
	uint32_t kept = 0;
	for (uint32_t i = 0; i < producer->slab_count; i++) {
		if (find(producer, producer->slabs[i]) != NULL) {
			producer->slabs[kept++] = producer->slabs[i];
		}
	}
	producer->slab_count = kept;
}

static int make_space(struct gid_producer *producer) {
	forget_gone(producer);
	if (producer->slab_count * 2 < producer->slab_space) {
		return 0;
	}
	uint32_t space = producer->slab_space == 0 ? 8 : producer->slab_space * 2;
	uint32_t *slabs = realloc(producer->slabs, space * sizeof(*slabs));
	if (slabs == NULL) {
		return -ENOMEM;
	}
	producer->slabs = slabs;
	producer->slab_space = space;
	return 0;
}

int gid_stream_slabs_add(struct gid_producer *producer, gid_id gid) {
	uint32_t key = gid_slab_key(gid);
	for (uint32_t i = 0; i < producer->slab_count; i++) {
		if (producer->slabs[i] == key) {
			return 0;
		}
	}
	if (producer->slab_count == producer->slab_space) {
		int error = make_space(producer);
		if (error < 0) {
			return error;
		}
	}
	producer->slabs[producer->slab_count++] = key;
	return 0;
}

/* Whoever is in the slab's own domain may read it anyway. */
static bool needs_grant(
	const struct gid_producer *producer, const struct gid_slab *slab, uint32_t reader) {
	return reader != gid_domain_number(producer->domain) && !gid_slab_is_granted(slab, reader);
}

int gid_stream_slabs_grant(struct gid_producer *producer, uint32_t reader) {
	for (uint32_t i = 0; i < producer->slab_count; i++) {
		struct gid_slab *slab = find(producer, producer->slabs[i]);
		if (slab != NULL && needs_grant(producer, slab, reader)) {
			int error = gid_slab_grant_post(slab, reader);
			if (error < 0) {
				return error;
			}
		}
	}
	return 0;
}

int gid_stream_slabs_grant_one(
	struct gid_producer *producer, struct gid_slab *slab, uint32_t reader) {
	return needs_grant(producer, slab, reader) ? gid_slab_grant(slab, reader) : 0;
}
