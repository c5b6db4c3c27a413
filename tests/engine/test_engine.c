// SPDX-License-Identifier: MIT
/*
 * gid-engine in the domain `cluster`, and a program of `open` that draws on its canvases: what is
 * drawn arrives, what must not be read is not, and nobody's mistake concerns another canvas.
 */
#define COCKPIT_STREAMS "movie camera/* engine/*"
#define COCKPIT_MORE "[share cluster open]\nstreams=canvas/*\n"
#include "engine_program.h"

#include <dirent.h>
#include <drm_fourcc.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "language.h"

#define WIDTH 64
#define HEIGHT 48
#define LONG_SIZE 2048 /* of the canvases `slow` and `long` */
#define FILLS 1000

static pid_t engine;

static void write_config(const char *more) {
	const char *back_end = getenv("GID_ENGINE_BACKEND"); /* of those that most is drawn on */
	back_end = back_end == NULL ? "pixman" : back_end;
	engine_write_config("[canvas panel]\ndomain=open\nmemory=1M\nlist-ms=60000\nbackend=%s\n"
			    "[canvas other]\ndomain=open\nmemory=1M\nlist-ms=60000\nbackend=%s\n"
			    "[canvas slow]\ndomain=open\nmemory=64M\nlist-ms=20\n"
			    "[canvas long]\ndomain=open\nmemory=64M\nlist-ms=60000\n"
			    "[canvas poor]\ndomain=open\nmemory=1M\npixels-per-second=100000\n"
			    "%s",
			back_end, back_end, more);
}

static void start_engine(void) {
	write_config("");
	engine = engine_start_logging("engine.log", NULL);
}

static int end_engine(int signal) {
	int status = -1;
	kill(engine, signal);
	waitpid(engine, &status, 0);
	return status;
}

/* --- who looks at a canvas -------------------------------------------------------------------- */

struct viewer {
	struct gid_domain *domain;
	struct gid_consumer *consumer;
	struct gid_frame frame; /* the last one */
	uint64_t frames;
};

static void viewer_init(struct viewer *viewer, const char *stream) {
	const struct gid_consumer_options options = {
			.size = sizeof(options), .drop_old = true, .reconnect = true};
	*viewer = (struct viewer){0};
	gid_domain_connect("open", &viewer->domain);
	gid_consumer_create(viewer->domain, "cluster", stream, &options, &viewer->consumer);
}

static void viewer_finish(struct viewer *viewer) {
	gid_consumer_destroy(viewer->consumer);
	gid_domain_destroy(viewer->domain);
}

/* The next frame; false: it took too long. Its slot is only read before the next call. */
static bool viewer_next(struct viewer *viewer) {
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	if (viewer->frames > 0) {
		gid_consumer_release(viewer->consumer, &viewer->frame);
	}
	while (cockpit_now_ms() < end) {
		if (gid_consumer_receive(viewer->consumer, &viewer->frame) == 1) {
			viewer->frames++;
			return true;
		}
		gid_consumer_wait(viewer->consumer, 100);
	}
	return false;
}

static uint32_t viewer_pixel(struct viewer *viewer, uint32_t x, uint32_t y) {
	return engine_pixel(viewer->domain, viewer->frame.gid, x, y);
}

/* Frames until one has this pixel: older pictures may come before it. */
static bool viewer_sees(struct viewer *viewer, uint32_t x, uint32_t y, uint32_t pixel) {
	while (viewer_next(viewer)) {
		if (viewer->frame.gid != GID_NONE && viewer_pixel(viewer, x, y) == pixel) {
			return true;
		}
	}
	return false;
}

/* --- lists ------------------------------------------------------------------------------------ */

static int fill_and_present(struct gid_canvas *canvas, uint32_t colour) {
	uint64_t fence;
	const struct gid_rectangle all = {0, 0, 65535, 65535};
	gid_list_begin(canvas);
	gid_list_fill(canvas, GID_OPERATOR_SRC, colour, &all, 1);
	gid_list_present(canvas, false, 5);
	int ret = gid_list_submit(canvas, &fence);
	return ret < 0 ? ret : gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS);
}

/* A list that takes seconds. */
static int submit_long(struct gid_canvas *canvas, uint64_t *fence) {
	static struct gid_rectangle all[FILLS];
	for (int i = 0; i < FILLS; i++) {
		all[i] = (struct gid_rectangle){0, 0, 65535, 65535};
	}
	gid_list_begin(canvas);
	gid_list_fill(canvas, GID_OPERATOR_OVER, 0x11ffffff, all, FILLS);
	return gid_list_submit(canvas, fence);
}

static struct gid_slab *make_source(struct gid_domain *domain, uint32_t colour) {
	struct gid_layout layout;
	struct gid_slab *slab = NULL;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	if (gid_slab_create(domain, &layout, 0, 2, NULL, &slab) == 0) {
		uint32_t *data = gid_slab_data(slab, 0);
		for (int i = 0; i < 256; i++) {
			data[i] = colour;
		}
	}
	return slab;
}

