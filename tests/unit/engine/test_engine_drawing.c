// SPDX-License-Identifier: MIT
/* What commands of shapes draw, pixel by pixel: against plain loops, and by what must hold. */
#include <drm_fourcc.h>
#include <errno.h>
#include <gid/stream.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "tap.h"
#include "triangle_drawing.h"

static struct drawing drawing;

static bool is_in(struct engine_rectangle box, int x, int y) {
	return x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height;
}

/* --- clips ------------------------------------------------------------------------------------ */

static const struct engine_rectangle clips[] = {
		{-5, -5, 15, 12}, {8, 3, 10, 30}, {30, 20, 65535, 65535}, {100, 100, 4, 4}};

static bool is_clipped_in(int x, int y) {
	for (size_t i = 0; i < sizeof(clips) / sizeof(clips[0]); i++) {
		if (is_in(clips[i], x, y)) {
			return true;
		}
	}
	return false;
}

static void test_fill(void) {
	static struct bitmap target;
	const struct engine_rectangle box = {-3, 2, 39, 65535};
	bool exact = true;
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	drawing_set_clip(&drawing, clips, 4);
	tap_ok(fill(&drawing, ENGINE_SRC, 0xff123456, box) == 0, "a rectangle is filled");
	for (int y = 0; y < HEIGHT; y++) {
		for (int x = 0; x < WIDTH; x++) {
			bool in = is_in(box, x, y) && is_clipped_in(x, y);
			exact &= *pixel(&target, (uint32_t)x, (uint32_t)y) == (in ? 0xff123456 : 0);
		}
	}
	tap_ok(exact && guards_hold(&target), "exactly where clip, canvas and rectangle overlap");
	fill(&drawing, ENGINE_OVER, 0x80ff0000, box);
	tap_ok(*pixel(&target, 1, 3) == 0xff891a2b, "a colour is blended by its alpha: %08x",
			*pixel(&target, 1, 3));
	fill(&drawing, ENGINE_CLEAR, 0, box);
	tap_ok(*pixel(&target, 1, 3) == 0, "and cleared");
	drawing_set_clip(&drawing, NULL, 0);
	fill(&drawing, ENGINE_SRC, 0x80ffffff, (struct engine_rectangle){39, 23, 1, 1});
	tap_ok(*pixel(&target, 39, 23) == 0x80808080,
			"no clip means the whole canvas; its pixels are multiplied by alpha");
}

/* Points of all formats against what filling one pixel does. */
static void test_points(void) {
	static const uint32_t formats[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_ARGB8888,
			DRM_FORMAT_XBGR8888, DRM_FORMAT_ABGR8888, DRM_FORMAT_BGRX8888,
			DRM_FORMAT_BGRA8888, DRM_FORMAT_RGBX8888, DRM_FORMAT_RGBA8888,
			DRM_FORMAT_RGB565};
	static struct bitmap points, boxes;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct engine_point list[300];
		uint32_t random = 1;
		for (size_t k = 0; k < 300; k++) {
			random = random * 1664525 + 1013904223;
			list[k] = (struct engine_point){(int16_t)((random >> 8) % 60 - 10),
					(int16_t)((random >> 20) % 50 - 10)};
		}
		list[0] = (struct engine_point){INT16_MIN, INT16_MAX};
		list[1] = (struct engine_point){INT16_MAX, INT16_MIN};
		struct engine_points *command =
				make(ENGINE_POINTS, sizeof(*command), list, sizeof(list));
		command->colour = 0xfff1a753;
		bitmap_init(&points, formats[i], WIDTH, HEIGHT, 0);
		bitmap_init(&boxes, formats[i], WIDTH, HEIGHT, 0);
		drawing_begin(&drawing, &points.layout, slot_of(&points));
		drawing_set_clip(&drawing, clips, 4);
		drawing_points(&drawing, command);
		drawing_begin(&drawing, &boxes.layout, slot_of(&boxes));
		drawing_set_clip(&drawing, clips, 4);
		for (size_t k = 0; k < 300; k++) {
			fill(&drawing, ENGINE_SRC, 0xfff1a753,
					(struct engine_rectangle){list[k].x, list[k].y, 1, 1});
		}
		size_t size = gid_layout_size(&points.layout);
		/* What an X stands for does not count. */
		bool same = true;
		uint32_t unused = formats[i] == DRM_FORMAT_XRGB8888 ||
						formats[i] == DRM_FORMAT_XBGR8888
				? 0xff000000
				: formats[i] == DRM_FORMAT_BGRX8888 ||
						formats[i] == DRM_FORMAT_RGBX8888
				? 0xff
				: 0;
		for (size_t k = 0; k < size / 4; k++) {
			uint32_t one = ((uint32_t *)slot_of(&points))[k] | unused;
			uint32_t other = ((uint32_t *)slot_of(&boxes))[k] | unused;
			same &= one == other;
		}
		tap_ok(same && guards_hold(&points),
				"points of %.4s are clipped and stored as boxes of a pixel are",
				(const char *)&formats[i]);
	}
}

