// SPDX-License-Identifier: MIT
/*
 * hostile-engine MODE CANVAS: a program that has the engine of the domain `cluster` do as much as
 * it can be made to, and writes what no library would.
 *
 * `random`: batches of random lists. `changing`: long lists that are good when they are sent, and
 * are written over while they are read. `endless`: lists that each fill the canvas a thousand
 * times, as fast as they are taken. `huge`: compositions of 64 layers of 4K, turned and scaled.
 */
#include <drm_fourcc.h>
#include <gid/engine.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ending.h"
#include "language.h"
#include "random.h"

#define SLOTS 8u
#define SLOT_WIDTH 1024u
#define SLOT_ROWS 32u
#define SLOT_WORDS (SLOT_WIDTH * SLOT_ROWS)
#define HEADER ((uint32_t)(sizeof(struct engine_batch) / 4))
#define FIRST ((uint32_t)(sizeof(struct engine_list) / 4)) /* word of a list: the first command */
#define CANVAS_WORDS ((uint32_t)(sizeof(struct engine_canvas) / 4))
#define FILL_WORDS ((uint32_t)(sizeof(struct engine_fill) / 4))
#define CANVAS_SIZE 1024u
#define RANDOM_WORDS 200u
#define FILLS 1000u
#define LAYERS 64u
#define SOURCE_WIDTH 3840u
#define SOURCE_HEIGHT 2160u
#define PATIENCE_MS 1000

struct hostile {
	struct gid_domain *domain;
	struct random random;
	uint64_t sent, refused;
};

/* --- what no library writes ------------------------------------------------------------------- */

struct raw {
	struct gid_slab *slab;
	struct gid_producer *producer;
};

static int raw_init(struct raw *raw, struct gid_domain *domain, const char *canvas) {
	const struct gid_producer_options options = {
			.size = sizeof(options), .credit_max = GID_CREDIT_MAX};
	struct gid_layout layout;
	char stream[GID_NAME_MAX + 1];
	snprintf(stream, sizeof(stream), ENGINE_LISTS_STREAM, canvas);
	int ret = gid_layout_init(&layout, DRM_FORMAT_ARGB8888, SLOT_WIDTH, SLOT_ROWS, 64);
	if (ret == 0) {
		ret = gid_slab_create(domain, &layout, 0, SLOTS, NULL, &raw->slab);
	}
	return ret < 0 ? ret : gid_producer_create(domain, stream, &options, &raw->producer);
}

/* Begins a batch of one list of so many words, which begins with a canvas. */
static uint32_t *begin_batch(uint32_t *slot, uint64_t serial, uint32_t words) {
	uint32_t *list = slot + HEADER;
	*(struct engine_batch *)(void *)slot = (struct engine_batch){.magic = ENGINE_BATCH_MAGIC,
			.version = ENGINE_VERSION,
			.serial = serial,
			.end = HEADER + words};
	*(struct engine_list *)(void *)list = (struct engine_list){.magic = ENGINE_MAGIC,
			.words = words,
			.fence_low = (uint32_t)serial,
			.fence_high = (uint32_t)(serial >> 32)};
	*(struct engine_canvas *)(void *)(list + FIRST) =
			(struct engine_canvas){.head = {ENGINE_CANVAS, CANVAS_WORDS},
					.width = CANVAS_SIZE,
					.height = CANVAS_SIZE,
					.fourcc = DRM_FORMAT_XRGB8888};
	return list + FIRST + CANVAS_WORDS;
}

static void write_random(struct hostile *hostile, uint32_t *slot, uint64_t serial) {
	uint32_t *words = begin_batch(slot, serial, RANDOM_WORDS);
	for (uint32_t i = 0; i < RANDOM_WORDS - FIRST - CANVAS_WORDS; i++) {
		words[i] = (uint32_t)random_next(&hostile->random) & (i % 2 ? 0xf000f : 0xffffff);
	}
	/* One command to the end, of any kind. */
	*(struct engine_head *)(void *)words =
			(struct engine_head){.opcode = (uint16_t)random_below(&hostile->random, 12),
					.words = RANDOM_WORDS - FIRST - CANVAS_WORDS};
}

static void write_long(struct hostile *hostile, uint32_t *slot, uint64_t serial) {
	const uint32_t size = SLOT_WORDS - HEADER, rectangles = size - FIRST - CANVAS_WORDS;
	uint32_t *words = begin_batch(slot, serial, size);
	struct engine_fill *fill = (struct engine_fill *)(void *)words;
	uint32_t count = (rectangles - FILL_WORDS) / 2;
	*fill = (struct engine_fill){.head = {ENGINE_FILL, (uint16_t)(FILL_WORDS + 2 * count)},
			.op = ENGINE_OVER,
			.colour = 0x11ffffff};
	for (uint32_t i = 0; i < count; i++) {
		fill->rectangles[i] = (struct engine_rectangle){.width = 256, .height = 256};
	}
	if (rectangles > FILL_WORDS + 2 * count) { /* an odd word: a command that does nothing */
		words[FILL_WORDS + 2 * count] = 1u << 16 | ENGINE_OPTIONAL;
	}
}

/* Random words of the slot, its header too, for as long as the engine may read it. */
static void change(struct hostile *hostile, uint32_t *slot) {
	for (uint32_t i = 0; i < SLOT_WORDS; i++) {
		uint64_t random = random_next(&hostile->random);
		((volatile uint32_t *)slot)[random % SLOT_WORDS] = (uint32_t)(random >> 32);
	}
}

