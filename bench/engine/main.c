// SPDX-License-Identifier: MIT
/*
 * What it costs to have the engine draw, against the same drawing in one's own process and memory.
 * Writes a line of JSON.
 *
 *     gid-bench-engine points direct|clipped                 in this process
 *     gid-bench-engine points WORDS whole|quarter            by lists of this many words, of which
 * no point is clipped, or a quarter of all gid-bench-engine layers COUNT FRAMES full-HD layers into
 * a full-HD canvas
 */
#include "drawing.h"
#include <drm_fourcc.h>
#include <err.h>
#include <gid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define POINTS 2000000u
#define WIDTH 640
#define HEIGHT 480
#define AREA_WIDTH 512u
#define AREA_HEIGHT 256u
#define CLIP_WIDTH 384u /* three quarters of the area */
#define COLOUR 0xff2266ccu
#define PIXEL 0x2339 /* the same as RGB565 */
#define LAYERS_MAX 8u
#define FULL_WIDTH 1920
#define FULL_HEIGHT 1080

static double seconds(clockid_t clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* --- points ----------------------------------------------------------------------------------- */

/*
 * The point `i`. To the compiler any point: each is drawn, or put into a list, by itself, as by a
 * program that draws one here and one there.
 */
static inline struct gid_point point_at(uint32_t i) {
	uint32_t x = i % AREA_WIDTH, y = i / AREA_WIDTH % AREA_HEIGHT;
	__asm__ volatile("" : "+r"(x), "+r"(y));
	return (struct gid_point){(int16_t)x, (int16_t)y};
}

static void points_direct(uint16_t *pixels) {
	for (uint32_t i = 0; i < POINTS; i++) {
		struct gid_point point = point_at(i);
		pixels[point.y * WIDTH + point.x] = PIXEL;
	}
}

static void points_clipped(uint16_t *pixels, int left, int top, int right, int bottom) {
	for (uint32_t i = 0; i < POINTS; i++) {
		struct gid_point point = point_at(i);
		if (point.x >= left && point.x < right && point.y >= top && point.y < bottom) {
			pixels[point.y * WIDTH + point.x] = PIXEL;
		}
	}
}

static void run_points_here(bool clipped) {
	uint16_t *pixels = malloc(WIDTH * HEIGHT * sizeof(*pixels));
	if (pixels == NULL) {
		err(1, "memory");
	}
	memset(pixels, 0, WIDTH * HEIGHT * sizeof(*pixels));
	int right = CLIP_WIDTH, bottom = AREA_HEIGHT;
	__asm__ volatile("" : "+r"(right), "+r"(bottom)); /* known only when it runs */
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), begin = seconds(CLOCK_MONOTONIC);
	if (clipped) {
		points_clipped(pixels, 0, 0, right, bottom);
	} else {
		points_direct(pixels);
	}
	double wall = seconds(CLOCK_MONOTONIC) - begin;
	printf("{\"wall_ms\": %.4f, \"cpu_ms\": %.4f, \"engine_cpu_ms\": 0}\n", wall * 1e3,
			(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e3);
	free(pixels);
}

static void fail(const struct gid_canvas *canvas, const char *what) {
	errx(1, "%s: %s", what, gid_canvas_error(canvas));
}

static struct gid_canvas *make_canvas(struct gid_domain **domain, uint32_t fourcc, uint32_t width,
		uint32_t height, uint32_t words, uint32_t spin_us) {
	struct gid_canvas *canvas;
	const struct gid_canvas_options options = {.size = sizeof(options),
			.fourcc = fourcc,
			.width = width,
			.height = height,
			.list_words = words,
			.lists = 32,
			.spin_us = spin_us,
			.connect_ms = 30000};
	if (gid_domain_connect(NULL, domain) < 0) {
		errx(1, "%s", gid_domain_connect_error());
	}
	if (gid_canvas_create(*domain, "cluster", "bench", &options, &canvas) < 0) {
		errx(1, "%s", gid_canvas_create_error());
	}
	return canvas;
}

/* The engine's own time is known once it pauses. */
static double engine_cpu(const struct gid_canvas *canvas) {
	struct gid_canvas_stats stats;
	nanosleep(&(struct timespec){0, 100000000}, NULL);
	gid_canvas_get_stats(canvas, &stats);
	return (double)stats.work_ns / 1e6;
}

/* One list, as long as it may be. Returns the index of the next point. */
static uint32_t send_points(
		struct gid_canvas *canvas, uint32_t next, bool clipped, uint64_t *fence) {
	const struct gid_rectangle clip = {0, 0, CLIP_WIDTH, AREA_HEIGHT};
	uint32_t count = POINTS - next;
	if (gid_list_begin(canvas) < 0) {
		fail(canvas, "a list");
	}
	gid_list_clip(canvas, &clip, clipped ? 1 : 0);
	struct gid_point *points = gid_list_new_points(canvas, COLOUR, &count);
	for (uint32_t i = 0; points != NULL && i < count; i++) {
		points[i] = point_at(next + i);
	}
	if (points == NULL || gid_list_submit(canvas, fence) < 0) {
		fail(canvas, "points");
	}
	return next + count;
}

static void run_points(uint32_t words, bool clipped) {
	struct gid_domain *domain;
	uint64_t fence;
	struct gid_canvas *canvas =
			make_canvas(&domain, DRM_FORMAT_RGB565, WIDTH, HEIGHT, words, 200);
	/* The canvas itself, and all slots of lists, before the time begins. */
	for (uint32_t i = 0; i < 64; i++) {
		send_points(canvas, POINTS - 1, clipped, &fence);
	}
	if (gid_canvas_wait(canvas, fence, -1) < 0) {
		fail(canvas, "the first lists");
	}
	double engine = engine_cpu(canvas);
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), begin = seconds(CLOCK_MONOTONIC);
	for (uint32_t next = 0; next < POINTS;) {
		next = send_points(canvas, next, clipped, &fence);
	}
	if (gid_canvas_wait(canvas, fence, -1) < 0) {
		fail(canvas, "points");
	}
	double wall = seconds(CLOCK_MONOTONIC) - begin;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("{\"wall_ms\": %.4f, \"cpu_ms\": %.4f, \"engine_cpu_ms\": %.4f}\n", wall * 1e3,
			cpu * 1e3, engine_cpu(canvas) - engine);
	gid_canvas_destroy(canvas);
	gid_domain_destroy(domain);
}