/* --- shapes ----------------------------------------------------------------------------------- */

static void test_shapes(void) {
	static struct bitmap target;
	const struct engine_point lines[] = {{-20, 10}, {60, 10}, {60, 10}, {20, -10}};
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	struct engine_lines *command = make(ENGINE_LINES, sizeof(*command), lines, sizeof(lines));
	command->colour = 0xffffffff;
	command->width = 16;
	tap_ok(drawing_lines(&drawing, command) == 0, "lines are drawn");
	bool row = true;
	for (uint32_t x = 0; x < WIDTH; x++) {
		row &= *pixel(&target, x, 10) == 0xffffffff && *pixel(&target, x, 12) == 0;
	}
	tap_ok(row && guards_hold(&target), "a line of one pixel fills its row and no other one");

	const struct engine_point three[] = {{4, 4}, {36, 4}, {4, 20}};
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	struct engine_triangles *triangles =
			make(ENGINE_TRIANGLES, sizeof(*triangles), three, sizeof(three));
	triangles->colour = 0xffffffff;
	tap_ok(drawing_triangles(&drawing, triangles) == 0, "a triangle is drawn");
	uint32_t sum = 0;
	for (uint32_t y = 0; y < HEIGHT; y++) {
		for (uint32_t x = 0; x < WIDTH; x++) {
			sum += *pixel(&target, x, y) >> 24;
		}
	}
	tap_ok(fabs(sum / 255.0 - 32 * 16 / 2) < 4, "with its area: %.1f of 256", sum / 255.0);

	struct engine_point wild[1000];
	uint32_t random = 5;
	for (size_t i = 0; i < 1000; i++) {
		random = random * 1664525 + 1013904223;
		wild[i] = (struct engine_point){(int16_t)(random >> 16), (int16_t)random};
	}
	command = make(ENGINE_LINES, sizeof(*command), wild, sizeof(wild));
	command->width = ENGINE_LINE_WIDTH_MAX;
	command->colour = 0x40ffffff;
	int ret = drawing_lines(&drawing, command);
	triangles = make(ENGINE_TRIANGLES, sizeof(*triangles), wild, 999 * sizeof(wild[0]));
	triangles->colour = 0x40ffffff;
	tap_ok(ret == 0 && drawing_triangles(&drawing, triangles) == 0 && guards_hold(&target),
			"wild coordinates touch nothing outside");
}

/* Where a pixel's box lies: within, outside of, or partly in a triangle. By exact numbers. */
enum place { OUTSIDE, WITHIN, PARTLY };