static int compose_one(struct gid_canvas *canvas, gid_id gid) {
	uint64_t fence;
	const struct gid_layer layer = {.gid = gid, .alpha = 255, .box = {8, 8, 0, 0}};
	int ret = gid_canvas_compose(canvas, &layer, 1, &fence);
	return ret < 0 ? ret : gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS);
}

/* All corners are where pixels meet, so that no edge is between two colours. */
static void test_shapes(struct gid_canvas *canvas, struct viewer *viewer) {
	static const struct gid_point line[] = {{2, 4}, {12, 4}};
	static const struct gid_point triangle[] = {{20, 0}, {36, 0}, {20, 16}};
	static const struct gid_point ring[] = {{40, 0}, {60, 0}, {60, 20}, {40, 20}, {40, 0},
			{46, 6}, {54, 6}, {54, 14}, {46, 14}, {46, 6}};
	static struct gid_point many[4097];
	uint64_t fence;
	fill_and_present(canvas, 0xff000000);
	gid_list_begin(canvas);
	bool taken = gid_list_lines(canvas, 0xff0000ff, 4, line, 2) == 0 &&
			gid_list_triangles(canvas, 0xff00ff00, triangle, 1) == 0 &&
			gid_list_polygon(canvas, 0xffff0000, false, ring, 10) == 0;
	gid_list_present(canvas, false, GID_TIME_NONE);
	gid_list_submit(canvas, &fence);
	tap_ok(taken && gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS) == 0 &&
					viewer_sees(viewer, 42, 10, 0xff0000) &&
					viewer_pixel(viewer, 50, 10) == 0,
			"a polygon is filled, but for the hole in it");
	tap_ok(viewer_pixel(viewer, 7, 3) == 0x0000ff && viewer_pixel(viewer, 7, 9) == 0,
			"a line is as wide as it was asked for");
	tap_ok(viewer_pixel(viewer, 22, 2) == 0x00ff00 && viewer_pixel(viewer, 34, 14) == 0,
			"a triangle has what is between its points");
	gid_list_begin(canvas);
	tap_ok(gid_list_lines(canvas, 0, 257, line, 2) == -EINVAL, "no line is wider than 256: %s",
			gid_canvas_error(canvas));
	gid_list_submit(canvas, &fence);
	gid_list_begin(canvas);
	tap_ok(gid_list_polygon(canvas, 0, true, many, 4097) == -EINVAL,
			"no polygon has more than 4096 points: %s", gid_canvas_error(canvas));
	gid_list_submit(canvas, &fence);
}

static void test_drawing(struct gid_canvas *canvas, struct viewer *viewer) {
	uint64_t fence;
	uint32_t count = 3;
	tap_ok(fill_and_present(canvas, 0xff102030) == 0 && viewer_sees(viewer, 9, 9, 0x102030),
			"a canvas is filled, and its stream shows that");
	tap_ok(viewer->frame.pts == 5, "with the time that the list gave");
	gid_list_begin(canvas);
	struct gid_point *points = gid_list_new_points(canvas, 0xffffffff, &count);
	for (int16_t i = 0; points != NULL && i < 3; i++) {
		points[i] = (struct gid_point){i, i};
	}
	gid_list_present(canvas, false, GID_TIME_NONE);
	gid_list_submit(canvas, &fence);
	tap_ok(gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS) == 0 &&
					viewer_sees(viewer, 2, 2, 0xffffff) &&
					viewer_pixel(viewer, 9, 9) == 0x102030,
			"points go upon the picture before");
	struct viewer late;
	struct gid_frame again;
	viewer_init(&late, "canvas/panel");
	tap_ok(viewer_sees(&late, 2, 2, 0xffffff), "who comes later sees the last picture");
	tap_ok(gid_consumer_receive(viewer->consumer, &again) == -EAGAIN,
			"which who has it does not get again");
	tap_ok(gid_canvas_resize(canvas, 0, 0, 8) == -EINVAL &&
					gid_canvas_resize(canvas, 0, WIDTH / 2, HEIGHT / 2) == 0 &&
					fill_and_present(canvas, 0xff405060) == 0 &&
					viewer_sees(viewer, 1, 1, 0x405060),
			"a canvas gets another size");
	struct gid_slab *slab;
	struct gid_slab_info info = {0};
	if (gid_slab_import(viewer->domain, viewer->frame.gid, &slab) == 0) {
		gid_slab_get_info(slab, &info);
		gid_slab_unref(slab);
	}
	tap_ok(info.layout.width == WIDTH / 2 && info.layout.height == HEIGHT / 2,
			"which its pictures have");
	gid_canvas_resize(canvas, 0, WIDTH, HEIGHT);
	viewer_finish(&late);
}

