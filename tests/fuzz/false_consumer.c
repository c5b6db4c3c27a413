// SPDX-License-Identifier: MIT
/* For what links streams of others, or clipboards, and never has one here. */
#include <errno.h>
#include <gid/stream.h>

int gid_consumer_create(struct gid_domain *domain, const char *owner, const char *name,
		const struct gid_consumer_options *options, struct gid_consumer **consumer) {
	return -ENOTCONN;
}

void gid_consumer_destroy(struct gid_consumer *consumer) {
}

int gid_consumer_get_fd(const struct gid_consumer *consumer) {
	return -1;
}

enum gid_consumer_state gid_consumer_get_state(const struct gid_consumer *consumer) {
	return GID_CONSUMER_ENDED;
}

void gid_consumer_get_stats(const struct gid_consumer *consumer, struct gid_consumer_stats *stats) {
	*stats = (struct gid_consumer_stats){0};
}

int gid_consumer_receive(struct gid_consumer *consumer, struct gid_frame *frame) {
	return -EAGAIN;
}

int gid_consumer_release(struct gid_consumer *consumer, const struct gid_frame *frame) {
	return 0;
}

const void *gid_slab_view_untouched(const struct gid_slab *slab, uint32_t slot) {
	return NULL;
}

void gid_slab_destroy(struct gid_slab *slab, bool wipe) {
}

uint64_t gid_slab_emptied(const struct gid_slab *slab) {
	return 0;
}
