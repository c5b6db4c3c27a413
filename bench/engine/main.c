// SPDX-License-Identifier: MIT
/*
 * What it costs to have the engine draw, against the same drawing in one's own process and memory.
 * Writes a line of JSON.
 *
 *     gid-bench-engine points WORDS whole|quarter [PASSES [POINTS]]
 *                      by lists of this many words, with no point clipped, or a quarter of all
 *     gid-bench-engine layers COUNT FRAMES [PROCESS…]
 *                      full-HD layers into a full-HD canvas, and what these take with ours
 *     gid-bench-engine imports
 *                      of slots, into another domain
 */
#include <drm_fourcc.h>
#include <err.h>
#include <fcntl.h>
#include <gid/engine.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cost.h"
#include "drawing.h"
#include "line_trip.h"
#include "point_drawing.h"

#define POINTS 2000000u /* of a pass */
#define WIDTH 640
#define HEIGHT 480
#define AREA_WIDTH 512u
#define AREA_HEIGHT 256u
#define CLIP_WIDTH 384u /* three quarters of the area */
#define COLOUR 0xff2266ccu
#define PASSES 11
#define PIXEL 0x2339 /* the same as RGB565 */
#define LAYERS_MAX 8u
#define FRAMES_MAX 2000u
#define FIRST_FRAMES 5u
#define FRESH_BLOCK 4u
#define FULL_WIDTH 1920
#define FULL_HEIGHT 1080

static double seconds(clockid_t clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *one, const void *other) {
	double difference = *(const double *)one - *(const double *)other;
	return (difference > 0) - (difference < 0);
}

