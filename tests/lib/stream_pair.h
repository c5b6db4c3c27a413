// SPDX-License-Identifier: MIT
/** Both ends of a stream in one process, which are told what to do step by step. */
#ifndef GID_TESTS_STREAM_PAIR_H
#define GID_TESTS_STREAM_PAIR_H

#include <gid/stream.h>

#include "cockpit.h"
#include "tap.h"

/* Longer than any machine takes for a few steps: what a producer has otherwise is a second. */
#define LEASE_PATIENT_NS UINT64_C(60000000000)

static struct gid_domain *open_domain, *cluster_domain;
static const struct gid_layout layout = {
		.fourcc = 0x34325258, /* XR24 */
		.width = 64,
		.height = 16,
		.plane_count = 1,
		.planes = {{0, 256}},
};

static struct {
	uint32_t released;
	gid_id last_released;
	uint32_t joined, left;
	int state_count, reason;
	enum gid_consumer_state state;
} heard;

static inline void hear_released(void *data, gid_id gid) {
	heard.released++;
	heard.last_released = gid;
}

static inline void hear_subscriber(void *data, uint32_t domain, bool joined, uint32_t consumers) {
	heard.joined += joined;
	heard.left += !joined;
}

static inline void hear_state(void *data, enum gid_consumer_state state, int reason) {
	heard.state_count++;
	heard.state = state;
	heard.reason = reason;
}

/* `lease_ns`: 0 where none is to run out. */
static inline struct gid_producer *produce(uint64_t lease_ns, uint32_t credit) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.lease_ns = lease_ns != 0 ? lease_ns : LEASE_PATIENT_NS,
			.credit_max = credit,
			.released = hear_released,
			.subscriber = hear_subscriber,
	};
	struct gid_producer *producer = NULL;
	int error = gid_producer_create(open_domain, "movie", &options, &producer);
	tap_ok(error == 0, "a producer (%s)", gid_domain_error(open_domain));
	return producer;
}

static inline struct gid_consumer *consume(uint32_t credit, bool drop_old, bool reconnect) {
	struct gid_consumer_options options = {
			.size = sizeof(options),
			.credit = credit,
			.drop_old = drop_old,
			.reconnect = reconnect,
			.state = hear_state,
	};
	struct gid_consumer *consumer = NULL;
	int error = gid_consumer_create(cluster_domain, "open", "movie", &options, &consumer);
	tap_ok(error == 0, "a consumer (%s)", gid_domain_error(cluster_domain));
	return consumer;
}

/* Lets everybody hear what there is to hear, and what is said to that, a few times. */
static inline void settle(struct gid_producer *producer) {
	for (int i = 0; i < 4; i++) {
		cockpit_pass_on(open_domain, cluster_domain);
		gid_domain_dispatch(open_domain);
		gid_domain_dispatch(cluster_domain);
		if (producer != NULL) {
			gid_producer_dispatch(producer);
		}
	}
}

static inline bool is_readable(int fd) {
	struct pollfd poll_fd = {fd, POLLIN, 0};
	return poll(&poll_fd, 1, 0) == 1;
}

static inline int send_slot(struct gid_producer *producer, struct gid_slab *slab, uint32_t slot) {
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(slab, slot);
	frame.pts = slot;
	return gid_producer_send(producer, &frame);
}

static inline struct gid_slab *make_slab(uint32_t slots) {
	struct gid_slab *slab = NULL;
	if (gid_slab_create(open_domain, &layout, 0, slots, NULL, &slab) < 0) {
		tap_ok(false, "a slab: %s", gid_domain_error(open_domain));
	}
	return slab;
}

static inline bool stream_pair_init(void) {
	return tap_ok(cockpit_init() && gid_domain_connect("open", &open_domain) == 0 &&
					gid_domain_connect("cluster", &cluster_domain) == 0,
			"two domains run");
}

/* What main() returns. */
static inline int stream_pair_finish(void) {
	gid_domain_destroy(cluster_domain);
	gid_domain_destroy(open_domain);
	cockpit_finish();
	return tap_finish();
}

#endif