/* Short lists that share slots: with and without a pause, after which the engine sleeps. */
static void test_many(struct gid_canvas *canvas, struct viewer *viewer) {
	uint64_t fence = 0, first = 0;
	const struct gid_rectangle corner = {0, 0, 8, 8};
	struct gid_canvas_stats before, after;
	gid_canvas_get_stats(canvas, &before);
	bool good = true;
	for (uint32_t i = 0; i < 20000; i++) {
		struct gid_point points[60];
		for (uint32_t k = 0; k < 60; k++) {
			points[k] = (struct gid_point){(int16_t)(k % 8), (int16_t)(i % 8)};
		}
		good &= gid_list_begin(canvas) == 0 && gid_list_clip(canvas, &corner, 1) == 0 &&
				gid_list_points(canvas, 0xff000000 | i, points, 60) == 0 &&
				gid_list_submit(canvas, &fence) == 0;
		first = i == 0 ? fence : first;
		if (i % 4000 == 0) {
			cockpit_sleep_ms(2);
		}
	}
	good &= fence == first + 19999 && gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS) == 0;
	gid_canvas_get_stats(canvas, &after);
	gid_list_begin(canvas);
	gid_list_present(canvas, false, 7);
	gid_list_submit(canvas, NULL);
	tap_ok(good && after.lists - before.lists == 20000 && after.refused == before.refused &&
					viewer_sees(viewer, 3, 19999 % 8, 19999),
			"20000 short lists are all drawn, in their order: %llu",
			(unsigned long long)(after.lists - before.lists));

	/* An event loop: no list is waited for, and the canvas's descriptor tells. */
	struct pollfd fd = {gid_canvas_get_fd(canvas), POLLIN, 0};
	int told = 0;
	for (int i = 0; i < 20; i++) {
		const struct gid_rectangle all = {0, 0, 65535, 65535};
		long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
		gid_list_begin(canvas);
		gid_list_fill(canvas, GID_OPERATOR_SRC, 0xff000000, &all, 1);
		gid_list_submit(canvas, &fence);
		int ret;
		while ((ret = gid_canvas_wait(canvas, fence, 0)) == -ETIMEDOUT &&
				cockpit_now_ms() < end) {
			poll(&fd, 1, COCKPIT_PATIENCE_MS);
			gid_canvas_dispatch(canvas);
		}
		told += ret == 0;
		cockpit_sleep_ms(i % 3);
	}
	tap_ok(told == 20, "an event loop hears when lists are done: %d of 20", told);

	/* Each about when an engine that has nothing to do falls asleep. */
	uint32_t random = 5, done = 0;
	for (int i = 0; i < 5000 && done == (uint32_t)i; i++) {
		const struct gid_rectangle one = {1, 1, 1, 1};
		random = random * 1664525 + 1013904223;
		uint64_t until = gid_clock_now() + 40000 + (random >> 8) % 30000;
		while (gid_clock_now() < until) {
		}
		gid_list_begin(canvas);
		gid_list_fill(canvas, GID_OPERATOR_SRC, 0xff000000, &one, 1);
		gid_list_submit(canvas, &fence);
		done += gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS) == 0;
	}
	tap_ok(done == 5000, "an engine that falls asleep overlooks no list: %u", done);
}

/* How many descriptors the engine has, of files whose path has these words. */
static int engine_count_open(const char *words) {
	char folder[64], link[400], path[512];
	int count = 0;
	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)engine);
	DIR *descriptors = opendir(folder);
	for (struct dirent *entry; descriptors != NULL && (entry = readdir(descriptors)) != NULL;) {
		snprintf(link, sizeof(link), "%s/%s", folder, entry->d_name);
		const ssize_t size = readlink(link, path, sizeof(path) - 1);
		path[size < 0 ? 0 : size] = 0;
		count += size > 0 && strstr(path, words) != NULL;
	}
	if (descriptors != NULL) {
		closedir(descriptors);
	}
	return count;
}

/* Whether the engine has so few descriptors, once it has closed those of who left. */
static bool engine_has_few_open(int most) {
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (engine_count_open("") > most && cockpit_now_ms() < end) {
		cockpit_sleep_ms(10);
	}
	return engine_count_open("") <= most;
}

/* Whether the engine has mapped the memory of a slab. */
static bool engine_has_mapped(const struct gid_slab *slab) {
	struct gid_slab_info info;
	struct stat status;
	char path[64], line[512];
	unsigned long inode;
	bool found = false;
	gid_slab_get_info(slab, &info);
	fstat(info.fd, &status);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)engine);
	FILE *maps = fopen(path, "re");
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		found |= sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1 && inode == status.st_ino;
	}
	if (maps != NULL) {
		fclose(maps);
	}
	return found;
}

/* A slab is mapped when it is shared, before any list names it. */
static void test_expected(struct gid_domain *domain, struct gid_canvas *canvas) {
	struct gid_slab *source = make_source(domain, 0x00777777);
	struct gid_canvas_stats before, after;
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	gid_canvas_get_stats(canvas, &before);
	tap_ok(gid_canvas_share(canvas, source) == 0, "a slab is shared with the engine");
	while (!engine_has_mapped(source) && cockpit_now_ms() < end) {
		cockpit_sleep_ms(5);
	}
	gid_canvas_get_stats(canvas, &after);
	tap_ok(engine_has_mapped(source) && after.refused == before.refused,
			"which has it ready before it is drawn");
	gid_list_begin(canvas);
	tap_ok(gid_canvas_share(canvas, source) == 0 && gid_list_present(canvas, false, 0) == 0 &&
					gid_list_submit(canvas, NULL) == 0,
			"to share one within a list does not disturb it");
	gid_slab_destroy(source, true);
}