static double median(double *values, uint32_t count) {
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
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

static void points_direct(uint16_t *pixels, uint32_t total) {
	for (uint32_t i = 0; i < total; i++) {
		struct gid_point point = point_at(i);
		pixels[point.y * WIDTH + point.x] = PIXEL;
	}
}

static void points_clipped(
		uint16_t *pixels, uint32_t total, int left, int top, int right, int bottom) {
	for (uint32_t i = 0; i < total; i++) {
		struct gid_point point = point_at(i);
		if (point.x >= left && point.x < right && point.y >= top && point.y < bottom) {
			pixels[point.y * WIDTH + point.x] = PIXEL;
		}
	}
}

/* One pass in this process: how long it took, in ms. A function of its own, for bench counts. */
__attribute__((noinline)) static double pass_here(uint16_t *pixels, uint32_t total, bool clipped) {
	int right = CLIP_WIDTH, bottom = AREA_HEIGHT;
	__asm__ volatile("" : "+r"(right), "+r"(bottom)); /* known only when it runs */
	double begin = seconds(CLOCK_MONOTONIC);
	if (clipped) {
		points_clipped(pixels, total, 0, 0, right, bottom);
	} else {
		points_direct(pixels, total);
	}
	return (seconds(CLOCK_MONOTONIC) - begin) * 1e3;
}

/*
 * One pass in this process by the function that the engine draws with, `count` points at a time:
 * what is left between the two is the way through lists. In ms.
 */
static double pass_drawn(uint16_t *pixels, uint32_t total, struct engine_point *points,
		uint32_t count, bool clipped) {
	pixman_region32_t clip;
	pixman_region32_init_rect(&clip, 0, 0, clipped ? CLIP_WIDTH : WIDTH, HEIGHT);
	const struct point_target target = {
			(uint8_t *)pixels, WIDTH * sizeof(*pixels), DRM_FORMAT_RGB565, &clip};
	double begin = seconds(CLOCK_MONOTONIC);
	for (uint32_t next = 0; next < total; next += count) {
		uint32_t these = total - next < count ? total - next : count;
		for (uint32_t i = 0; i < these; i++) {
			struct gid_point point = point_at(next + i);
			points[i] = (struct engine_point){point.x, point.y};
		}
		points_draw(&target, points_pixel(target.fourcc, COLOUR), points, these);
	}
	double passed = seconds(CLOCK_MONOTONIC) - begin;
	pixman_region32_fini(&clip);
	return passed * 1e3;
}

static uint16_t *make_pixels(void) {
	uint16_t *pixels = malloc(WIDTH * HEIGHT * sizeof(*pixels));
	if (pixels == NULL) {
		err(1, "memory");
	}
	memset(pixels, 0, WIDTH * HEIGHT * sizeof(*pixels));
	return pixels;
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
static double engine_cpu(const struct gid_canvas *canvas) { /* of all its threads for it */
	struct gid_canvas_stats stats;
	nanosleep(&(struct timespec){0, 100000000}, NULL);
	gid_canvas_get_stats(canvas, &stats);
	return (double)stats.work_ns / 1e6;
}

/* One list, of `most` points or as many as it takes. Returns the index of the next point. A
 * function of its own, for bench counts. */
__attribute__((noinline)) static uint32_t send_points(struct gid_canvas *canvas, uint32_t next,
		uint32_t most, bool clipped, uint64_t *fence) {
	const struct gid_rectangle clip = {0, 0, CLIP_WIDTH, AREA_HEIGHT};
	uint32_t count = most;
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

/* One pass through the engine. */
struct pass {
	double wall_ms, cpu_ms, engine_cpu_ms;
	double line_ns; /* at once after it: a rest may end with processors elsewhere */
};

static struct pass pass_there(struct gid_canvas *canvas, uint32_t total, bool clipped) {
	uint64_t fence;
	double engine = engine_cpu(canvas);
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), begin = seconds(CLOCK_MONOTONIC);
	for (uint32_t next = 0; next < total;) {
		next = send_points(canvas, next, total - next, clipped, &fence);
	}
	if (gid_canvas_wait(canvas, fence, -1) < 0) {
		fail(canvas, "points");
	}
	double wall = seconds(CLOCK_MONOTONIC) - begin;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	double line = line_trip_ns();
	return (struct pass){wall * 1e3, cpu * 1e3, engine_cpu(canvas) - engine, line};
}

/* Of each pass how far apart the processors were, and its ratio. */
static void print_passes(int passes, const double line[PASSES], const double ratio[PASSES]) {
	printf("{\"passes\": [");
	for (int i = 0; i < passes; i++) {
		printf("%s[%.1f, %.4f]", i > 0 ? ", " : "", line[i], ratio[i]);
	}
	printf("], ");
}

/* Passes here and there in turn; the first two, with cold caches, are not counted. */
static void run_points(uint32_t words, bool clipped, int passes, uint32_t total) {
	double here[PASSES], own[PASSES], wall[PASSES], cpu[PASSES], engine[PASSES], ratio[PASSES];
	double line[PASSES], drawn[PASSES], drawn_ratio[PASSES];
	struct gid_domain *domain;
	uint64_t fence;
	uint16_t *pixels = make_pixels();
	struct gid_canvas *canvas =
			make_canvas(&domain, DRM_FORMAT_RGB565, WIDTH, HEIGHT, words, 200);
	/* The canvas itself, and all slots of lists, before the time begins. */
	for (uint32_t i = 0; i < 64; i++) {
		send_points(canvas, 0, 1, clipped, &fence);
	}
	uint32_t count = send_points(canvas, 0, total, clipped, &fence); /* of one list */
	struct engine_point *points = calloc(count, sizeof(*points));
	if (points == NULL) {
		err(1, "memory");
	}
	if (gid_canvas_wait(canvas, fence, -1) < 0) {
		fail(canvas, "the first lists");
	}
	for (int i = -2; i < passes; i++) {
		/* Also of the processor: with other work beside it, the clock would count that. */
		double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
		double direct = pass_here(pixels, total, clipped);
		double direct_cpu = (seconds(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e3;
		double by_function = pass_drawn(pixels, total, points, count, clipped);
		struct pass pass = pass_there(canvas, total, clipped);
		if (i >= 0) {
			here[i] = direct;
			own[i] = direct_cpu;
			wall[i] = pass.wall_ms;
			cpu[i] = pass.cpu_ms;
			engine[i] = pass.engine_cpu_ms;
			ratio[i] = pass.wall_ms / direct;
			line[i] = pass.line_ns;
			drawn[i] = by_function;
			drawn_ratio[i] = pass.wall_ms / by_function;
		}
	}
	print_passes(passes, line, ratio);
	printf("\"direct_ms\": %.4f, \"direct_cpu_ms\": %.4f, \"wall_ms\": %.4f, \"cpu_ms\": %.4f, "
	       "\"engine_cpu_ms\": %.4f, \"ratio\": %.4f, \"line_ns\": %.1f, "
	       "\"drawn_ms\": %.4f, \"drawn_ratio\": %.4f}\n",
			median(here, passes), median(own, passes), median(wall, passes),
			median(cpu, passes), median(engine, passes), median(ratio, passes),
			median(line, passes), median(drawn, passes), median(drawn_ratio, passes));
	free(points);
	gid_canvas_destroy(canvas);
	gid_domain_destroy(domain);
	free(pixels);
}

/* --- layers ----------------------------------------------------------------------------------- */

/* Where a side that draws for itself has its memory from. */
enum memory {
	SHARED,	 /* as what others can be let read: the engine's side has no other */
	PRIVATE, /* that nobody else ever sees */
};

struct layers {
	uint32_t count;
	struct gid_domain *domain;
	struct gid_canvas *canvas;
	struct gid_layout layout;
	size_t size;
	struct drawing drawing;
	enum memory memory;
	void *targets[2]; /* drawn in turn, as the engine does with its slots */
	uint32_t drawn;
	void *sources[LAYERS_MAX];
	struct gid_slab *slabs[LAYERS_MAX];
	struct gid_layer layers[LAYERS_MAX];
	double share_us; /* of the last frame */
	/* Of processors, for a later frame: of the engine, and of this process for each side. */
	double engine_cpu_us, program_cpu_us, direct_cpu_us;
};

static double now_us(void) {
	return seconds(CLOCK_MONOTONIC) * 1e6;
}

/* Zeroed and present, as slabs are. */
static void *make_memory(const struct layers *layers) {
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	if (layers->memory == SHARED) {
		fd = memfd_create("gid-bench-engine", MFD_CLOEXEC);
		flags = MAP_SHARED;
		if (fd < 0 || ftruncate(fd, (off_t)layers->size) < 0) {
			err(1, "memory");
		}
	}
	void *memory = mmap(NULL, layers->size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (memory == MAP_FAILED || madvise(memory, layers->size, MADV_POPULATE_WRITE) < 0) {
		err(1, "memory");
	}
	if (fd >= 0) {
		close(fd);
	}
	return memory;
}

static void drop_memory(const struct layers *layers, void **memory) {
	if (*memory != NULL) {
		munmap(*memory, layers->size);
		*memory = NULL;
	}
}

static void draw_source(const struct layers *layers, void *memory, uint32_t number) {
	memset(memory, (int)(0x30 + number * 8), layers->size);
}

/* The same list as gid_canvas_compose() makes. */
static void compose_here(struct layers *layers) {
	const struct {
		struct engine_head head;
		uint32_t op, colour;
		struct engine_rectangle all;
	} fill = {{ENGINE_FILL, 5}, ENGINE_SRC, 0xff000000, {0, 0, FULL_WIDTH, FULL_HEIGHT}};
	void **target = &layers->targets[layers->drawn++ % 2];
	if (*target == NULL) {
		*target = make_memory(layers);
	}
	drawing_begin(&layers->drawing, &layers->layout, *target);
	drawing_fill(&layers->drawing, (const struct engine_fill *)&fill);
	for (uint32_t i = 0; i < layers->count; i++) {
		const struct engine_layer layer = {.head = {ENGINE_LAYER, sizeof(layer) / 4},
				.op = ENGINE_OVER,
				.alpha = 255};
		const struct picture picture = {
				.layout = layers->layout, .memory = layers->sources[i]};
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

/* One frame with memory that is made for it. */
static void make_here(struct layers *layers) {
	for (uint32_t i = 0; i < layers->count; i++) {
		layers->sources[i] = make_memory(layers);
		draw_source(layers, layers->sources[i], i);
	}
	compose_here(layers);
}

static void drop_here(struct layers *layers) {
	for (uint32_t i = 0; i < layers->count; i++) {
		drop_memory(layers, &layers->sources[i]);
	}
}

static void make_there(struct layers *layers) {
	layers->share_us = 0;
	for (uint32_t i = 0; i < layers->count; i++) {
		struct gid_slab **slab = &layers->slabs[i];
		/* In memory that the engine sees, if it is on another machine. */
		if (gid_slab_create_for_stream(layers->domain, "engine/bench", &layers->layout, 0,
				    1, NULL, slab) < 0) {
			errx(1, "%s", gid_domain_error(layers->domain));
		}
		double begin = now_us();
		if (gid_canvas_share(layers->canvas, *slab) < 0) {
			fail(layers->canvas, "a layer");
		}
		layers->share_us += now_us() - begin;
		draw_source(layers, gid_slab_data(*slab, 0), i);
		layers->layers[i] = (struct gid_layer){.gid = gid_slab_gid(*slab, 0), .alpha = 255};
	}
	compose_there(layers);
}

static void drop_there(struct layers *layers) {
	for (uint32_t i = 0; i < layers->count; i++) {
		gid_slab_destroy(layers->slabs[i], false);
	}
}

static void fresh_here(struct layers *layers) {
	make_here(layers);
	drop_here(layers);
}

static void fresh_there(struct layers *layers) {
	make_there(layers);
	drop_there(layers);
}

static double time_of(struct layers *layers, void (*frame)(struct layers *)) {
	double begin = now_us();
	frame(layers);
	return now_us() - begin;
}

/* What was measured of one kind of frame, each time on both sides, one right after the other. */
struct pairs {
	double here[FRAMES_MAX], there[FRAMES_MAX];
	double ratio[FRAMES_MAX]; /* there to here */
	uint32_t count;
};

static void add_pair(struct pairs *pairs, double here, double there) {
	if (pairs->count < FRAMES_MAX) {
		pairs->here[pairs->count] = here;
		pairs->there[pairs->count] = there;
		pairs->ratio[pairs->count++] = there / here;
	}
}

static void print_pairs(const char *name, struct pairs *pairs) {
	double ratio = median(pairs->ratio, pairs->count); /* and sorts them: */
	double low = pairs->ratio[pairs->count / 4], high = pairs->ratio[pairs->count * 3 / 4];
	printf("\"%s_direct_us\": %.1f, \"%s_us\": %.1f, \"%s_ratio\": %.5f, "
	       "\"%s_ratio_low\": %.5f, \"%s_ratio_high\": %.5f, ",
			name, median(pairs->here, pairs->count), name,
			median(pairs->there, pairs->count), name, ratio, name, low, name, high);
}

/* The side that draws for itself begins with nothing. */
static void forget_targets(struct layers *layers) {
	drawing_forget(&layers->drawing);
	drop_memory(layers, &layers->targets[0]);
	drop_memory(layers, &layers->targets[1]);
	layers->drawn = 0;
}

static struct gid_canvas *make_full_canvas(struct layers *layers) {
	return make_canvas(&layers->domain, DRM_FORMAT_ARGB8888, FULL_WIDTH, FULL_HEIGHT, 0, 200);
}

static void drop_canvas(struct layers *layers) {
	gid_canvas_destroy(layers->canvas);
	gid_domain_destroy(layers->domain);
}

/*
 * All from nothing: the layers' memory is made, drawn, shared and imported, and the canvas's is
 * made. The program is connected to the engine already.
 */
static void first_frames(struct layers *layers, struct pairs *pairs, struct pairs *private,
		double *share_us) {
	double shares[FIRST_FRAMES];
	for (uint32_t i = 0; i < FIRST_FRAMES; i++) {
		double here[2];
		for (enum memory memory = SHARED; memory <= PRIVATE; memory++) {
			layers->memory = memory;
			here[memory] = time_of(layers, make_here);
			drop_here(layers);
			forget_targets(layers);
		}
		layers->canvas = make_full_canvas(layers);
		double there = time_of(layers, make_there);
		shares[i] = layers->share_us;
		drop_there(layers);
		drop_canvas(layers);
		add_pair(pairs, here[SHARED], there);
		add_pair(private, here[PRIVATE], there);
	}
	*share_us = median(shares, FIRST_FRAMES);
}

static void rest(double us) {
	nanosleep(&(struct timespec){(time_t)(us / 1e6), (long)(us * 1e3) % 1000000000}, NULL);
}

/*
 * Both sides read the same memory, and draw two frames in turn: one after a rest, for which an
 * engine has to be woken, and one right behind it. Each side is the first one in every other turn,
 * for a machine is quicker after a rest. The first four turns are not counted. (The rest is also
 * for an engine with a real-time priority, which it has for half of the time only.)
 */
static void later_frames(
		struct layers *layers, struct pairs *later, struct pairs *woken, uint32_t frames) {
	make_there(layers);
	for (uint32_t i = 0; i < layers->count; i++) {
		layers->sources[i] = gid_slab_data(layers->slabs[i], 0);
	}
	double engine = engine_cpu(layers->canvas), cpu[2] = {0};
	for (uint32_t i = 0; i < frames + 4; i++) {
		double here[2], there[2];
		for (uint32_t side = 0; side < 2; side++) {
			bool is_here = side == i % 2;
			double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
			for (int k = 0; k < 2; k++) {
				double us = time_of(layers, is_here ? compose_here : compose_there);
				(is_here ? here : there)[k] = us;
			}
			cpu[is_here] += seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
		}
		if (i >= 4) {
			add_pair(woken, here[0], there[0]);
			add_pair(later, here[1], there[1]);
		}
		rest(here[0] + here[1]);
	}
	engine = engine_cpu(layers->canvas) - engine;
	const double count = 2 * (frames + 4);
	layers->engine_cpu_us = engine * 1e3 / count;
	layers->program_cpu_us = cpu[false] * 1e6 / count;
	layers->direct_cpu_us = cpu[true] * 1e6 / count;
	drop_there(layers);
}

/* In blocks, for what the engine's side still has to give back would disturb the other one. */
static void fresh_frames(struct layers *layers, struct pairs *pairs, struct pairs *private,
		uint32_t frames) {
	for (uint32_t block = 0; block * FRESH_BLOCK < frames; block++) {
		double here[2][FRESH_BLOCK + 1] = {0}, there[FRESH_BLOCK + 1] = {0};
		for (enum memory memory = SHARED; memory <= PRIVATE; memory++) {
			layers->memory = memory;
			for (uint32_t i = 0; i <= FRESH_BLOCK; i++) {
				here[memory][i] = time_of(layers, fresh_here);
			}
		}
		for (uint32_t i = 0; i <= FRESH_BLOCK; i++) {
			there[i] = time_of(layers, fresh_there);
		}
		rest(20000);
		for (uint32_t i = 1; i <= FRESH_BLOCK; i++) {
			add_pair(pairs, here[SHARED][i], there[i]);
			add_pair(private, here[PRIVATE][i], there[i]);
		}
	}
}

/*
 * What frames take of all processors, with making, drawing and giving back their memory, and how
 * many pages were faulted and how large the tables of pages were.
 */
static struct cost cost_of(struct layers *layers, void (*make)(struct layers *),
		void (*drop)(struct layers *), uint32_t frames) {
	struct cost before = cost_at_rest(), with_memory;
	for (uint32_t i = 0; i < frames; i++) {
		make(layers);
		with_memory = i + 1 == frames ? cost_now() : before;
		drop(layers);
	}
	struct cost after = cost_at_rest();
	return (struct cost){
			.cpu_us = (after.cpu_us - before.cpu_us) / frames,
			.faults = (after.faults - before.faults) / frames,
			.tables_kb = with_memory.tables_kb - before.tables_kb,
	};
}

/* Private memory, and there. */
struct costs {
	double cpu_us[2][FIRST_FRAMES], ratio[FIRST_FRAMES];
	struct cost last[2];
};

static void add_costs(struct costs *costs, uint32_t at, struct cost private, struct cost there) {
	costs->cpu_us[0][at] = private.cpu_us;
	costs->cpu_us[1][at] = there.cpu_us;
	costs->ratio[at] = there.cpu_us / private.cpu_us;
	costs->last[0] = private;
	costs->last[1] = there;
}

static void print_costs(const char *name, struct costs *costs) {
	static const char *const sides[] = {"_private", ""};
	for (int i = 0; i < 2; i++) {
		printf("\"%s%s_cpu_us\": %.1f, \"%s%s_faults\": %.0f, \"%s%s_tables_kb\": %.0f, ",
				name, sides[i], median(costs->cpu_us[i], FIRST_FRAMES), name,
				sides[i], costs->last[i].faults, name, sides[i],
				costs->last[i].tables_kb);
	}
	printf("\"%s_cpu_ratio\": %.4f, ", name, median(costs->ratio, FIRST_FRAMES));
}

static void measure_costs(struct layers *layers) {
	struct costs first, fresh;
	layers->memory = PRIVATE;
	for (uint32_t i = 0; i < FIRST_FRAMES; i++) {
		struct cost here = cost_of(layers, make_here, drop_here, 1);
		struct cost here_more = cost_of(layers, make_here, drop_here, FRESH_BLOCK);
		forget_targets(layers);
		layers->canvas = make_full_canvas(layers);
		add_costs(&first, i, here, cost_of(layers, make_there, drop_there, 1));
		add_costs(&fresh, i, here_more,
				cost_of(layers, make_there, drop_there, FRESH_BLOCK));
		drop_canvas(layers);
	}
	print_costs("first", &first);
	print_costs("fresh", &fresh);
}

/* As programs make memory: a real-time thread gets no large pages. */
static void set_class(int class, const struct sched_param *param) {
	if (sched_setscheduler(0, class, param) < 0) {
		err(1, "scheduling class");
	}
}

static void run_layers(uint32_t count, uint32_t frames) {
	static struct pairs first, first_private, later, woken, fresh, fresh_private;
	struct layers layers = {.count = count};
	double share_us;
	const int class = sched_getscheduler(0);
	struct sched_param param;
	sched_getparam(0, &param);
	gid_layout_init(&layers.layout, DRM_FORMAT_ARGB8888, FULL_WIDTH, FULL_HEIGHT, 64);
	layers.size = gid_layout_size(&layers.layout);
	drawing_init(&layers.drawing);
	set_class(SCHED_OTHER, &(struct sched_param){0});
	first_frames(&layers, &first, &first_private, &share_us);
	printf("{");
	if (cost_is_watched()) {
		measure_costs(&layers);
	}
	set_class(class, &param);
	layers.memory = SHARED;
	layers.canvas = make_full_canvas(&layers);
	later_frames(&layers, &later, &woken, frames);
	set_class(SCHED_OTHER, &(struct sched_param){0});
	fresh_frames(&layers, &fresh, &fresh_private, frames / 4 + 1);
	print_pairs("first", &first);
	print_pairs("first_private", &first_private);
	print_pairs("later", &later);
	print_pairs("woken", &woken);
	print_pairs("fresh", &fresh);
	print_pairs("fresh_private", &fresh_private);
	printf("\"share_us\": %.1f, \"later_engine_cpu_us\": %.1f, \"later_cpu_us\": %.1f, "
	       "\"later_direct_cpu_us\": %.1f, \"later_cpu_ratio\": %.4f}\n",
			share_us, layers.engine_cpu_us, layers.program_cpu_us, layers.direct_cpu_us,
			(layers.engine_cpu_us + layers.program_cpu_us) / layers.direct_cpu_us);
	forget_targets(&layers);
	drawing_finish(&layers.drawing);
	drop_canvas(&layers);
}

/* --- imports ---------------------------------------------------------------------------------- */

/* Memory that is there already, as a camera's: from a descriptor to what another domain may read.
 */
static double export_us(
		struct gid_domain *owner, uint32_t reader, const struct gid_layout *layout) {
	int fd = memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)layout->planes[0].stride * layout->height) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE) < 0) {
		err(1, "memory");
	}
	struct gid_slab *slab;
	double begin = now_us();
	int error = gid_slab_export(owner, fd, 0, layout, NULL, &slab);
	if (error == 0) {
		error = gid_slab_grant(slab, reader);
	}
	double spent = now_us() - begin;
	if (error < 0) {
		errx(1, "%s", gid_domain_error(owner));
	}
	gid_slab_destroy(slab, false);
	close(fd);
	return spent;
}

/*
 * What it costs to have another domain read memory, and to get at a slot of one: of a slab that is
 * new here, of one that is known, and, at the first look, to have the pages of that slot mapped.
 */
static void run_imports(void) {
	enum { SLABS = 9, SLOTS = 8 };
	double exported[SLABS], first[SLABS], further[SLABS * (SLOTS - 1)],
			mapped[SLABS * (SLOTS - 1)];
	uint32_t count = 0;
	struct gid_domain *owner, *reader;
	struct gid_layout layout;
	if (gid_domain_connect("open", &owner) < 0 || gid_domain_connect("cluster", &reader) < 0) {
		errx(1, "%s", gid_domain_connect_error());
	}
	gid_layout_init(&layout, DRM_FORMAT_ARGB8888, FULL_WIDTH, FULL_HEIGHT, 64);
	for (uint32_t i = 0; i < SLABS; i++) {
		struct gid_slab *slab, *known, *imported;
		exported[i] = export_us(owner, gid_domain_number(reader), &layout);
		if (gid_slab_create(owner, &layout, 0, SLOTS, NULL, &slab) < 0 ||
				gid_slab_grant(slab, gid_domain_number(reader)) < 0) {
			errx(1, "%s", gid_domain_error(owner));
		}
		double begin = now_us();
		int ret = gid_slab_import(reader, gid_slab_gid(slab, 0), &known);
		first[i] = now_us() - begin;
		for (uint32_t slot = 1; ret == 0 && slot < SLOTS; slot++) {
			const gid_id gid = gid_slab_gid(slab, slot);
			begin = now_us();
			ret = gid_slab_import(reader, gid, &imported);
			further[count] = now_us() - begin;
			begin = now_us();
			gid_slab_view(imported, slot);
			mapped[count++] = now_us() - begin;
			gid_slab_unref(imported);
		}
		if (ret < 0) {
			errx(1, "%s", gid_domain_error(reader));
		}
		gid_slab_unref(known);
		gid_slab_destroy(slab, false);
	}
	printf("{\"export_us\": %.2f, \"first_us\": %.2f, \"further_us\": %.3f, "
	       "\"mapped_us\": %.1f}\n",
			median(exported, SLABS), median(first, SLABS), median(further, count),
			median(mapped, count));
	gid_domain_destroy(reader);
	gid_domain_destroy(owner);
}

int main(int argc, char *argv[]) {
	if (argc >= 4 && argc <= 6 && strcmp(argv[1], "points") == 0) {
		unsigned long passes = argc >= 5 ? strtoul(argv[4], NULL, 10) : PASSES;
		unsigned long total = argc == 6 ? strtoul(argv[5], NULL, 10) : POINTS;
		if (passes < 1 || passes > PASSES) {
			errx(2, "PASSES is 1 to %d", PASSES);
		}
		if (total < 1 || total > POINTS) {
			errx(2, "POINTS is 1 to %u", POINTS);
		}
		run_points((uint32_t)strtoul(argv[2], NULL, 10), strcmp(argv[3], "quarter") == 0,
				(int)passes, (uint32_t)total);
	} else if (argc >= 4 && strcmp(argv[1], "layers") == 0) {
		cost_watch(argc - 4, argv + 4);
		uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10);
		run_layers(count < LAYERS_MAX ? count : LAYERS_MAX,
				(uint32_t)strtoul(argv[3], NULL, 10));
	} else if (argc == 2 && strcmp(argv[1], "imports") == 0) {
		run_imports();
	} else {
		errx(2,
				"usage: gid-bench-engine points WORDS whole|quarter [PASSES [POINTS]] | "
				"layers COUNT FRAMES [PROCESS…] | imports");
	}
	return 0;
}