static int run_raw(struct hostile *hostile, const char *canvas, bool changes) {
	struct raw raw;
	int ret = raw_init(&raw, hostile->domain, canvas);
	while (ret == 0 && !ending) {
		struct gid_frame frame = GID_FRAME_INIT;
		uint32_t number = (uint32_t)(hostile->sent % SLOTS);
		uint32_t *slot = gid_slab_data(raw.slab, number);
		(changes ? write_long : write_random)(hostile, slot, hostile->sent + 1);
		frame.gid = gid_slab_gid(raw.slab, number);
		if (gid_producer_send(raw.producer, &frame) == 1) {
			hostile->sent++;
			if (changes) {
				change(hostile, slot);
			}
		} else {
			struct pollfd fd = {gid_producer_get_fd(raw.producer), POLLIN, 0};
			hostile->refused++;
			poll(&fd, 1, 1);
			gid_domain_dispatch(hostile->domain);
			gid_producer_dispatch(raw.producer);
		}
	}
	return ret;
}

/* --- what the library writes, but too much of it ---------------------------------------------- */

static int make_source(struct gid_domain *domain, struct gid_canvas *canvas, gid_id *gid) {
	struct gid_layout layout;
	struct gid_slab *slab;
	int ret = gid_layout_init(&layout, DRM_FORMAT_ARGB8888, SOURCE_WIDTH, SOURCE_HEIGHT, 64);
	if (ret == 0) {
		ret = gid_slab_create(domain, &layout, 0, 1, NULL, &slab);
	}
	if (ret < 0) {
		return ret;
	}
	memset(gid_slab_data(slab, 0), 0x44, gid_layout_size(&layout));
	*gid = gid_slab_gid(slab, 0);
	return gid_canvas_share(canvas, slab);
}

static void put_fills(struct gid_canvas *canvas) {
	static struct gid_rectangle all[FILLS];
	for (uint32_t i = 0; i < FILLS; i++) {
		all[i] = (struct gid_rectangle){0, 0, CANVAS_SIZE, CANVAS_SIZE};
	}
	gid_list_fill(canvas, GID_OPERATOR_OVER, 0x11ffffff, all, FILLS);
}

static void put_layers(struct hostile *hostile, struct gid_canvas *canvas, gid_id gid) {
	for (uint32_t i = 0; i < LAYERS; i++) {
		const struct gid_layer layer = {.gid = gid,
				.alpha = 200,
				.bilinear = true,
				.transform = (uint8_t)random_below(&hostile->random, 8),
				.box = {0, 0, CANVAS_SIZE, CANVAS_SIZE}};
		gid_list_layer(canvas, &layer);
	}
}

static int run_canvas(struct hostile *hostile, const char *name, bool layers) {
	const struct gid_canvas_options options = {.size = sizeof(options),
			.width = CANVAS_SIZE,
			.height = CANVAS_SIZE,
			.connect_ms = 30000};
	struct gid_canvas *canvas;
	gid_id source = GID_NONE;
	int ret = gid_canvas_create(hostile->domain, "cluster", name, &options, &canvas);
	if (ret < 0) {
		fprintf(stderr, "hostile-engine: %s\n", gid_canvas_create_error());
		return ret;
	}
	ret = layers ? make_source(hostile->domain, canvas, &source) : 0;
	while (ret == 0 && !ending) {
		uint64_t fence = 0;
		ret = gid_list_begin(canvas);
		if (ret == 0 && layers) {
			put_layers(hostile, canvas, source);
		} else if (ret == 0) {
			put_fills(canvas);
		}
		ret = ret == 0 ? gid_list_present(canvas, false, GID_TIME_NONE) : ret;
		ret = ret == 0 ? gid_list_submit(canvas, &fence) : ret;
		hostile->sent += ret == 0;
		/* Two are always under way. That one is refused, for its time, is what may be. */
		while (fence > 1 && !ending && gid_canvas_wait(canvas, fence - 1, 100) < 0) {
			hostile->refused++;
		}
	}
	return ending ? 0 : ret;
}

int main(int argc, char **argv) {
	struct hostile hostile = {.random = {.state = 7}};
	const char *mode = argc == 3 ? argv[1] : "";
	bool raw = strcmp(mode, "random") == 0 || strcmp(mode, "changing") == 0;
	if (!raw && strcmp(mode, "endless") != 0 && strcmp(mode, "huge") != 0) {
		fprintf(stderr, "usage: hostile-engine random|changing|endless|huge CANVAS\n");
		return EXIT_FAILURE;
	}
	ending_init();
	if (gid_domain_connect(NULL, &hostile.domain) < 0) {
		fprintf(stderr, "hostile-engine: %s\n", gid_domain_connect_error());
		return EXIT_FAILURE;
	}
	int ret = raw ? run_raw(&hostile, argv[2], strcmp(mode, "changing") == 0)
		      : run_canvas(&hostile, argv[2], strcmp(mode, "huge") == 0);
	if (ret < 0) {
		fprintf(stderr, "hostile-engine: %s\n", gid_domain_error(hostile.domain));
		return EXIT_FAILURE;
	}
	printf("{\"sent\": %" PRIu64 ", \"refused\": %" PRIu64 "}\n", hostile.sent,
			hostile.refused);
	return EXIT_SUCCESS;
}
