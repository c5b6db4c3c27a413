// SPDX-License-Identifier: MIT
/*
 * hostile-rings MODE STREAM: a producer that does to the consumers of its stream what no honest one
 * would, as fast as they can be done. Reaches into libgid where an honest program could not do it.
 *
 * `notes`: the end of the flow, and nothing to show, in turn. `bells`: the doorbell, for nothing.
 * `wakes`: the same once for each sleep of the consumer, as one rings who has something for it.
 * `traps`: descriptors with the doorbell whose last close blocks for seconds. `sparse`: frames of
 * 16 MiB of memory, of which nobody has touched a page: few pixels, in rows that lie far apart.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../../../libgid/producer.h"
#include "ending.h"
#include "traps.h"

#define BATCH 64u
#define TRAPS_PAUSE_NS 2000000
#define SPARSE_PAUSE_NS 20000000 /* that a reader has to map it */
#define SPARSE_WIDTH 320u
#define SPARSE_HEIGHT 80u
#define SPARSE_STRIDE (204u << 10)

struct rings {
	struct gid_domain *domain;
	struct gid_producer *producer;
	uint64_t sent, refused;
};

static void do_notes(struct rings *rings) {
	for (unsigned i = 0; i < BATCH; i++) {
		struct gid_frame frame = GID_FRAME_INIT;
		frame.flags = i % 2 == 0 ? GID_FRAME_EOS : GID_FRAME_HIDDEN;
		rings->sent += gid_producer_send(rings->producer, &frame) > 0;
	}
}

static void do_bells(struct rings *rings) {
	struct gid_subscription *subscription = rings->producer->subscriptions;
	for (; subscription != NULL; subscription = subscription->next) {
		for (unsigned i = 0; i < BATCH; i++) {
			int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
			ssize_t sent = send(subscription->doorbell.fd, "", 1, flags);
			*(sent == 1 ? &rings->sent : &rings->refused) += 1;
		}
	}
}

static void do_wakes(struct rings *rings) {
	struct gid_subscription *subscription = rings->producer->subscriptions;
	for (; subscription != NULL; subscription = subscription->next) {
		uint64_t asleep = __atomic_load_n(&subscription->page->asleep, __ATOMIC_ACQUIRE);
		if (ring_sleeps_unrung(asleep, subscription->ring.rung)) {
			subscription->ring.rung = asleep;
			gid_doorbell_ring(&subscription->doorbell);
			rings->sent++;
		}
	}
}

static void do_traps(struct rings *rings) {
	struct gid_subscription *subscription = rings->producer->subscriptions;
	for (; subscription != NULL; subscription = subscription->next) {
		bool sent = traps_send(subscription->doorbell.fd, "", 1) == 0;
		*(sent ? &rings->sent : &rings->refused) += 1;
	}
	nanosleep(&(struct timespec){.tv_nsec = TRAPS_PAUSE_NS}, NULL);
}

static int make_sparse(uint64_t size) {
	int fd = memfd_create("sparse", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 &&
			(ftruncate(fd, (off_t)size) < 0 ||
					fcntl(fd, F_ADD_SEALS,
							F_SEAL_SHRINK | F_SEAL_GROW |
									F_SEAL_WRITE) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void do_sparse(struct rings *rings) {
	struct gid_layout layout;
	struct gid_slab *slab;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, SPARSE_WIDTH, SPARSE_HEIGHT, 64);
	layout.planes[0].stride = SPARSE_STRIDE;
	int fd = make_sparse(gid_layout_size(&layout));
	if (fd < 0 || gid_slab_export(rings->domain, fd, 0, &layout, NULL, &slab) < 0) {
		rings->refused++;
	} else {
		struct gid_frame frame = GID_FRAME_INIT;
		frame.gid = gid_slab_gid(slab, 0);
		rings->sent += gid_producer_send(rings->producer, &frame) > 0;
		nanosleep(&(struct timespec){.tv_nsec = SPARSE_PAUSE_NS}, NULL);
		gid_slab_destroy(slab, false);
	}
	if (fd >= 0) {
		close(fd);
	}
}

static const struct {
	const char *name;
	void (*act)(struct rings *rings);
} modes[] = {{"notes", do_notes}, {"bells", do_bells}, {"wakes", do_wakes}, {"traps", do_traps},
		{"sparse", do_sparse}};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static int rings_init(struct rings *rings, const char *stream) {
	struct gid_producer_options options = {.size = sizeof(options)};
	if (gid_domain_connect(NULL, &rings->domain) < 0) {
		fprintf(stderr, "hostile-rings: %s\n", gid_domain_connect_error());
		return -1;
	}
	int ret = gid_producer_create(rings->domain, stream, &options, &rings->producer);
	if (ret < 0) {
		fprintf(stderr, "hostile-rings: %s\n", gid_domain_error(rings->domain));
	}
	return ret;
}

int main(int argc, char **argv) {
	static struct rings rings;
	unsigned mode = 0;
	while (argc == 3 && mode < MODES && strcmp(argv[1], modes[mode].name) != 0) {
		mode++;
	}
	if (argc != 3 || mode == MODES) {
		fprintf(stderr, "usage: hostile-rings notes|bells|wakes|traps|sparse STREAM\n");
		return EXIT_FAILURE;
	}
	if (rings_init(&rings, argv[2]) < 0) {
		return EXIT_FAILURE;
	}
	ending_init();
	while (!ending) {
		gid_domain_dispatch(rings.domain);
		gid_producer_dispatch(rings.producer);
		if (rings.producer->subscriptions != NULL) {
			modes[mode].act(&rings);
		} else {
			struct pollfd events = {gid_domain_get_fd(rings.domain), POLLIN, 0};
			poll(&events, 1, 1);
		}
	}
	printf("{\"sent\": %" PRIu64 ", \"refused\": %" PRIu64 "}\n", rings.sent, rings.refused);
	return EXIT_SUCCESS;
}
