// SPDX-License-Identifier: MIT
/**
 * What a consumer holds: for how long it may, whether it still does, a copy that stays, and what
 * the producer says of it.
 */
#include <errno.h>
#include <string.h>

#include "consumer.h"
#include "slab_object.h"

int gid_consumer_renew(struct gid_consumer *consumer) {
	if (consumer->shared == NULL) {
		return -ENOTCONN;
	}
	consumer->renewed = gid_clock_now();
	gid_ring_renew(&consumer->ring);
	return 0;
}

int gid_consumer_holds(const struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab, uint64_t *until) {
	if (frame->index < consumer->lost) {
		return -ESTALE;
	}
	if (consumer->shared == NULL || frame->index - consumer->base > INT64_MAX) {
		return -ENOTCONN; /* the frame went back with its subscription */
	}
	bool held = gid_ring_is_held(&consumer->ring, frame->index - consumer->base);
	bool current = gid_slab_is_current(slab, frame->gid);
	/* Read last: at its end a stream reclaims all frames, and then its slabs end. */
	bool closed = __atomic_load_n(&consumer->shared->closed, __ATOMIC_ACQUIRE) != 0;
	if (gid_life_is_over(&consumer->life)) {
		return -ESTALE; /* a machine was restored; whatever else ended with that */
	}
	if (closed) {
		return -ENOTCONN;
	}
	if (held && slab->info.revoked) {
		return -ENOENT;
	}
	if (!held || !current) {
		return -ESTALE;
	}
	if (until != NULL) {
		uint64_t lease = __atomic_load_n(&consumer->shared->lease_ns, __ATOMIC_RELAXED);
		*until = consumer->renewed > frame->submit_time ? consumer->renewed
								: frame->submit_time;
		if (lease == 0 || __builtin_add_overflow(*until, lease, until)) {
			*until = GID_TIME_NONE;
		}
	}
	return 0;
}

int gid_consumer_keep(const struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab, void *to) {
	uint32_t slot = gid_slot_of(frame->gid);
	const void *view = gid_slab_view(slab, slot);
	if (view == NULL) {
		return -EINVAL;
	}
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	bool is_dmabuf = info.memory == GID_MEMORY_DMABUF;
	int error = is_dmabuf ? gid_dmabuf_begin_read(info.fd) : 0;
	if (error < 0) {
		return error;
	}
	memcpy(to, view, gid_slab_content_size(slab, slot));
	if (is_dmabuf) {
		gid_dmabuf_end_read(info.fd);
	}
	return gid_consumer_holds(consumer, frame, slab, NULL);
}

/* --- metadata --------------------------------------------------------------------------------- */

/*
 * A producer may name another slab with each frame, and each costs a request to gidd: at most one
 * in this time.
 */
#define IMPORT_NS UINT64_C(100000000)

static int import_metadata(struct gid_consumer *consumer, gid_id gid) {
	struct gid_slab *slab = consumer->metadata;
	if (slab != NULL && gid_slab_key(slab->info.gid) == gid_slab_key(gid) &&
			!slab->info.revoked) {
		return 0;
	}
	uint64_t now = gid_clock_now();
	if (consumer->domain == NULL) {
		return -ENOTCONN;
	}
	if (now < consumer->metadata_again) {
		return -EAGAIN;
	}
	consumer->metadata_again = now + IMPORT_NS;
	gid_slab_unref(slab);
	consumer->metadata = NULL;
	return gid_slab_import(consumer->domain, gid, &consumer->metadata);
}

int gid_consumer_get_metadata(struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab, void *to, uint32_t room) {
	if (frame->metadata == GID_NONE) {
		return 0;
	}
	if (consumer->shared == NULL) {
		return -ENOTCONN;
	}
	int error = import_metadata(consumer, frame->metadata);
	if (error < 0) {
		return error;
	}
	const struct gid_slab *from = consumer->metadata;
	const struct gid_wire_metadata *place = gid_slab_view(from, gid_slot_of(frame->metadata));
	if (place == NULL || from->info.memory == GID_MEMORY_DMABUF ||
			from->info.slot_size < sizeof(*place)) {
		return -EPROTO;
	}
	uint32_t size = __atomic_load_n(&place->size, __ATOMIC_RELAXED);
	if (size > GID_METADATA_MAX || size > from->info.slot_size - sizeof(*place)) {
		return -EPROTO;
	}
	if (size > room) {
		return -EMSGSIZE;
	}
	memcpy(to, place->bytes, size);
	error = gid_consumer_holds(consumer, frame, slab, NULL);
	return error < 0 ? error : (int)size;
}