static enum place place_of(const struct engine_point *points, int x, int y) {
	int inside[2] = {0}; /* of edges that have the whole box on one side, or on the other one */
	for (int i = 0; i < 3; i++) {
		const struct engine_point a = points[i], b = points[(i + 1) % 3];
		int right = 0, left = 0;
		for (int k = 0; k < 4; k++) {
			const int64_t px = x + k % 2, py = y + k / 2;
			const int64_t side = (b.x - a.x) * (py - a.y) - (b.y - a.y) * (px - a.x);
			right += side >= 0;
			left += side <= 0;
		}
		inside[0] += right == 4;
		inside[1] += left == 4;
	}
	const int64_t area = (int64_t)(points[1].x - points[0].x) * (points[2].y - points[0].y) -
			(int64_t)(points[1].y - points[0].y) * (points[2].x - points[0].x);
	if (area == 0) {
		return PARTLY;
	}
	return inside[area < 0] == 3 ? WITHIN : inside[area > 0] > 0 ? OUTSIDE : PARTLY;
}

/* Triangles that are far larger than a canvas, of which a few pixels are seen. */
static void test_far_triangles(void) {
	static struct bitmap target;
	uint32_t random = 11, wrong = 0, within = 0, outside = 0;
	for (int round = 0; round < 3000; round++) {
		struct engine_point points[3];
		for (int i = 0; i < 3; i++) {
			random = random * 1664525 + 1013904223;
			points[i].x = (int16_t)(random >> 16);
			random = random * 1664525 + 1013904223;
			points[i].y = (int16_t)(random >> 16);
		}
		bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
		drawing_begin(&drawing, &target.layout, slot_of(&target));
		struct engine_triangles *command =
				make(ENGINE_TRIANGLES, sizeof(*command), points, sizeof(points));
		command->colour = 0xffffffff;
		drawing_triangles(&drawing, command);
		for (int y = 0; y < HEIGHT; y++) {
			for (int x = 0; x < WIDTH; x++) {
				const enum place place = place_of(points, x, y);
				const uint32_t alpha =
						*pixel(&target, (uint32_t)x, (uint32_t)y) >> 24;
				wrong += (place == WITHIN && alpha != 255) ||
						(place == OUTSIDE && alpha != 0);
				within += place == WITHIN;
				outside += place == OUTSIDE;
			}
		}
	}
	tap_ok(wrong == 0 && within > 10000 && outside > 10000,
			"triangles of any size are where they are: %u of %u pixels wrong", wrong,
			within + outside);
}

static void cover_band(const struct triangle *triangle, uint8_t *bytes, int32_t y, int32_t rows) {
	const pixman_box32_t band = {0, y, WIDTH, y + rows};
	pixman_image_t *mask = pixman_image_create_bits(
			PIXMAN_a8, WIDTH, rows, (uint32_t *)(void *)bytes, WIDTH);
	triangle_cover(triangle, mask, &band);
	pixman_image_unref(mask);
}

/* In one piece, and in bands of any height: each byte is the same. */
static void test_bands(void) {
	static _Alignas(4) uint8_t whole[HEIGHT][WIDTH], parts[HEIGHT][WIDTH];
	uint32_t random = 3;
	bool same = true, drawn = false;
	for (int round = 0; round < 500; round++) {
		struct triangle triangle;
		for (int i = 0; i < 3; i++) {
			random = random * 1664525 + 1013904223;
			triangle.x[i] = (random >> 8) % 80000 / 1000.0 - 20;
			random = random * 1664525 + 1013904223;
			triangle.y[i] = (random >> 8) % 60000 / 1000.0 - 20;
		}
		memset(whole, 0, sizeof(whole));
		memset(parts, 0, sizeof(parts));
		cover_band(&triangle, whole[0], 0, HEIGHT);
		for (int32_t y = 0, rows; y < HEIGHT; y += rows) {
			random = random * 1664525 + 1013904223;
			rows = 1 + (int32_t)(random >> 8) % 5;
			rows = y + rows < HEIGHT ? rows : HEIGHT - y;
			cover_band(&triangle, parts[y], y, rows);
		}
		same &= memcmp(whole, parts, sizeof(whole)) == 0;
		drawn |= whole[HEIGHT / 2][WIDTH / 2] != 0;
	}
	tap_ok(same && drawn, "a triangle in bands is the same, byte for byte, as in one piece");
}