/* --- layers ----------------------------------------------------------------------------------- */

struct layers {
	uint32_t count;
	struct gid_domain *domain;
	struct gid_canvas *canvas;
	struct gid_layout layout;
	size_t size;
	struct drawing drawing;
	void *target;
	void *sources[LAYERS_MAX];
	struct gid_slab *slabs[LAYERS_MAX];
	struct gid_layer layers[LAYERS_MAX];
};

static void *make_memory(size_t size) {
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED) {
		err(1, "memory");
	}
	return memory;
}

static void draw_source(const struct layers *layers, void *memory, uint32_t number) {
	memset(memory, (int)(0x30 + number * 8), layers->size);
}

/* The same list as gid_canvas_compose() makes. */
static void compose_here(struct layers *layers) {
	const struct {
		struct engine_fill fill;
		struct engine_rectangle all;
	} fill = {{{ENGINE_FILL, 5}, ENGINE_SRC, 0xff000000}, {0, 0, FULL_WIDTH, FULL_HEIGHT}};
	drawing_begin(&layers->drawing, &layers->layout, layers->target);
	drawing_fill(&layers->drawing, &fill.fill);
	for (uint32_t i = 0; i < layers->count; i++) {
		const struct engine_layer layer = {.head = {ENGINE_LAYER, sizeof(layer) / 4},
				.op = ENGINE_OVER,
				.alpha = 255};
		const struct picture picture = {layers->layout, layers->sources[i]};
		drawing_layer(&layers->drawing, &layer, &picture);
	}
}

static void compose_there(struct layers *layers) {
	uint64_t fence;
	if (gid_canvas_compose(layers->canvas, layers->layers, layers->count, &fence) < 0 ||
			gid_canvas_wait(layers->canvas, fence, -1) < 0) {
		fail(layers->canvas, "layers");
	}
}

static void make_slabs(struct layers *layers) {
	for (uint32_t i = 0; i < layers->count; i++) {
		if (gid_slab_create(layers->domain, &layers->layout, 0, 1, NULL,
				    &layers->slabs[i]) < 0) {
			errx(1, "%s", gid_domain_error(layers->domain));
		}
		draw_source(layers, gid_slab_data(layers->slabs[i], 0), i);
		layers->layers[i] = (struct gid_layer){
				.gid = gid_slab_gid(layers->slabs[i], 0), .alpha = 255};
	}
}

static void share(struct layers *layers) {
	for (uint32_t i = 0; i < layers->count; i++) {
		if (gid_canvas_share(layers->canvas, layers->slabs[i]) < 0) {
			fail(layers->canvas, "a layer");
		}
	}
}

static void drop_slabs(struct layers *layers) {
	for (uint32_t i = 0; i < layers->count; i++) {
		gid_slab_destroy(layers->slabs[i], false);
	}
}