static void test_sources(struct gid_domain *domain, struct gid_domain *cluster,
		struct gid_canvas *canvas, struct viewer *viewer) {
	struct gid_slab *source = make_source(domain, 0x00abcdef);
	gid_id gid = gid_slab_gid(source, 0);
	tap_ok(compose_one(canvas, gid) == -ENOENT,
			"a source that the engine was not granted is refused: %s",
			gid_canvas_error(canvas));
	tap_ok(gid_canvas_share(canvas, source) == 0 && compose_one(canvas, gid) == 0 &&
					viewer_sees(viewer, 8, 8, 0xabcdef) &&
					viewer_pixel(viewer, 7, 8) == 0,
			"one that it was granted is composed");
	struct gid_canvas_stats stats;
	const bool by_gles = getenv("GID_ENGINE_BACKEND") != NULL;
	gid_canvas_get_stats(canvas, &stats);
	tap_ok(stats.back_end == by_gles && (stats.copied_sources > 0) == by_gles &&
					(stats.copied_canvases > 0) == by_gles,
			"what draws and what it copies is told: %llu, %llu pictures, %llu canvases",
			(unsigned long long)stats.back_end,
			(unsigned long long)stats.copied_sources,
			(unsigned long long)stats.copied_canvases);
	if (by_gles) {
		tap_ok(engine_count_open("shader_cache") == 0,
				"it has no file that another program could lock for ever");
	}
	/* The engine itself may read this, as every program of its domain; the requester may not.
	 */
	struct gid_slab *secret = make_source(cluster, 0x00123456);
	struct gid_slab *none;
	tap_ok(gid_slab_import(domain, gid_slab_gid(secret, 0), &none) == -ENOENT,
			"open may not read a slab of cluster");
	tap_ok(compose_one(canvas, gid_slab_gid(secret, 0)) == -ENOENT,
			"and the engine does not read it for open");
	tap_ok(compose_one(canvas, gid_make(1, 4000, 0, 0)) == -ENOENT,
			"which is what it says of one that does not exist");
	gid_slab_destroy(secret, true);
	gid_slab_revoke(source, 2);
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	int ret = 0;
	while (ret != -ENOENT && cockpit_now_ms() < end) {
		ret = compose_one(canvas, gid);
	}
	tap_ok(ret == -ENOENT, "a source that was taken back is refused");
	struct viewer late;
	viewer_init(&late, "canvas/panel");
	tap_ok(viewer_sees(&late, 8, 8, 0xabcdef), "and the canvas keeps its last good picture");
	viewer_finish(&late);
	gid_slab_destroy(source, true);
}

/* --- mistakes --------------------------------------------------------------------------------- */

static void test_mistakes(struct gid_canvas *canvas, struct gid_canvas *other) {
	const struct gid_layer layer = {.gid = GID_NONE, .alpha = 255, .transform = 9};
	struct gid_canvas_stats stats;
	uint64_t fence;
	gid_list_begin(canvas);
	gid_list_layer(canvas, &layer);
	gid_list_submit(canvas, &fence);
	tap_ok(gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS) == -EINVAL &&
					strstr(gid_canvas_error(canvas), "transform") != NULL,
			"a list with a mistake is refused with a sentence: %s",
			gid_canvas_error(canvas));
	gid_canvas_get_stats(canvas, &stats);
	tap_ok(stats.refused >= 1 && stats.lists > stats.refused, "and counted");
	gid_canvas_get_stats(other, &stats);
	tap_ok(stats.refused == 0 && fill_and_present(other, 0xff0000ff) == 0,
			"which is no concern of another canvas");
	tap_ok(fill_and_present(canvas, 0xffff0000) == 0, "nor of the next list");
}