static int polygon(uint32_t rule, uint32_t colour, const struct engine_point *points, size_t size) {
	struct engine_polygon *command = make(ENGINE_POLYGON, sizeof(*command), points, size);
	command->rule = rule;
	command->colour = colour;
	return drawing_polygon(&drawing, command);
}

static double area_of(struct bitmap *target) {
	uint32_t sum = 0;
	for (uint32_t y = 0; y < HEIGHT; y++) {
		for (uint32_t x = 0; x < WIDTH; x++) {
			sum += *pixel(target, x, y) >> 24;
		}
	}
	return sum / 255.0;
}

static void test_polygon(void) {
	static struct bitmap target;
	/* An L, whose edges are those of pixels. */
	const struct engine_point angle[] = {{2, 2}, {12, 2}, {12, 6}, {6, 6}, {6, 20}, {2, 20}};
	bool exact = true;
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	tap_ok(polygon(ENGINE_WINDING, 0xff00ff00, angle, sizeof(angle)) == 0,
			"a polygon is drawn");
	for (int y = 0; y < HEIGHT; y++) {
		for (int x = 0; x < WIDTH; x++) {
			bool in = is_in((struct engine_rectangle){2, 2, 10, 4}, x, y) ||
					is_in((struct engine_rectangle){2, 2, 4, 18}, x, y);
			exact &= *pixel(&target, (uint32_t)x, (uint32_t)y) == (in ? 0xff00ff00 : 0);
		}
	}
	tap_ok(exact && guards_hold(&target), "exactly, where its edges are those of pixels");

	/* A square, and one within it that goes around the same way: 16x16 and 8x8. */
	const struct engine_point nested[] = {{4, 4}, {20, 4}, {20, 20}, {4, 20}, {4, 4}, {8, 8},
			{16, 8}, {16, 16}, {8, 16}, {8, 8}, {4, 4}};
	for (uint32_t rule = ENGINE_EVEN_ODD; rule <= ENGINE_WINDING; rule++) {
		bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
		polygon(rule, 0xffffffff, nested, sizeof(nested));
		double wanted = rule == ENGINE_WINDING ? 256 : 256 - 64;
		tap_ok(fabs(area_of(&target) - wanted) < 0.01 &&
						(*pixel(&target, 12, 12) != 0) ==
								(rule == ENGINE_WINDING),
				"rule %u says whether the inner square is a hole: %.2f", rule,
				area_of(&target));
	}

	/* Slanted edges, against pixman's triangle. */
	const struct engine_point three[] = {{3, 1}, {37, 9}, {11, 22}};
	static struct bitmap triangle;
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	polygon(ENGINE_EVEN_ODD, 0xffffffff, three, sizeof(three));
	bitmap_init(&triangle, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &triangle.layout, slot_of(&triangle));
	struct engine_triangles *command =
			make(ENGINE_TRIANGLES, sizeof(*command), three, sizeof(three));
	command->colour = 0xffffffff;
	drawing_triangles(&drawing, command);
	int worst = 0;
	for (uint32_t y = 0; y < HEIGHT; y++) {
		for (uint32_t x = 0; x < WIDTH; x++) {
			int off = abs((int)(*pixel(&target, x, y) >> 24) -
					(int)(*pixel(&triangle, x, y) >> 24));
			worst = off > worst ? off : worst;
		}
	}
	tap_ok(fabs(area_of(&target) - 325) < 1 && worst <= 4,
			"smooth edges as those of a triangle: area %.1f of 325, %d of 255 at most",
			area_of(&target), worst);

	struct engine_point wild[1000];
	uint32_t random = 9;
	for (size_t i = 0; i < 1000; i++) {
		random = random * 1664525 + 1013904223;
		wild[i] = (struct engine_point){(int16_t)(random >> 16), (int16_t)random};
	}
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	int ret = polygon(ENGINE_EVEN_ODD, 0x80ffffff, wild, sizeof(wild));
	ret = ret < 0 ? ret : polygon(ENGINE_WINDING, 0x80ffffff, wild, sizeof(wild));
	tap_ok(ret == 0 && guards_hold(&target) &&
					polygon(ENGINE_WINDING, 0xffffffff, wild, 8) == 0 &&
					polygon(ENGINE_WINDING, 0xffffffff, wild, 0) == 0,
			"wild polygons, and those of two points and of none, touch nothing outside");
}