static void make_sources(struct layers *layers) {
	for (uint32_t i = 0; i < layers->count; i++) {
		layers->sources[i] = make_memory(layers->size);
		draw_source(layers, layers->sources[i], i);
	}
}

static void drop_sources(struct layers *layers) {
	for (uint32_t i = 0; i < layers->count; i++) {
		munmap(layers->sources[i], layers->size);
	}
}

static int compare(const void *one, const void *other) {
	double difference = *(const double *)one - *(const double *)other;
	return (difference > 0) - (difference < 0);
}

static double median(double *values, uint32_t count) {
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static double now_us(void) {
	return seconds(CLOCK_MONOTONIC) * 1e6;
}

/* One frame with memory that is made before it, and freed after it. */
static void fresh_here(struct layers *layers) {
	make_sources(layers);
	compose_here(layers);
	drop_sources(layers);
}

static void fresh_there(struct layers *layers) {
	make_slabs(layers);
	share(layers);
	compose_there(layers);
	drop_slabs(layers);
}

/*
 * Blocks of frames here and there in turn, so that noise meets both alike, and frames follow each
 * other as those of a film do. The first two of a block find the caches full of the other one's
 * pictures, and are not counted.
 */
static void run_frames(struct layers *layers, void (*here)(struct layers *),
		void (*there)(struct layers *), uint32_t frames, double found[2]) {
	enum { BLOCK = 8, SKIPPED = 2 };
	uint32_t blocks = (frames + BLOCK - 1) / BLOCK, count = 0;
	double *times[2] = {calloc(blocks * BLOCK, sizeof(double)),
			calloc(blocks * BLOCK, sizeof(double))};
	if (times[0] == NULL || times[1] == NULL) {
		err(1, "memory");
	}
	for (uint32_t block = 0; block < blocks; block++) {
		for (int side = 0; side < 2; side++) {
			for (uint32_t i = 0; i < SKIPPED + BLOCK; i++) {
				double begin = now_us();
				(side == 0 ? here : there)(layers);
				if (i >= SKIPPED) {
					times[side][count + i - SKIPPED] = now_us() - begin;
				}
			}
		}
		count += BLOCK;
	}
	for (int side = 0; side < 2; side++) {
		found[side] = median(times[side], count);
		free(times[side]);
	}
}

static void run_layers(uint32_t count, uint32_t frames) {
	struct layers layers = {.count = count};
	double later[2], fresh[2];
	gid_layout_init(&layers.layout, DRM_FORMAT_ARGB8888, FULL_WIDTH, FULL_HEIGHT, 64);
	layers.size = gid_layout_size(&layers.layout);
	layers.canvas = make_canvas(
			&layers.domain, DRM_FORMAT_ARGB8888, FULL_WIDTH, FULL_HEIGHT, 0, 100000);
	drawing_init(&layers.drawing);
	make_sources(&layers);
	make_slabs(&layers);
	double begin = now_us();
	layers.target = make_memory(layers.size);
	compose_here(&layers);
	double made = now_us();
	share(&layers);
	double shared = now_us();
	compose_there(&layers);
	double end = now_us();
	run_frames(&layers, compose_here, compose_there, frames, later);
	drop_slabs(&layers);
	drop_sources(&layers);
	run_frames(&layers, fresh_here, fresh_there, frames / 4 + 1, fresh);
	printf("{\"first_direct_us\": %.1f, \"export_us\": %.1f, \"first_us\": %.1f, "
	       "\"later_direct_us\": %.1f, \"later_us\": %.1f, \"fresh_direct_us\": %.1f, "
	       "\"fresh_us\": %.1f}\n",
			made - begin, shared - made, end - made, later[0], later[1], fresh[0],
			fresh[1]);
	drawing_finish(&layers.drawing);
	munmap(layers.target, layers.size);
	gid_canvas_destroy(layers.canvas);
	gid_domain_destroy(layers.domain);
}

int main(int argc, char *argv[]) {
	bool points = argc >= 3 && strcmp(argv[1], "points") == 0;
	if (points && argc == 3) {
		run_points_here(strcmp(argv[2], "clipped") == 0);
	} else if (points && argc == 4) {
		run_points((uint32_t)strtoul(argv[2], NULL, 10), strcmp(argv[3], "quarter") == 0);
	} else if (argc == 4 && strcmp(argv[1], "layers") == 0) {
		uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10);
		run_layers(count < LAYERS_MAX ? count : LAYERS_MAX,
				(uint32_t)strtoul(argv[3], NULL, 10));
	} else {
		errx(2,
				"usage: gid-bench-engine points direct|clipped | points WORDS whole|quarter | "
				"layers COUNT FRAMES");
	}
	return 0;
}
