// SPDX-License-Identifier: MIT
/* What helpers draw with the thread of a canvas is, bit by bit, what that draws alone. */
#include <drm_fourcc.h>
#include <errno.h>
#include <gid/gid.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drawing.h"
#include "helpers.h"
#include "repeated.h"
#include "tap.h"

#define WIDTH 1021 /* odd, and enough for some bands */
#define HEIGHT 1027
#define ROUNDS 12		 /* of each kind of command */
#define PATIENCE_NS 120000000000 /* on a machine with much else to do */

static struct helper_job job;
static uint32_t seed = 1;
static uint8_t *alone, *together;
static struct gid_layout layout;
static struct picture sources[8];

static const uint32_t source_formats[8] = {DRM_FORMAT_ARGB8888, DRM_FORMAT_XBGR8888,
		DRM_FORMAT_RGB888, DRM_FORMAT_RGB565, DRM_FORMAT_NV12, DRM_FORMAT_YUYV,
		DRM_FORMAT_P010, DRM_FORMAT_R8};
static const uint32_t target_formats[] = {
		DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888, DRM_FORMAT_RGBA8888, DRM_FORMAT_RGB565};

static uint32_t any(uint32_t below) {
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void *bytes_of(const struct gid_layout *of) {
	uint8_t *bytes = aligned_alloc(64, (gid_layout_size(of) + 63) / 64 * 64);
	if (bytes == NULL) {
		abort();
	}
	const size_t size = gid_layout_size(of);
	for (size_t i = 0; i < size; i++) {
		bytes[i] = (uint8_t)any(256);
	}
	return bytes;
}

/* Between bands of its own, the thread rests: helpers do the others. */
static bool rest(void *data) {
	nanosleep(&(struct timespec){0, 300000}, NULL);
	return true;
}

static struct engine_point any_point(void) {
	return (struct engine_point){
			(int16_t)(any(WIDTH + 400) - 200), (int16_t)(any(HEIGHT + 400) - 200)};
}

static struct engine_rectangle any_rectangle(void) {
	return (struct engine_rectangle){(int16_t)(any(WIDTH) - 100), (int16_t)(any(HEIGHT) - 100),
			(uint16_t)any(WIDTH + 200), (uint16_t)any(HEIGHT + 200)};
}

/* --- commands --------------------------------------------------------------------------------- */

static union {
	uint32_t words[4096];
	struct engine_fill fill;
	struct engine_lines lines;
	struct engine_triangles triangles;
	struct engine_polygon polygon;
	struct engine_layer layer;
	struct engine_masks masks;
} command;

static const struct picture *source;

static void any_points(struct engine_point *points, size_t fields, uint32_t count) {
	for (uint32_t i = 0; i < count; i++) {
		points[i] = any_point();
	}
	command.lines.head.words = (uint16_t)(fields / 4 + count);
}

static void make_fill(void) {
	const uint32_t count = 1 + any(3);
	command.fill.head = (struct engine_head){ENGINE_FILL, (uint16_t)(3 + 2 * count)};
	command.fill.op = any(ENGINE_ADD + 1);
	command.fill.colour = any(1 << 24) << 8 | any(256);
	for (uint32_t i = 0; i < count; i++) {
		command.fill.rectangles[i] = i == 0 ? (struct engine_rectangle){0, 0, WIDTH, HEIGHT}
						    : any_rectangle();
	}
}

static void make_lines(void) {
	command.lines.head.opcode = ENGINE_LINES;
	command.lines.colour = any(1 << 24) << 8 | any(256);
	command.lines.width = 1 + any(800);
	any_points(command.lines.points, sizeof(command.lines), 2 + any(20));
}

static void make_triangles(void) {
	command.triangles.head.opcode = ENGINE_TRIANGLES;
	command.triangles.colour = any(1 << 24) << 8 | any(256);
	any_points(command.triangles.points, sizeof(command.triangles), 3 * (1 + any(20)));
}

static void make_polygon(void) {
	command.polygon.head.opcode = ENGINE_POLYGON;
	command.polygon.colour = any(1 << 24) << 8 | any(256);
	command.polygon.rule = any(2);
	any_points(command.polygon.points, sizeof(command.polygon), 3 + any(20));
}

/* Of a kind: as it is, turned, scaled, and from a part of its source. */
static void make_layer(void) {
	const uint32_t kind = any(4);
	source = &sources[any(7)];
	struct engine_layer *layer = &command.layer;
	*layer = (struct engine_layer){.head = {ENGINE_LAYER, sizeof(*layer) / 4},
			.op = (uint8_t)any(ENGINE_ADD + 1),
			.filter = (uint8_t)any(2),
			.alpha = any(2) == 0 ? 255 : (uint8_t)any(256),
			.matrix = any(2) == 0 ? GID_MATRIX_BT601 : GID_MATRIX_BT709,
			.range = (uint8_t)(1 + any(2)),
			.flags = any(3) == 0 ? ENGINE_LAYER_STRAIGHT : 0,
			.x = (int16_t)(any(101) - 50),
			.y = (int16_t)(any(101) - 50)};
	if (kind >= 1) {
		layer->transform = (uint8_t)any(8);
	}
	if (kind >= 2) {
		layer->width = (uint16_t)(WIDTH / 2 + any(WIDTH));
		layer->height = (uint16_t)(HEIGHT / 2 + any(HEIGHT));
	}
	if (kind == 3) {
		layer->source_x = (uint16_t)any(300);
		layer->source_y = (uint16_t)any(300);
		layer->source_width = (uint16_t)(1 + any(WIDTH - 300));
		layer->source_height = (uint16_t)(1 + any(HEIGHT - 300));
	}
}

static void make_masks(void) {
	source = &sources[7];
	const uint32_t count = 1 + any(3);
	command.masks.head = (struct engine_head){ENGINE_MASKS, (uint16_t)(4 + 3 * count)};
	command.masks.colour = any(1 << 24) << 8 | any(256);
	for (uint32_t i = 0; i < count; i++) {
		command.masks.glyphs[i] = (struct engine_glyph){(uint16_t)any(20),
				(uint16_t)any(20), (uint16_t)(WIDTH - 20 - any(30)),
				(uint16_t)(HEIGHT - 20 - any(30)), (int16_t)any(30),
				(int16_t)any(30)};
	}
}

static int draw(struct drawing *drawing) {
	switch (command.layer.head.opcode) {
	case ENGINE_FILL:
		return drawing_fill(drawing, &command.fill);
	case ENGINE_LINES:
		return drawing_lines(drawing, &command.lines);
	case ENGINE_TRIANGLES:
		return drawing_triangles(drawing, &command.triangles);
	case ENGINE_POLYGON:
		return drawing_polygon(drawing, &command.polygon);
	case ENGINE_LAYER:
		return drawing_layer(drawing, &command.layer, source);
	default:
		return drawing_masks(drawing, &command.masks, source);
	}
}

/* --- tests ------------------------------------------------------------------------------------ */

static int draw_into(void *target, struct helper_job *by, const struct engine_rectangle *clip,
		uint32_t clips) {
	struct drawing drawing;
	drawing_init(&drawing);
	drawing.job = by;
	drawing.go_on = by != NULL ? rest : NULL;
	int ret = drawing_begin(&drawing, &layout, target);
	if (ret == 0) {
		ret = drawing_set_clip(&drawing, clip, clips);
	}
	ret = ret == 0 ? draw(&drawing) : ret;
	drawing_finish(&drawing);
	return ret;
}

/* Until helpers did something. */
static void test_kind(const char *name, void (*make)(void), bool is_helped) {
	const size_t size = gid_layout_size(&layout);
	const uint64_t used = job.used_ns, begin = gid_clock_now();
	const uint32_t least = repeated(ROUNDS, ROUNDS);
	uint32_t wrong = 0, rounds = 0;
	for (; rounds < least ||
			(is_helped && job.used_ns == used && gid_clock_now() - begin < PATIENCE_NS);
			rounds++) {
		struct engine_rectangle clip[3] = {
				any_rectangle(), any_rectangle(), {0, 0, WIDTH, HEIGHT - 200}};
		const uint32_t clips = any(2) == 0 ? 0 : 1 + any(3);
		make();
		job.alone_until = 0; /* whatever the machine has to do */
		memcpy(together, alone, size);
		const int one = draw_into(alone, NULL, clip, clips);
		const int other = draw_into(together, &job, clip, clips);
		wrong += one != 0 || other != 0 || memcmp(alone, together, size) != 0;
	}
	tap_ok(wrong == 0 && (!is_helped || job.used_ns > used),
			"%s: %u of %u differ, helpers worked for %llu us", name, wrong, rounds,
			(unsigned long long)(job.used_ns - used) / 1000);
}

/* Ends the command as soon as a helper is in it. */
static bool end_when_helped(void *data) {
	const uint64_t begin = gid_clock_now();
	while (atomic_load(&job.inside) == 0 && gid_clock_now() - begin < PATIENCE_NS) {
	}
	return false;
}

/* A command that is ended: nobody draws behind its back. */
static void test_stopped(void) {
	struct drawing drawing;
	struct gid_layout large;
	gid_layout_init(&large, DRM_FORMAT_ARGB8888, 4096, 4096, 64);
	uint8_t *target = aligned_alloc(64, gid_layout_size(&large));
	uint8_t *copy = aligned_alloc(64, gid_layout_size(&large));
	source = &sources[0];
	command.layer = (struct engine_layer){.head = {ENGINE_LAYER, sizeof(command.layer) / 4},
			.op = ENGINE_SRC,
			.filter = ENGINE_BILINEAR,
			.alpha = 255,
			.width = 4096,
			.height = 4096};
	drawing_init(&drawing);
	drawing.job = &job;
	drawing.go_on = end_when_helped;
	int ret = -ECANCELED;
	bool is_left = true;
	uint32_t drawn = 4096;
	/* Helpers draw all of it where this thread gets no processor just then. */
	for (int i = 0; i < 100 && ret == -ECANCELED && is_left && drawn == 4096; i++) {
		memset(target, 0, gid_layout_size(&large));
		job.alone_until = 0;
		drawing_begin(&drawing, &large, target);
		ret = draw(&drawing);
		memcpy(copy, target, gid_layout_size(&large));
		nanosleep(&(struct timespec){0, 20000000}, NULL);
		is_left = memcmp(copy, target, gid_layout_size(&large)) == 0;
		drawn = 0;
		for (uint32_t y = 0; y < 4096; y++) {
			drawn += ((const uint32_t *)(const void *)target)[y * 4096] != 0;
		}
	}
	tap_ok(ret == -ECANCELED && is_left && drawn > 0 && drawn < 4096,
			"a command that is ended is over for helpers, too: %u rows", drawn);
	tap_ok(drawing.cost >= (uint64_t)drawn * 4096, "and what these drew is counted");
	drawing_finish(&drawing);
	free(target);
	free(copy);
}

int main(void) {
	struct helpers *helpers;
	cpu_set_t set;
	sched_getaffinity(0, sizeof(set), &set);
	const bool are_two = CPU_COUNT(&set) > 1; /* or nobody ever helps */
	helpers_create(&helpers, 3);
	helper_job_init(&job, helpers);
	helper_job_wake(&job);
	for (size_t i = 0; i < 8; i++) {
		gid_layout_init(&sources[i].layout, source_formats[i], WIDTH + 1, HEIGHT + 1, 64);
		sources[i].memory = bytes_of(&sources[i].layout);
	}
	for (size_t i = 0; i < sizeof(target_formats) / sizeof(target_formats[0]); i++) {
		gid_layout_init(&layout, target_formats[i], WIDTH, HEIGHT, 16);
		alone = bytes_of(&layout);
		together = bytes_of(&layout);
		printf("# target %.4s\n", (const char *)&target_formats[i]);
		test_kind("fills", make_fill, are_two);
		test_kind("lines", make_lines, are_two);
		test_kind("triangles", make_triangles, are_two);
		test_kind("polygons", make_polygon, are_two);
		for (int k = 0; k < 4; k++) {
			test_kind("layers", make_layer, are_two);
		}
		test_kind("masks", make_masks, false);
		free(alone);
		free(together);
	}
	if (are_two) {
		test_stopped();
	}
	for (size_t i = 0; i < 8; i++) {
		free((void *)(uintptr_t)sources[i].memory);
	}
	helper_job_sleep(&job);
	helper_job_finish(&job);
	helpers_destroy(helpers);
	return tap_finish();
}