/* A program that writes what it likes into its slots, and changes them while they are read. */
static void test_random(struct gid_domain *domain, struct gid_canvas *other) {
	const struct gid_producer_options options = {
			.size = sizeof(options), .credit_max = GID_CREDIT_MAX};
	struct gid_layout layout;
	struct gid_slab *slab;
	struct gid_producer *producer;
	gid_layout_init(&layout, DRM_FORMAT_ARGB8888, 1024, 4, 64);
	tap_ok(gid_slab_create(domain, &layout, 0, 8, NULL, &slab) == 0 &&
					gid_producer_create(domain, "engine/panel", &options,
							&producer) == 0,
			"another program draws on the canvas");
	uint32_t random = 3;
	uint64_t sent = 0;
	const uint32_t header = sizeof(struct engine_batch) / 4;
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (sent < 3000 && cockpit_now_ms() < end) {
		uint32_t slot = sent % 8;
		uint32_t *batch = gid_slab_data(slab, slot), *words = batch + header;
		for (int i = 0; i < 200; i++) {
			random = random * 1664525 + 1013904223;
			words[i] = random >> 8 & (i % 2 ? 0xf000f : 0xffffff);
		}
		*(struct engine_batch *)(void *)batch =
				(struct engine_batch){.magic = ENGINE_BATCH_MAGIC,
						.version = ENGINE_VERSION,
						.serial = sent + 1,
						.end = (header + 200) | (random >> 20 & 1) << 31};
		*(struct engine_list *)(void *)words = (struct engine_list){.magic = ENGINE_MAGIC,
				.words = 200,
				.fence_low = (uint32_t)sent + 1};
		words[4] = 4 << 16 | ENGINE_CANVAS;
		words[5] = 32 << 16 | 32;
		words[6] = DRM_FORMAT_XRGB8888;
		words[7] = 0;
		words[8] = 192 << 16 | (random >> 9) % 12; /* one command to the end */
		struct gid_frame frame = GID_FRAME_INIT;
		frame.gid = gid_slab_gid(slab, slot);
		int got = gid_producer_send(producer, &frame);
		sent += got == 1;
		/* While it may be read: a tail that goes anywhere, a batch that becomes another. */
		((volatile struct engine_batch *)(void *)batch)->end = random >> (random & 31);
		((volatile struct engine_batch *)(void *)batch)->serial += random >> 30;
		if (got != 1) {
			gid_domain_dispatch(domain);
			gid_producer_dispatch(producer);
			cockpit_sleep_ms(1);
		}
	}
	tap_ok(sent == 3000 && fill_and_present(other, 0xff00ff00) == 0,
			"3000 random lists later the other canvas is drawn as before");
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
}

/* What the engine has taken of processors, in ms. */
static long engine_cpu_ms(void) {
	struct timespec used = {0};
	clockid_t clock;
	if (clock_getcpuclockid(engine, &clock) == 0) {
		clock_gettime(clock, &used);
	}
	return (long)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* What comes back from the list that was begun, and whether that was soon. */
static void expect_stopped(struct gid_canvas *canvas, const char *what) {
	uint64_t fence;
	long begin = engine_cpu_ms();
	gid_list_submit(canvas, &fence);
	int ret = gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS);
	long ms = engine_cpu_ms() - begin;
	tap_ok(ret == -ECANCELED && strstr(gid_canvas_error(canvas), "list-ms") != NULL &&
					ms < 3000,
			"%s is stopped, too: %ld ms of the engine", what, ms);
}

/* Rectangles that cross each other make a region of 10^5 and more, with which each point is
 * compared.
 */
static void test_region(struct gid_canvas *slow) {
	static struct gid_rectangle stripes[1024];
	uint32_t count = 10000;
	for (int i = 0; i < 512; i++) {
		stripes[i] = (struct gid_rectangle){(int16_t)(i * 4), 0, 2, LONG_SIZE};
		stripes[512 + i] = (struct gid_rectangle){0, (int16_t)(i * 4), LONG_SIZE, 2};
	}
	gid_list_begin(slow);
	gid_list_clip(slow, stripes, 1024);
	struct gid_point *points = gid_list_new_points(slow, 0xffffffff, &count);
	for (uint32_t i = 0; points != NULL && i < count; i++) {
		points[i] = (struct gid_point){(int16_t)i, (int16_t)i};
	}
	expect_stopped(slow, "a list of points in a region of very many rectangles");
}

/* Commands that draw little, and cost much all the same. */
static void test_costly(struct gid_canvas *slow) {
	gid_list_begin(slow);
	while (gid_list_room(slow) >= 8) {
		gid_list_present(slow, false, GID_TIME_NONE);
	}
	expect_stopped(slow, "a list that presents, and copies, thousands of times");

	/* The library has no such list: its points become other commands. */
	uint32_t count = 15998; /* with the command's fields, whole commands of four words */
	gid_list_begin(slow);
	struct gid_point *points = gid_list_new_points(slow, 0, &count);
	struct engine_canvas *commands =
			(struct engine_canvas *)((uint8_t *)points - sizeof(struct engine_points));
	const uint32_t most = (sizeof(struct engine_points) + count * 4) / sizeof(*commands);
	for (uint32_t i = 0; i < most; i++) {
		commands[i] = (struct engine_canvas){.head = {ENGINE_CANVAS, 4},
				.width = i % 2 ? 2048 : 2000,
				.height = 2000,
				.fourcc = DRM_FORMAT_XRGB8888};
	}
	expect_stopped(slow, "a list that makes thousands of canvases");
}