/* --- between two looks whether others wait ---------------------------------------------------- */

static bool never(void *data) {
	++*(int *)data;
	return false;
}

static void test_stopped(void) {
	struct gid_layout layout;
	int asked = 0;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 2048, 2048, 64);
	uint8_t *target = aligned_alloc(64, gid_layout_size(&layout));
	uint8_t *memory = aligned_alloc(64, gid_layout_size(&layout));
	memset(target, 0, gid_layout_size(&layout));
	memset(memory, 0xff, gid_layout_size(&layout));
	struct picture picture = {.layout = layout, .memory = memory};
	struct engine_layer layer = layer_at(0, 0);
	drawing.go_on = never;
	drawing.data = &asked;
	drawing_begin(&drawing, &layout, target);
	tap_ok(drawing_layer(&drawing, &layer, &picture) == -ECANCELED && asked == 1 &&
					target[0] == 0xff &&
					target[gid_layout_size(&layout) - 4] == 0,
			"a long layer can be stopped between its parts");
	drawing.go_on = NULL;
	free(target);
	free(memory);
}

#define LARGE 4096	    /* pixels, width and height */
#define WORK_MAX (1u << 20) /* between two looks whether others wait: one or two milliseconds */
#define DRAWN_MAX (WORK_MAX / LARGE) /* rows in that time */

/* What is done between two looks. */
struct watch {
	const uint32_t *target;
	int looks;
	uint32_t rows, most_rows; /* that have a pixel in the middle */
	uint64_t cost, most_cost;
};

static bool look(void *data) {
	struct watch *watch = data;
	const uint64_t cost = drawing.cost - watch->cost;
	uint32_t row = watch->rows;
	while (row < LARGE && watch->target[(size_t)row * LARGE + LARGE / 2] != 0) {
		row++;
	}
	watch->looks++;
	watch->most_cost = cost > watch->most_cost ? cost : watch->most_cost;
	watch->most_rows =
			row - watch->rows > watch->most_rows ? row - watch->rows : watch->most_rows;
	watch->cost = drawing.cost;
	watch->rows = row;
	return true;
}

static void expect_parts(const struct watch *watch, int ret, const char *what) {
	const uint64_t rest = drawing.cost - watch->cost;
	tap_ok(ret == 0 && watch->rows > LARGE - DRAWN_MAX - 2 && watch->looks > 16 &&
					watch->most_rows <= DRAWN_MAX &&
					watch->most_cost <= WORK_MAX && rest <= WORK_MAX,
			"%s is cut: %d looks, %u rows and work for %llu pixels at most between two",
			what, watch->looks, watch->most_rows, (unsigned long long)watch->most_cost);
}

static void watch_begin(struct watch *watch, const struct gid_layout *layout, uint32_t *target) {
	memset(target, 0, gid_layout_size(layout));
	drawing_forget(&drawing);
	drawing_begin(&drawing, layout, target);
	*watch = (struct watch){.target = target};
	drawing.go_on = look;
	drawing.data = watch;
}

