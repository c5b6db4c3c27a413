// SPDX-License-Identifier: MIT
/* Commands that are drawn together are, bit by bit, what each of them draws by itself. */
#include <drm_fourcc.h>
#include <errno.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

#include "drawing.h"
#include "fused_drawing.h"
#include "helpers.h"
#include "repeated.h"
#include "tap.h"

#define WIDTH 387 /* no multiple of anything */
#define HEIGHT 301
#define ROUNDS 50 /* lists for each format of the target */
#define ROUNDS_AT_LENGTH 150
#define LIST 24 /* commands, at most */
#define SOURCES 10
#define LARGE 2048 /* pixels, a canvas that takes some milliseconds */

static uint32_t seed = 1;
static struct gid_layout layout;
static struct picture sources[SOURCES + 1]; /* the last one is the target itself */

static const uint32_t source_formats[SOURCES] = {DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888,
		DRM_FORMAT_ABGR8888, DRM_FORMAT_XBGR8888, DRM_FORMAT_RGBA8888, DRM_FORMAT_RGB565,
		DRM_FORMAT_NV12, DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888, DRM_FORMAT_R8};
static const uint32_t target_formats[] = {DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888,
		DRM_FORMAT_ABGR8888, DRM_FORMAT_XBGR8888, DRM_FORMAT_RGBA8888, DRM_FORMAT_RGB565};

