// SPDX-License-Identifier: MIT
/*
 * hostile-costly STREAM FORMAT WIDTH HEIGHT TRANSFORM [LEASE]: pictures with the right hash, each
 * of them new, as often as they are taken, 250 times a second at most: in a format, and turned in a
 * way, that cost their reader as much as can be. A reader has each for a second, or for so many.
 * `hostile-costly formats`: all that there are.
 */
#include <drm_fourcc.h>
#include <endian.h>
#include <err.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "ending.h"
#include "visible.h"

#define SLOTS 6
#define PERIOD_NS 4000000
#define SECOND_NS 1000000000ull

struct costly {
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_slab *slab;
	struct gid_layout layout;
	struct visible visible;
	void *rows;
	uint32_t transform;
	uint64_t sent, refused;
};

static void check(int error, const char *what) {
	if (error < 0) {
		errx(EXIT_FAILURE, "%s: %s", what, gid_strerror(error));
	}
}

static void handle_released(void *data, gid_id gid) {
	const struct costly *costly = data;
	gid_slab_give(costly->slab, gid_slot_of(gid));
}

static void send_picture(struct costly *costly) {
	int slot = gid_slab_take(costly->slab);
	if (slot < 0) {
		return;
	}
	uint8_t *picture = gid_slab_data(costly->slab, (uint32_t)slot);
	memcpy(picture + costly->layout.planes[0].offset + 64, &costly->sent, sizeof(costly->sent));
	visible_copy(&costly->visible, picture, costly->rows);
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(costly->slab, (uint32_t)slot);
	frame.transform = costly->transform;
	frame.flags = GID_FRAME_HASH;
	frame.content_hash = XXH3_64bits(costly->rows, gid_layout_size(&costly->visible.layout));
	if (gid_producer_send(costly->producer, &frame) > 0) {
		costly->sent++;
	} else {
		costly->refused++;
		gid_slab_give(costly->slab, (uint32_t)slot);
	}
}

static void costly_init(struct costly *costly, char **argv) {
	const char *name = argv[2];
	struct gid_producer_options options = {
			.size = sizeof(options), .released = handle_released, .data = costly};
	options.lease_ns = argv[6] != NULL ? (uint64_t)atoi(argv[6]) * SECOND_NS : 0;
	const struct gid_box all = {0};
	if (gid_domain_connect(NULL, &costly->domain) < 0) {
		errx(EXIT_FAILURE, "%s", gid_domain_connect_error());
	}
	check(gid_layout_init(&costly->layout, fourcc_code(name[0], name[1], name[2], name[3]),
			      (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]), 64),
			name);
	check(visible_init(&costly->visible, &costly->layout, &all), name);
	check(gid_slab_create(costly->domain, &costly->layout, 0, SLOTS, NULL, &costly->slab),
			"the slab");
	check(gid_producer_create(costly->domain, argv[1], &options, &costly->producer), argv[1]);
	costly->transform = (uint32_t)atoi(argv[5]);
	costly->rows = malloc(gid_layout_size(&costly->visible.layout));
	/* A translated guest has little time for that: each byte is drawn once. */
	const size_t size = gid_layout_size(&costly->layout);
	uint8_t *first = gid_slab_data(costly->slab, 0);
	for (size_t i = 0; i < size; i++) {
		first[i] = (uint8_t)(i * 31 + (i >> 10));
	}
	for (uint32_t slot = 1; slot < SLOTS; slot++) {
		memcpy(gid_slab_data(costly->slab, slot), first, size);
	}
}

static void print_formats(void) {
	const struct gid_format_info *format;
	for (size_t i = 0; (format = gid_format_at(i)) != NULL; i++) {
		printf("%.4s\n", (const char *)&(uint32_t){htole32(format->fourcc)});
	}
}

int main(int argc, char **argv) {
	static struct costly costly;
	if (argc == 2 && strcmp(argv[1], "formats") == 0) {
		print_formats();
		return EXIT_SUCCESS;
	}
	if (argc < 6 || argc > 7 || strlen(argv[2]) != 4) {
		errx(EXIT_FAILURE,
				"usage: hostile-costly STREAM FORMAT WIDTH HEIGHT TRANSFORM "
				"[LEASE]");
	}
	costly_init(&costly, argv);
	if (costly.rows == NULL) {
		err(EXIT_FAILURE, NULL);
	}
	ending_init();
	fprintf(stderr, "sends pictures\n");
	while (!ending) {
		gid_domain_dispatch(costly.domain);
		gid_producer_dispatch(costly.producer);
		send_picture(&costly);
		nanosleep(&(struct timespec){.tv_nsec = PERIOD_NS}, NULL);
	}
	printf("{\"sent\": %" PRIu64 ", \"refused\": %" PRIu64 "}\n", costly.sent, costly.refused);
	return EXIT_SUCCESS;
}
