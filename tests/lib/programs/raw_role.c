// SPDX-License-Identifier: MIT
/*
 * A role whose picture is in any format: `raw-role STREAM FILE FORMAT WIDTH HEIGHT MATRIX RANGE
 * [STRIDE | X Y WIDTH HEIGHT TRANSFORM]` sends the picture of the file, which has its rows without
 * padding, 50 times a second until it is ended. The crop and how it is turned go with each frame.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <errno.h>
#include <gid/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "visible.h"

#define SLOTS 4
#define PAD 128 /* of rows in the slab, so that padding is not taken for pixels */

struct source {
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_slab *slab;
	struct gid_layout layout;
	struct gid_frame frame;
};

static uint32_t number(const char *text) {
	return (uint32_t)strtoul(text, NULL, 10);
}

static uint32_t fourcc(const char *name) {
	return fourcc_code(name[0], name[1], name[2], name[3]);
}

static void check(int error, const char *what) {
	if (error < 0) {
		errx(1, "%s: %s", what, gid_strerror(error));
	}
}

/* The file's rows, in each slot. */
static void fill(struct source *source, FILE *file, uint32_t slot) {
	uint8_t *data = gid_slab_data(source->slab, slot);
	rewind(file);
	for (uint32_t i = 0; i < source->layout.plane_count; i++) {
		const struct gid_plane *plane = &source->layout.planes[i];
		uint32_t row = gid_format_row_bytes(source->layout.fourcc, i, source->layout.width);
		uint32_t rows = gid_format_rows(source->layout.fourcc, i, source->layout.height);
		for (uint32_t y = 0; y < rows; y++) {
			uint8_t *to = data + plane->offset + (size_t)y * plane->stride;
			memset(to, 0xa5, plane->stride);
			if (fread(to, row, 1, file) != 1) {
				errx(1, "the file is too short");
			}
		}
	}
}

static uint64_t hash(const struct source *source) {
	struct visible visible;
	check(visible_init(&visible, &source->layout, &source->frame.crop), "the crop");
	size_t size = gid_layout_size(&visible.layout);
	void *rows = malloc(size);
	if (rows == NULL) {
		err(1, NULL);
	}
	visible_copy(&visible, gid_slab_view(source->slab, 0), rows);
	uint64_t value = XXH3_64bits(rows, size);
	free(rows);
	return value;
}

static void handle_released(void *data, gid_id gid) {
	struct source *source = data;
	gid_slab_give(source->slab, gid_slot_of(gid));
}

int main(int argc, char **argv) {
	if (argc != 8 && argc != 9 && argc != 13) {
		errx(2, "wrong arguments");
	}
	struct source source = {.frame = GID_FRAME_INIT};
	FILE *file = fopen(argv[2], "r");
	if (file == NULL) {
		err(1, "%s", argv[2]);
	}
	check(gid_layout_init(&source.layout, fourcc(argv[3]), number(argv[4]), number(argv[5]),
			      PAD),
			"the layout");
	source.layout.colours.matrix = (uint8_t)number(argv[6]);
	source.layout.colours.range = (uint8_t)number(argv[7]);
	if (argc == 9) { /* of the first plane, which is to be the only one */
		source.layout.planes[0].stride = number(argv[8]);
	}
	if (argc == 13) {
		source.frame.crop = (struct gid_box){(int32_t)number(argv[8]),
				(int32_t)number(argv[9]), (int32_t)number(argv[10]),
				(int32_t)number(argv[11])};
		source.frame.transform = number(argv[12]);
	}
	struct gid_producer_options options = {
			.size = sizeof(options), .released = handle_released, .data = &source};
	check(gid_domain_connect(NULL, &source.domain), "the domain");
	check(gid_slab_create(source.domain, &source.layout, 0, SLOTS, NULL, &source.slab),
			"the slab");
	check(gid_producer_create(source.domain, argv[1], &options, &source.producer), argv[1]);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		fill(&source, file, slot);
	}
	source.frame.content_hash = hash(&source);
	source.frame.flags = GID_FRAME_HASH;
	while (true) {
		int slot = gid_slab_take(source.slab);
		if (slot >= 0) {
			source.frame.gid = gid_slab_gid(source.slab, (uint32_t)slot);
			if (gid_producer_send(source.producer, &source.frame) <= 0) {
				gid_slab_give(source.slab, (uint32_t)slot);
			}
		}
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		gid_domain_dispatch(source.domain);
		gid_producer_dispatch(source.producer);
	}
}