static uint32_t any(uint32_t below) {
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static uint32_t any_colour(void) {
	return any(1 << 24) | (any(2) == 0 ? 255 : any(256)) << 24;
}

static void *bytes_of(const struct gid_layout *of) {
	const size_t size = (gid_layout_size(of) + 63) / 64 * 64;
	uint8_t *bytes = aligned_alloc(64, size);
	if (bytes == NULL) {
		abort();
	}
	for (size_t i = 0; i < size; i++) {
		bytes[i] = (uint8_t)any(256);
	}
	return bytes;
}

/* --- lists ------------------------------------------------------------------------------------ */

union command {
	uint32_t words[64];
	struct engine_head head;
	struct engine_clip clip;
	struct engine_fill fill;
	struct engine_points points;
	struct engine_lines lines;
	struct engine_triangles triangles;
	struct engine_polygon polygon;
	struct engine_layer layer;
	struct engine_masks masks;
};

static struct {
	union command commands[LIST];
	uint32_t source[LIST]; /* of `sources` */
	uint32_t count;
} list;

static struct engine_rectangle any_rectangle(void) {
	return (struct engine_rectangle){(int16_t)(any(WIDTH) - 60), (int16_t)(any(HEIGHT) - 60),
			(uint16_t)any(WIDTH + 100), (uint16_t)any(HEIGHT + 100)};
}

static void any_points(struct engine_point *points, uint32_t count) {
	for (uint32_t i = 0; i < count; i++) {
		points[i] = (struct engine_point){
				(int16_t)(any(WIDTH + 40) - 20), (int16_t)(any(HEIGHT + 40) - 20)};
	}
}

static void set_head(union command *command, uint16_t opcode, size_t bytes) {
	command->head = (struct engine_head){opcode, (uint16_t)(bytes / 4)};
}

static void make_fill(union command *command) {
	const uint32_t count = any(4);
	set_head(command, ENGINE_FILL, sizeof(command->fill) + count * 8);
	command->fill.op = any(4) == 0 ? any(ENGINE_ADD + 1)
			: any(2) == 0  ? ENGINE_SRC
				       : ENGINE_OVER;
	command->fill.colour = any_colour();
	for (uint32_t i = 0; i < count; i++) {
		command->fill.rectangles[i] = any(3) == 0
				? (struct engine_rectangle){0, 0, WIDTH, HEIGHT}
				: any_rectangle();
	}
}

/* Most of them as they are; of those that are not, some scaled, and all operators. */
static void make_layer(union command *command, uint32_t *source) {
	const bool is_odd = any(4) == 0;
	struct engine_layer *layer = &command->layer;
	static const uint32_t frequent[] = {0, 1, 2, 3, 7, 8};
	*source = any(3) == 0 ? any(SOURCES - 1) : frequent[any(6)];
	*source = any(12) == 0 ? SOURCES : *source;
	*layer = (struct engine_layer){.head = {ENGINE_LAYER, sizeof(*layer) / 4},
			.op = is_odd		      ? (uint8_t)any(ENGINE_ADD + 1)
					: any(3) == 0 ? ENGINE_SRC
						      : ENGINE_OVER,
			.filter = (uint8_t)any(2),
			.transform = is_odd ? (uint8_t)any(8) : 0,
			.alpha = any(3) == 0 ? (uint8_t)any(256) : 255,
			.flags = is_odd && any(2) == 0 ? ENGINE_LAYER_STRAIGHT : 0,
			.x = (int16_t)(any(2) == 0 ? 0 : any(301) - 150),
			.y = (int16_t)(any(2) == 0 ? 0 : any(301) - 150)};
	if (any(4) == 0) {
		layer->source_x = (uint16_t)any(100);
		layer->source_y = (uint16_t)any(100);
		layer->source_width = (uint16_t)(1 + any(WIDTH - 100));
		layer->source_height = (uint16_t)(1 + any(HEIGHT - 100));
	}
	if (is_odd && any(2) == 0) {
		layer->width = (uint16_t)(1 + any(WIDTH));
		layer->height = (uint16_t)(1 + any(HEIGHT));
	}
}

static void make_masks(union command *command) {
	const uint32_t count = 1 + any(3);
	set_head(command, ENGINE_MASKS, sizeof(command->masks) + count * 12);
	command->masks.colour = any_colour();
	for (uint32_t i = 0; i < count; i++) {
		command->masks.glyphs[i] = (struct engine_glyph){(uint16_t)any(20),
				(uint16_t)any(20), (uint16_t)any(90), (uint16_t)any(90),
				(int16_t)any(WIDTH), (int16_t)any(HEIGHT)};
	}
}

static void make_clip(union command *command) {
	const uint32_t count = any(4) == 0 ? 2 + any(3) : any(2);
	set_head(command, ENGINE_CLIP, sizeof(command->clip) + count * 8);
	for (uint32_t i = 0; i < count; i++) {
		command->clip.rectangles[i] = any_rectangle();
	}
}

static void make_shape(union command *command) {
	const uint32_t count = 3 * (1 + any(4));
	switch (any(4)) {
	case 0:
		set_head(command, ENGINE_POINTS, sizeof(command->points) + count * 4);
		any_points(command->points.points, count);
		break;
	case 1:
		set_head(command, ENGINE_LINES, sizeof(command->lines) + count * 4);
		command->lines.width = 1 + any(200);
		any_points(command->lines.points, count);
		break;
	case 2:
		set_head(command, ENGINE_TRIANGLES, sizeof(command->triangles) + count * 4);
		any_points(command->triangles.points, count);
		break;
	default:
		set_head(command, ENGINE_POLYGON, sizeof(command->polygon) + count * 4);
		command->polygon.rule = any(2);
		any_points(command->polygon.points, count);
	}
	command->points.colour = any_colour(); /* of each of them */
}

static void make_list(void) {
	list.count = 1 + any(LIST);
	for (uint32_t i = 0; i < list.count; i++) {
		const uint32_t kind = any(16);
		if (kind < 9) {
			make_layer(&list.commands[i], &list.source[i]);
		} else if (kind < 12) {
			make_fill(&list.commands[i]);
		} else if (kind < 14) {
			make_clip(&list.commands[i]);
		} else if (kind < 15) {
			make_shape(&list.commands[i]);
		} else {
			make_masks(&list.commands[i]);
		}
	}
}

/* Returns what the command returns. */
static int draw(struct drawing *drawing, uint32_t i) {
	const union command *command = &list.commands[i];
	switch (command->head.opcode) {
	case ENGINE_CLIP:
		return drawing_set_clip(drawing, command->clip.rectangles,
				(command->clip.head.words - 1u) / 2);
	case ENGINE_FILL:
		return drawing_fill(drawing, &command->fill);
	case ENGINE_POINTS:
		return drawing_points(drawing, &command->points);
	case ENGINE_LINES:
		return drawing_lines(drawing, &command->lines);
	case ENGINE_TRIANGLES:
		return drawing_triangles(drawing, &command->triangles);
	case ENGINE_POLYGON:
		return drawing_polygon(drawing, &command->polygon);
	case ENGINE_LAYER:
		return drawing_layer(drawing, &command->layer, &sources[list.source[i]]);
	default:
		return drawing_masks(drawing, &command->masks, &sources[SOURCES - 1]);
	}
}

/* --- one by one, and together ----------------------------------------------------------------- */

struct drawn {
	int errors[LIST + 1]; /* of each command, and of the end */
	uint64_t cost;
	uint32_t put_off; /* commands that waited for a later one */
};

static void draw_list(void *target, bool fuses, struct helper_job *job, struct drawn *drawn) {
	struct drawing drawing;
	*drawn = (struct drawn){0};
	sources[SOURCES].memory = target;
	drawing_init(&drawing);
	drawing.fuses = fuses;
	drawing.job = job;
	drawing_begin(&drawing, &layout, target);
	for (uint32_t i = 0; i < list.count; i++) {
		drawn->errors[i] = draw(&drawing, i);
		drawn->put_off += fused_waits(&drawing);
	}
	drawn->errors[LIST] = drawing_flush(&drawing);
	drawn->cost = drawing.cost;
	drawing_finish(&drawing);
}

/* As many pixels are counted, but for one a band. */
static bool is_near(uint64_t one, uint64_t other) {
	return one < other + other / 500 + 1000 && other < one + one / 500 + 1000;
}

static void test_lists(struct helper_job *job) {
	const size_t size = gid_layout_size(&layout);
	uint8_t *before = bytes_of(&layout);
	uint8_t *alone = aligned_alloc(64, (size + 63) / 64 * 64);
	uint8_t *together = aligned_alloc(64, (size + 63) / 64 * 64);
	const uint32_t rounds = repeated(ROUNDS, ROUNDS_AT_LENGTH);
	uint32_t wrong = 0, put_off = 0, errors = 0, costs = 0;
	for (uint32_t round = 0; round < rounds; round++) {
		struct drawn one, other;
		make_list();
		memcpy(alone, before, size);
		memcpy(together, before, size);
		draw_list(alone, false, NULL, &one);
		draw_list(together, fused_row_can(), job, &other);
		wrong += memcmp(alone, together, size) != 0;
		errors += memcmp(one.errors, other.errors, sizeof(one.errors)) != 0;
		costs += !is_near(one.cost, other.cost);
		put_off += other.put_off;
	}
	const bool is_known = fused_row_can() &&
			(layout.fourcc == DRM_FORMAT_ARGB8888 ||
					layout.fourcc == DRM_FORMAT_XRGB8888 ||
					layout.fourcc == DRM_FORMAT_ABGR8888);
	tap_ok(wrong == 0 && errors == 0 && costs == 0,
			"%.4s: %u of %u lists differ, %u in their errors, %u in what they cost",
			(const char *)&layout.fourcc, wrong, rounds, errors, costs);
	tap_ok(is_known == (put_off > 0), "%.4s: %u commands waited", (const char *)&layout.fourcc,
			put_off);
	free(before);
	free(alone);
	free(together);
}

/* --- ends ------------------------------------------------------------------------------------- */

static uint32_t looks, end_at;

static bool go_on(void *data) {
	return ++looks != end_at;
}

/* Sixteen layers of the whole canvas, which wait. */
static void put_off_layers(struct drawing *drawing, const struct gid_layout *large, void *target,
		const struct picture *source) {
	const struct engine_layer layer = {
			.head = {ENGINE_LAYER, sizeof(layer) / 4}, .op = ENGINE_OVER, .alpha = 100};
	looks = 0;
	drawing_init(drawing);
	drawing->fuses = true;
	drawing->go_on = go_on;
	drawing_begin(drawing, large, target);
	for (uint32_t i = 0; i < FUSED_LAYERS_MAX; i++) {
		drawing_layer(drawing, &layer, source);
	}
}

static void test_ends(void) {
	struct gid_layout large;
	struct drawing drawing;
	gid_layout_init(&large, DRM_FORMAT_ARGB8888, LARGE, LARGE, 64);
	uint32_t *target = bytes_of(&large), *copy = bytes_of(&large);
	const struct picture source = {.layout = large, .memory = bytes_of(&large)};
	const size_t size = gid_layout_size(&large);

	memcpy(copy, target, size);
	put_off_layers(&drawing, &large, target, &source);
	tap_ok(drawing.fused.count == FUSED_LAYERS_MAX && memcmp(target, copy, size) == 0 &&
					drawing.cost == 0,
			"layers wait, and cost nothing meanwhile");
	drawing_forget(&drawing);
	tap_ok(drawing_flush(&drawing) == 0 && memcmp(target, copy, size) == 0,
			"what is forgotten is not drawn");
	drawing_finish(&drawing);

	end_at = 0;
	put_off_layers(&drawing, &large, target, &source);
	tap_ok(drawing_flush(&drawing) == 0 && memcmp(target, copy, size) != 0, "layers are drawn");
	tap_ok(looks >= (uint64_t)FUSED_LAYERS_MAX * LARGE * LARGE / (1 << 20),
			"with %u looks between their bands", looks);
	drawing_finish(&drawing);

	memcpy(target, copy, size);
	end_at = 3;
	put_off_layers(&drawing, &large, target, &source);
	const int ret = drawing_flush(&drawing);
	uint32_t rows = 0;
	for (uint32_t y = 0; y < LARGE; y++) {
		rows += memcmp(target + (size_t)y * LARGE, copy + (size_t)y * LARGE, LARGE * 4) !=
				0;
	}
	tap_ok(ret == -ECANCELED && rows > 0 && rows < LARGE / 4, "ended after %u rows", rows);
	tap_ok(!fused_waits(&drawing) && drawing_flush(&drawing) == 0, "nothing of them waits");
	drawing_finish(&drawing);
	free(target);
	free(copy);
	free((void *)(uintptr_t)source.memory);
}

int main(void) {
	struct helpers *helpers;
	struct helper_job job;
	helpers_create(&helpers, 2);
	helper_job_init(&job, helpers);
	helper_job_wake(&job);
	for (size_t i = 0; i < SOURCES; i++) {
		gid_layout_init(&sources[i].layout, source_formats[i], WIDTH + 1, HEIGHT + 1, 64);
		sources[i].memory = bytes_of(&sources[i].layout);
	}
	for (size_t i = 0; i < sizeof(target_formats) / sizeof(target_formats[0]); i++) {
		gid_layout_init(&layout, target_formats[i], WIDTH, HEIGHT, 16);
		sources[SOURCES] = (struct picture){.layout = layout, .may_be_drawn = true};
		test_lists(NULL);
		test_lists(&job);
	}
	if (fused_row_can()) {
		test_ends();
	}
	for (size_t i = 0; i < SOURCES; i++) {
		free((void *)(uintptr_t)sources[i].memory);
	}
	helper_job_sleep(&job);
	helper_job_finish(&job);
	helpers_destroy(helpers);
	return tap_finish();
}