/* One shape may be as large as the canvas: others wait for a part of it, not for all. */
static void test_parts(void) {
	const struct engine_point corners[] = {{-3000, -1}, {LARGE + 3000, -1}, {LARGE / 2, 32767},
			{LARGE / 2, LARGE + 9}};
	const struct engine_point down[] = {{LARGE / 2, -10}, {LARGE / 2 + 1, LARGE + 10}};
	struct gid_layout layout;
	struct watch watch;
	gid_layout_init(&layout, DRM_FORMAT_ARGB8888, LARGE, LARGE, 64);
	uint32_t *target = aligned_alloc(64, gid_layout_size(&layout));

	watch_begin(&watch, &layout, target);
	struct engine_triangles *triangles =
			make(ENGINE_TRIANGLES, sizeof(*triangles), corners, 3 * sizeof(corners[0]));
	triangles->colour = 0xffffffff;
	expect_parts(&watch, drawing_triangles(&drawing, triangles), "a huge triangle");

	watch_begin(&watch, &layout, target);
	struct engine_lines *lines = make(ENGINE_LINES, sizeof(*lines), down, sizeof(down));
	lines->colour = 0xffffffff;
	lines->width = ENGINE_LINE_WIDTH_MAX;
	const int ret = drawing_lines(&drawing, lines);
	tap_ok(ret == 0 && watch.looks > 1 && watch.most_cost <= WORK_MAX,
			"a broad line is cut: %d looks, work for %llu pixels at most between two",
			watch.looks, (unsigned long long)watch.most_cost);

	watch_begin(&watch, &layout, target);
	expect_parts(&watch, polygon(ENGINE_WINDING, 0xffffffff, corners, sizeof(corners)),
			"a huge polygon");
	drawing.go_on = NULL;
	drawing_forget(&drawing);
	free(target);
}

/* Rectangles that cross each other make a region of very many. */
static void test_large_region(void) {
	static struct engine_rectangle stripes[ENGINE_CLIP_MAX];
	struct engine_point points[1000];
	struct gid_layout layout;
	struct watch watch;
	const size_t half = ENGINE_CLIP_MAX / 2;
	for (size_t i = 0; i < half; i++) {
		const int16_t at = (int16_t)(i * 8);
		stripes[i] = (struct engine_rectangle){at, 0, 4, LARGE};
		stripes[half + i] = (struct engine_rectangle){0, at, LARGE, 4};
	}
	for (size_t i = 0; i < 1000; i++) {
		points[i] = (struct engine_point){5, (int16_t)i};
	}
	gid_layout_init(&layout, DRM_FORMAT_ARGB8888, LARGE, LARGE, 64);
	uint32_t *target = aligned_alloc(64, gid_layout_size(&layout));
	watch_begin(&watch, &layout, target);
	int ret = drawing_set_clip(&drawing, stripes, ENGINE_CLIP_MAX);
	const int boxes = pixman_region32_n_rects(&drawing.clip), looks = watch.looks;
	tap_ok(ret == 0 && boxes > 100000 && looks > 0 && watch.most_cost <= WORK_MAX,
			"a region of %d rectangles is made in parts: %d looks", boxes, looks);
	struct engine_points *command =
			make(ENGINE_POINTS, sizeof(*command), points, sizeof(points));
	command->colour = 0xff00ff00;
	ret = drawing_points(&drawing, command);
	bool exact = true;
	for (size_t y = 0; y < 1000; y++) {
		exact &= target[y * LARGE + 5] == (y % 8 < 4 ? 0xff00ff00 : 0);
	}
	tap_ok(ret == 0 && exact && watch.looks - looks > 100 && watch.most_cost <= WORK_MAX,
			"and points are compared with it in parts: %d looks", watch.looks - looks);
	int asked = 0;
	drawing.go_on = never;
	drawing.data = &asked;
	tap_ok(drawing_points(&drawing, command) == -ECANCELED && asked == 1 &&
					drawing_set_clip(&drawing, stripes, ENGINE_CLIP_MAX) ==
							-ECANCELED &&
					asked == 2,
			"both can be stopped in between");
	drawing.go_on = NULL;
	drawing_forget(&drawing);
	free(target);
}

int main(void) {
	drawing_init(&drawing);
	test_fill();
	test_points();
	test_shapes();
	test_far_triangles();
	test_bands();
	test_polygon();
	test_stopped();
	test_parts();
	test_large_region();
	drawing_finish(&drawing);
	return tap_finish();
}