static void test_limits(struct gid_domain *domain) {
	uint64_t fence;
	struct gid_canvas *slow = engine_make_canvas(domain, "slow", LONG_SIZE, LONG_SIZE);
	submit_long(slow, &fence);
	tap_ok(gid_canvas_wait(slow, fence, COCKPIT_PATIENCE_MS) == -ECANCELED &&
					strstr(gid_canvas_error(slow), "list-ms") != NULL,
			"a list that takes too long is stopped: %s", gid_canvas_error(slow));
	test_costly(slow);
	test_region(slow);
	gid_canvas_destroy(slow);

	struct gid_canvas *large = engine_make_canvas(domain, "other", 2048, 2048);
	tap_ok(fill_and_present(large, 0xff000000) == -EDQUOT,
			"a canvas above its memory is refused: %s", gid_canvas_error(large));
	gid_canvas_destroy(large);

	/* 100,000 pixels a second: three pictures of 40,000 take longer than two bursts of 10,000.
	 */
	struct gid_canvas *poor = engine_make_canvas(domain, "poor", 200, 200);
	long begin = cockpit_now_ms();
	for (int i = 0; i < 3; i++) {
		fill_and_present(poor, 0xffffffff);
	}
	tap_ok(cockpit_now_ms() - begin >= 600, "a canvas draws no faster than it may: %ld ms",
			cockpit_now_ms() - begin);

	/* Each has the engine copy the last picture back: eight of 40,000 pixels. */
	begin = cockpit_now_ms();
	const struct gid_rectangle one = {0, 0, 1, 1};
	const struct gid_layer unknown = {.gid = 1, .alpha = 255};
	for (int i = 0; i < 8; i++) {
		gid_list_begin(poor);
		gid_list_fill(poor, GID_OPERATOR_SRC, 0xffffffff, &one, 1);
		gid_list_layer(poor, &unknown);
		gid_list_submit(poor, &fence);
		gid_canvas_wait(poor, fence, COCKPIT_PATIENCE_MS);
	}
	tap_ok(cockpit_now_ms() - begin >= 2000, "nor if its lists are refused: %ld ms",
			cockpit_now_ms() - begin);
	gid_canvas_destroy(poor);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void test_restart(struct gid_domain *domain, struct gid_canvas *canvas) {
	struct pollfd fds[] = {{gid_domain_get_fd(domain), POLLIN, 0},
			{gid_canvas_get_fd(canvas), POLLIN, 0}};
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	end_engine(SIGKILL);
	while (gid_canvas_is_connected(canvas) && cockpit_now_ms() < end) {
		poll(fds, 2, 100);
		gid_domain_dispatch(domain);
		gid_canvas_dispatch(canvas);
	}
	tap_ok(gid_list_begin(canvas) == -ENOTCONN, "without its engine there is no list: %s",
			gid_canvas_error(canvas));
	start_engine();
	while (!gid_canvas_is_connected(canvas) && cockpit_now_ms() < end) {
		poll(fds, 2, 100);
		gid_domain_dispatch(domain);
		gid_canvas_dispatch(canvas);
	}
	tap_ok(fill_and_present(canvas, 0xff777777) == 0, "a new engine goes on: %s",
			gid_canvas_error(canvas));
}

static void wait_for_connection(struct gid_domain *domain, struct gid_canvas *canvas) {
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (!gid_canvas_is_connected(canvas) && cockpit_now_ms() < end) {
		cockpit_sleep_ms(10);
		gid_domain_dispatch(domain);
		gid_canvas_dispatch(canvas);
	}
}

/* Killed while it draws: what was shown stays as it was, and what was under way is told as lost. */
static void test_killed_in_a_list(struct gid_domain *domain) {
	struct gid_canvas *canvas = engine_make_canvas(domain, "long", LONG_SIZE, LONG_SIZE);
	struct viewer viewer;
	struct gid_slab *shown = NULL;
	uint64_t good = 0, first = 0, second = 0;
	viewer_init(&viewer, "canvas/long");
	tap_ok(fill_and_present(canvas, 0xff112233) == 0 && viewer_sees(&viewer, 5, 5, 0x112233) &&
					gid_slab_import(viewer.domain, viewer.frame.gid, &shown) ==
							0,
			"somebody looks at a canvas");
	const uint32_t *pixels = gid_slab_view(shown, gid_slot_of(viewer.frame.gid));
	gid_list_begin(canvas);
	gid_list_present(canvas, false, GID_TIME_NONE);
	gid_list_submit(canvas, &good);
	bool is_done = gid_canvas_wait(canvas, good, COCKPIT_PATIENCE_MS) == 0;
	submit_long(canvas, &first);
	submit_long(canvas, &second);
	bool draws = gid_canvas_wait(canvas, first, 100) == -ETIMEDOUT;
	end_engine(SIGKILL);
	int ret = gid_canvas_wait(canvas, first, COCKPIT_PATIENCE_MS);
	tap_ok(is_done && draws && ret == -EPIPE,
			"a list during which the engine is killed is told as lost: %s",
			gid_canvas_error(canvas));
	bool good_still = true;
	for (size_t i = 0; i < (size_t)LONG_SIZE * LONG_SIZE; i++) {
		good_still &= (pixels[i] & 0xffffff) == 0x112233;
	}
	tap_ok(good_still, "who looks at the canvas still has its last good picture");
	start_engine();
	wait_for_connection(domain, canvas);
	tap_ok(fill_and_present(canvas, 0xff445566) == 0 && viewer_sees(&viewer, 5, 5, 0x445566),
			"and then that of the next engine, without being told of it: %s",
			gid_canvas_error(canvas));
	tap_ok(gid_canvas_wait(canvas, second, 0) == -EPIPE &&
					gid_canvas_wait(canvas, good, 0) == 0,
			"which does not make a list that was lost a done one");
	gid_slab_unref(shown);
	viewer_finish(&viewer);
	gid_canvas_destroy(canvas);
}

/* A source is taken back while it is drawn: the list ends there, and nothing of it is shown. */
static void test_revoked_in_a_list(struct gid_domain *domain) {
	struct gid_canvas *canvas = engine_make_canvas(domain, "long", LONG_SIZE, LONG_SIZE);
	struct gid_slab *source = make_source(domain, 0x00abcdef);
	uint64_t fence;
	fill_and_present(canvas, 0xff112233);
	gid_canvas_share(canvas, source);
	for (int times = 0; times < 2; times++) {
		gid_list_begin(canvas);
		for (int i = 0; i < 60; i++) {
			const struct gid_layer layer = {.gid = gid_slab_gid(source, 0),
					.alpha = 100,
					.bilinear = true,
					.transform = 1,
					.box = {0, 0, LONG_SIZE, LONG_SIZE}};
			gid_list_layer(canvas, &layer);
		}
		gid_list_present(canvas, false, GID_TIME_NONE);
		gid_list_submit(canvas, &fence);
	}
	int ret = gid_canvas_wait(canvas, fence - 1, 50);
	gid_slab_revoke(source, 2);
	bool draws = ret == -ETIMEDOUT;
	ret = gid_canvas_wait(canvas, fence, COCKPIT_PATIENCE_MS);
	struct gid_canvas_stats stats;
	gid_canvas_get_stats(canvas, &stats);
	tap_ok(draws && ret < 0 && stats.refused == 2,
			"a source that is taken back while it is drawn ends the list: %s",
			gid_canvas_error(canvas));
	struct viewer late;
	viewer_init(&late, "canvas/long");
	tap_ok(viewer_sees(&late, 8, 8, 0x112233), "and the canvas keeps its last good picture");
	tap_ok(fill_and_present(canvas, 0xff445566) == 0 && viewer_sees(&late, 8, 8, 0x445566),
			"on which the next list goes on");
	viewer_finish(&late);
	gid_slab_destroy(source, true);
	gid_canvas_destroy(canvas);
}

struct drawer {
	pthread_t thread;
	atomic_bool ends;
	int drawn, failed;
};

/* Draws on `other` all the time, with a connection of its own. */
static void *draw_on(void *data) {
	struct drawer *drawer = data;
	struct gid_domain *domain;
	struct gid_canvas *canvas;
	const struct gid_canvas_options options = {.size = sizeof(options),
			.width = WIDTH,
			.height = HEIGHT,
			.connect_ms = COCKPIT_PATIENCE_MS};
	if (gid_domain_connect("open", &domain) < 0) {
		drawer->failed++;
		return NULL;
	}
	if (gid_canvas_create(domain, "cluster", "other", &options, &canvas) < 0) {
		drawer->failed++;
	} else {
		while (!atomic_load(&drawer->ends)) {
			int ret = fill_and_present(canvas, 0xff000000u | (uint32_t)drawer->drawn);
			drawer->drawn += ret == 0;
			drawer->failed += ret < 0;
		}
		gid_canvas_destroy(canvas);
	}
	gid_domain_destroy(domain);
	return NULL;
}

/* One program makes and destroys its canvas without end, while another one draws on its own. */
static void test_made_again(struct gid_domain *domain) {
	struct drawer drawer = {0};
	const struct gid_canvas_options options = {.size = sizeof(options),
			.width = WIDTH,
			.height = HEIGHT,
			.connect_ms = COCKPIT_PATIENCE_MS};
	int made = 0, before = 0;
	pthread_create(&drawer.thread, NULL, draw_on, &drawer);
	for (int i = 0; i < 100; i++) {
		struct gid_canvas *canvas;
		if (gid_canvas_create(domain, "cluster", "panel", &options, &canvas) < 0) {
			break;
		}
		made += fill_and_present(canvas, 0xff00ff00) == 0;
		if (i % 2 != 0) { /* the next one comes while a list is under way */
			gid_list_begin(canvas);
			gid_list_present(canvas, false, GID_TIME_NONE);
			gid_list_submit(canvas, NULL);
		}
		gid_canvas_destroy(canvas);
		before = i == 9 ? engine_count_open("") : before;
	}
	atomic_store(&drawer.ends, true);
	pthread_join(drawer.thread, NULL);
	tap_ok(made == 100 && drawer.drawn > 0 && drawer.failed == 0,
			"a canvas is made 100 times, while another one goes on: %d made, %d pictures, "
			"%d failed",
			made, drawer.drawn, drawer.failed);
	tap_ok(engine_has_few_open(before + 4), "and nothing is left of them in the engine: %d, %d",
			before, engine_count_open(""));
}

/* A canvas that is added, while another one goes on with what it has; and a file with a mistake. */
static void test_reload(struct gid_domain *domain, struct gid_canvas *canvas) {
	struct gid_canvas_stats before, after;
	fill_and_present(canvas, 0xff123456);
	gid_canvas_get_stats(canvas, &before);
	write_config("[canvas late]\ndomain=open\n");
	kill(engine, SIGHUP);
	struct gid_canvas *late = engine_make_canvas(domain, "late", 32, 32);
	tap_ok(fill_and_present(late, 0xffffffff) == 0,
			"a canvas that is added to the file is there after SIGHUP");
	write_config("[canvas late]\ndomain=open\nslots=1\n");
	kill(engine, SIGHUP);
	cockpit_sleep_ms(100);
	tap_ok(fill_and_present(late, 0xff00ff00) == 0, "a file with a mistake changes nothing");
	gid_canvas_destroy(late);
	write_config("");
	kill(engine, SIGHUP);
	struct gid_canvas *none = NULL;
	const struct gid_canvas_options options = {
			.size = sizeof(options), .width = 8, .height = 8, .connect_ms = 1000};
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	int ret = 0;
	while (ret != -ETIMEDOUT && cockpit_now_ms() < end) {
		ret = gid_canvas_create(domain, "cluster", "late", &options, &none);
		if (ret == 0) {
			gid_canvas_destroy(none);
		}
	}
	tap_ok(ret == -ETIMEDOUT, "a canvas that is taken out is gone");
	ret = fill_and_present(canvas, 0xff654321);
	gid_canvas_get_stats(canvas, &after);
	tap_ok(ret == 0 && after.presented == before.presented + 1 && after.lists > before.lists,
			"and one of which nothing changed went on all the time");
}

/* What a canvas must have and the machine has not is said at once. */
static void test_no_device(void) {
	char log[128], text[512] = "";
	snprintf(log, sizeof(log), "%s/none.log", cockpit_folder);
	engine_write_config("[canvas panel]\ndomain=open\nbackend=gles\n");
	setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null", 1);
	pid_t child = engine_start_logging("none.log", NULL);
	int status = -1;
	waitpid(child, &status, 0);
	int fd = open(log, O_RDONLY);
	if (read(fd, text, sizeof(text) - 1) < 0) {
		text[0] = 0;
	}
	close(fd);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 1 &&
					strstr(text, "[canvas panel] backend=gles: ") != NULL,
			"without a driver for backend=gles it does not start: %.*s",
			(int)strcspn(text, "\n"), text);
}

