// SPDX-License-Identifier: MIT
/*
 * Sends pictures of any format in streams, again and again until it is ended. Each line of its
 * input is `STREAM FORMAT WIDTH HEIGHT MATRIX RANGE FILE`, between tabs: from then on the stream
 * has this picture, whose file has the rows without padding.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STREAMS_MAX 64
#define SLOTS 2

struct source {
	char name[64];
	struct gid_producer *producer;
	struct gid_slab *slab;
};

static struct gid_domain *domain;
static struct source sources[STREAMS_MAX];

static void check(int error, const char *what) {
	if (error < 0) {
		errx(1, "%s: %s", what, gid_strerror(error));
	}
}

static void handle_released(void *data, gid_id gid) {
	struct source *source = data;
	if (source->slab != NULL &&
			gid_slab_key(gid) == gid_slab_key(gid_slab_gid(source->slab, 0))) {
		gid_slab_give(source->slab, gid_slot_of(gid));
	}
}

static struct source *find_source(const char *name) {
	for (size_t i = 0; i < STREAMS_MAX; i++) {
		struct source *source = &sources[i];
		if (source->producer == NULL) {
			const struct gid_producer_options options = {.size = sizeof(options),
					.released = handle_released,
					.data = source};
			snprintf(source->name, sizeof(source->name), "%s", name);
			check(gid_producer_create(domain, name, &options, &source->producer), name);
			return source;
		}
		if (strcmp(source->name, name) == 0) {
			return source;
		}
	}
	errx(1, "more than %d streams", STREAMS_MAX);
}

/* The file's rows in each slot; between them what must not be taken for pixels. */
static void fill(struct gid_slab *slab, const struct gid_layout *layout, const char *path) {
	FILE *file = fopen(path, "r");
	if (file == NULL) {
		err(1, "%s", path);
	}
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		uint8_t *data = gid_slab_data(slab, slot);
		memset(data, 0xa5, gid_layout_size(layout));
		rewind(file);
		for (uint32_t i = 0; i < layout->plane_count; i++) {
			const uint32_t row = gid_format_row_bytes(layout->fourcc, i, layout->width);
			const uint32_t rows = gid_format_rows(layout->fourcc, i, layout->height);
			for (uint32_t y = 0; y < rows; y++) {
				uint8_t *to = data + layout->planes[i].offset +
						(size_t)y * layout->planes[i].stride;
				if (fread(to, row, 1, file) != 1) {
					errx(1, "%s is too short", path);
				}
			}
		}
	}
	fclose(file);
}

static void take_line(const char *line) {
	char name[64], letters[5], path[512];
	unsigned width, height, matrix, range;
	struct gid_layout layout;
	struct gid_slab *slab;
	if (sscanf(line, "%63[^\t]\t%4[^\t]\t%u\t%u\t%u\t%u\t%511[^\n]", name, letters, &width,
			    &height, &matrix, &range, path) != 7) {
		errx(1, "not a picture: %s", line);
	}
	check(gid_layout_init(&layout, fourcc_code(letters[0], letters[1], letters[2], letters[3]),
			      width, height, 64),
			letters);
	layout.colours.matrix = (uint8_t)matrix;
	layout.colours.range = (uint8_t)range;
	check(gid_slab_create(domain, &layout, 0, SLOTS, NULL, &slab), "a slab");
	fill(slab, &layout, path);
	struct source *source = find_source(name);
	struct gid_slab *before = source->slab;
	source->slab = slab;
	if (before != NULL) {
		gid_slab_destroy(before, false);
	}
}

static void send(struct source *source) {
	struct gid_frame frame = GID_FRAME_INIT;
	int slot = gid_slab_take(source->slab);
	if (slot >= 0) {
		frame.gid = gid_slab_gid(source->slab, (uint32_t)slot);
		if (gid_producer_send(source->producer, &frame) <= 0) {
			gid_slab_give(source->slab, (uint32_t)slot);
		}
	}
	gid_producer_dispatch(source->producer);
}

/* The whole lines that are there. */
static void read_lines(void) {
	static char text[65536];
	static size_t length;
	ssize_t got = read(STDIN_FILENO, text + length, sizeof(text) - 1 - length);
	if (got == 0) {
		exit(0);
	}
	length += got > 0 ? (size_t)got : 0;
	text[length] = '\0';
	char *line = text;
	for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		take_line(line);
	}
	length -= (size_t)(line - text);
	memmove(text, line, length);
}

int main(void) {
	check(gid_domain_connect(NULL, &domain), "the domain");
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	while (true) {
		read_lines();
		gid_domain_dispatch(domain);
		for (size_t i = 0; i < STREAMS_MAX && sources[i].producer != NULL; i++) {
			send(&sources[i]);
		}
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
}
