// SPDX-License-Identifier: MIT
/** What a consumer holds: for how long it may, whether it still does, and a copy that stays. */
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
	if (consumer->shared == NULL || frame->index - consumer->base > INT64_MAX) {
		return -ENOTCONN; /* it went back with its subscription */
	}
	bool held = gid_ring_is_held(&consumer->ring, frame->index - consumer->base);
	bool current = gid_slab_is_current(slab, frame->gid);
	/* Read last: at its end a stream takes all back, and then its slabs end. */
	if (__atomic_load_n(&consumer->shared->closed, __ATOMIC_ACQUIRE) != 0) {
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
