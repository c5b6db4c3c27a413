// SPDX-License-Identifier: MIT
/* Points that are stored several at once are those that a plain loop stores one by one. */
#include <drm_fourcc.h>
#include <gid/gid.h>
#include <stdlib.h>
#include <string.h>

#include "point_drawing.h"
#include "tap.h"

#define ROWS 12
#define POINTS 40
#define NEAR 32764u /* bytes of a row: the last ones that one instruction multiplies */
#define FAR 65536u  /* of the widest picture */
#define GUARD 4096u
#define COLOUR 0xfff1a753u

static uint8_t *stored, *expected;
static uint32_t seed = 1;

static uint32_t any(uint32_t below) {
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void store_plainly(const struct point_target *target, uint32_t value,
		const struct engine_point *points, size_t count) {
	const size_t bytes = target->fourcc == DRM_FORMAT_RGB565 ? 2 : 4;
	for (size_t i = 0; i < count; i++) {
		const struct engine_point at = points[i];
		if (pixman_region32_contains_point(target->clip, at.x, at.y, NULL)) {
			uint8_t *pixel = expected + GUARD + (size_t)at.y * target->stride +
					(size_t)at.x * bytes;
			memcpy(pixel, &value, bytes);
		}
	}
}

/* Along a row, from a place that may be outside, as a program draws most of them. */
static void make_row(struct engine_point *points, size_t count, int32_t width) {
	const int32_t x = (int32_t)any((uint32_t)width + 30) - 15;
	const int32_t y = (int32_t)any(ROWS + 4) - 2;
	for (size_t i = 0; i < count; i++) {
		points[i] = (struct engine_point){(int16_t)(x + (int32_t)i), (int16_t)y};
	}
}

static void make_any(struct engine_point *points, size_t count, int32_t width) {
	for (size_t i = 0; i < count; i++) {
		points[i] = any(8) == 0
				? (struct engine_point){(int16_t)any(65536), (int16_t)any(65536)}
				: (struct engine_point){(int16_t)any((uint32_t)width),
						  (int16_t)any(ROWS)};
	}
}

static bool are_same(const struct point_target *target, int32_t width,
		void (*make)(struct engine_point *points, size_t count, int32_t width)) {
	const size_t size = 2 * GUARD + (size_t)target->stride * ROWS;
	const uint32_t value = points_pixel(target->fourcc, COLOUR);
	bool same = true;
	memset(stored, 0, size);
	memset(expected, 0, size);
	for (size_t count = 0; count <= POINTS; count++) {
		struct engine_point points[POINTS];
		make(points, count, width);
		points_draw(target, value, points, count);
		store_plainly(target, value, points, count);
		same &= memcmp(stored, expected, size) == 0;
	}
	return same;
}

static void test_target(uint32_t fourcc, uint32_t stride, int32_t width) {
	pixman_box32_t boxes[] = {{0, 0, width, ROWS}, {3, 1, width - 5, ROWS - 1},
			{width - 1, 0, width, 1}, {0, 2, 9, 3}, {20, 2, width - 40, 7}};
	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		pixman_region32_t clip;
		/* One of them, and one beside some others. */
		pixman_region32_init_rects(&clip, &boxes[i], i == 3 ? 2 : 1);
		const struct point_target target = {stored + GUARD, stride, fourcc, &clip};
		tap_ok(are_same(&target, width, make_row),
				"rows of points in clip %zu of %.4s, %u bytes a row", i,
				(const char *)&fourcc, stride);
		tap_ok(are_same(&target, width, make_any), "points anywhere");
		pixman_region32_fini(&clip);
	}
}

int main(void) {
	const size_t size = 2 * GUARD + (size_t)FAR * ROWS;
	stored = aligned_alloc(64, size);
	expected = aligned_alloc(64, size);
	if (stored == NULL || expected == NULL) {
		abort();
	}
	test_target(DRM_FORMAT_RGB565, 1280, 640);
	test_target(DRM_FORMAT_XRGB8888, 2560, 640);
	test_target(DRM_FORMAT_XRGB8888, NEAR, NEAR / 4);
	test_target(DRM_FORMAT_RGB565, NEAR + 4, GID_SIZE_MAX);
	test_target(DRM_FORMAT_XRGB8888, FAR, GID_SIZE_MAX);
	free(stored);
	free(expected);
	return tap_finish();
}