int main(void) {
	struct gid_domain *domain = NULL, *cluster = NULL;
	if (!cockpit_init() || gid_domain_connect("open", &domain) < 0 ||
			gid_domain_connect("cluster", &cluster) < 0) {
		tap_ok(false, "two domains");
		cockpit_finish();
		return tap_finish();
	}
	struct gid_canvas *none;
	const struct gid_canvas_options options = {
			.size = sizeof(options), .width = 8, .height = 8, .connect_ms = 1};
	tap_ok(gid_canvas_create(domain, "cluster", "panel", &options, &none) == -ETIMEDOUT,
			"without an engine there is no canvas: %s", gid_canvas_create_error());
	struct gid_canvas_options at_once = options;
	at_once.connect_ms = -1;
	tap_ok(gid_canvas_create(domain, "cluster", "panel", &at_once, &none) == 0 &&
					!gid_canvas_is_connected(none) &&
					gid_canvas_engine(none) == 0,
			"unless the program does not want to wait for it");
	start_engine();
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (!gid_canvas_is_connected(none) && cockpit_now_ms() < end) {
		cockpit_sleep_ms(10);
		gid_domain_dispatch(domain);
		gid_canvas_dispatch(none);
	}
	tap_ok(gid_canvas_is_connected(none) && gid_canvas_engine(none) == 2 &&
					fill_and_present(none, 0xff000000) == 0,
			"which then finds it later");
	gid_canvas_destroy(none);
	struct viewer viewer;
	viewer_init(&viewer, "canvas/panel");
	struct gid_canvas *canvas = engine_make_canvas(domain, "panel", WIDTH, HEIGHT);
	struct gid_canvas *other = engine_make_canvas(domain, "other", WIDTH, HEIGHT);
	test_drawing(canvas, &viewer);
	test_shapes(canvas, &viewer);
	test_many(canvas, &viewer);
	test_expected(domain, canvas);
	test_sources(domain, cluster, canvas, &viewer);
	test_mistakes(canvas, other);
	gid_canvas_destroy(canvas);
	while (viewer_next(&viewer) && viewer.frame.gid != GID_NONE) {
	}
	tap_ok((viewer.frame.flags & GID_FRAME_HIDDEN) != 0,
			"when the program ends, its canvas has no picture");
	test_random(domain, other);
	test_reload(domain, other);
	test_restart(domain, other);
	gid_canvas_destroy(other);
	test_killed_in_a_list(domain);
	test_revoked_in_a_list(domain);
	test_made_again(domain);
	test_limits(domain);
	test_no_device();
	viewer_finish(&viewer);
	gid_domain_destroy(cluster);
	gid_domain_destroy(domain);
	tap_ok(end_engine(SIGTERM) == 0, "the engine ends in good order");
	cockpit_finish();
	return tap_finish();
}
