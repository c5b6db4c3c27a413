// SPDX-License-Identifier: MIT
#include "triangle_drawing.h"

#include <gid/gid.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * pixman's numbers have 16 bits before the point, and it takes differences of them: corners that
 * are all within this reach cannot overflow there. Others are cut at the second, first, which is
 * more than a canvas.
 */
#define REACH_LOW (-8000)
#define REACH_HIGH 24000
#define CUT_LOW (-16)
#define CUT_HIGH (GID_SIZE_MAX + 16)
#define CORNERS_MAX 48 /* seven are usual; whatever is rounded, each cut doubles them at most */

struct corner {
	double x, y;
};

/* --- cutting ---------------------------------------------------------------------------------- */

/* Which part of the plane one cut leaves: where x, or y, is not below `at`, or not above it. */
struct cut {
	bool is_y, is_upper;
	double at;
};

static double beyond(const struct cut *cut, struct corner corner) {
	const double value = cut->is_y ? corner.y : corner.x;
	return cut->is_upper ? value - cut->at : cut->at - value;
}

/* Of an edge in any of its directions the same, so that triangles that share it still meet. */
static struct corner cross(const struct cut *cut, struct corner from, struct corner to) {
	if (from.y > to.y || (from.y == to.y && from.x > to.x)) {
		const struct corner swapped = from;
		from = to;
		to = swapped;
	}
	const double a = beyond(cut, from), part = a / (a - beyond(cut, to));
	return (struct corner){from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part};
}

static size_t cut_once(const struct cut *cut, struct corner *corners, size_t count) {
	struct corner left[CORNERS_MAX];
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		const struct corner from = corners[i], to = corners[(i + 1) % count];
		const bool is_out = beyond(cut, from) > 0;
		if (!is_out) {
			left[kept++] = from;
		}
		if (is_out != (beyond(cut, to) > 0)) {
			left[kept++] = cross(cut, from, to);
		}
	}
	for (size_t i = 0; i < kept; i++) {
		corners[i] = left[i];
	}
	return kept;
}

/* What is left of it. Returns how many corners it has. */
static size_t cut_to_canvas(const struct triangle *triangle, struct corner *corners) {
	static const struct cut cuts[] = {{false, false, CUT_LOW}, {false, true, CUT_HIGH},
			{true, false, CUT_LOW}, {true, true, CUT_HIGH}};
	size_t count = 3;
	bool is_far = false;
	for (size_t i = 0; i < 3; i++) {
		corners[i] = (struct corner){triangle->x[i], triangle->y[i]};
		is_far |= corners[i].x < REACH_LOW || corners[i].x > REACH_HIGH ||
				corners[i].y < REACH_LOW || corners[i].y > REACH_HIGH;
	}
	for (size_t i = 0; is_far && i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		count = cut_once(&cuts[i], corners, count);
	}
	return count;
}

/* --- covering --------------------------------------------------------------------------------- */

pixman_box32_t triangle_box(const struct triangle *triangle) {
	double left = CUT_HIGH, right = CUT_LOW, top = CUT_HIGH, bottom = CUT_LOW;
	for (size_t i = 0; i < 3; i++) {
		left = fmin(left, triangle->x[i]);
		right = fmax(right, triangle->x[i]);
		top = fmin(top, triangle->y[i]);
		bottom = fmax(bottom, triangle->y[i]);
	}
	return (pixman_box32_t){(int32_t)fmax(floor(left), CUT_LOW),
			(int32_t)fmax(floor(top), CUT_LOW), (int32_t)fmin(ceil(right), CUT_HIGH),
			(int32_t)fmin(ceil(bottom), CUT_HIGH)};
}

/* Whether a point of the row of `middle` on the edge lies left of it. */
static bool is_left(pixman_point_fixed_t top, pixman_point_fixed_t bottom,
		pixman_point_fixed_t middle) {
	const int64_t across = (int64_t)bottom.x - top.x, down = (int64_t)bottom.y - top.y;
	return across * ((int64_t)middle.y - top.y) < ((int64_t)middle.x - top.x) * down;
}

static void cover_rows(pixman_image_t *mask, const pixman_box32_t *band, pixman_fixed_t top,
		pixman_fixed_t bottom, pixman_line_fixed_t one, pixman_line_fixed_t other,
		bool one_is_left) {
	const pixman_fixed_t first = pixman_int_to_fixed(band->y1);
	const pixman_fixed_t last = pixman_int_to_fixed(band->y2);
	const pixman_trapezoid_t trapezoid = {
			.top = top > first ? top : first,
			.bottom = bottom < last ? bottom : last,
			.left = one_is_left ? one : other,
			.right = one_is_left ? other : one,
	};
	if (trapezoid.top < trapezoid.bottom) {
		pixman_rasterize_trapezoid(mask, &trapezoid, -band->x1, -band->y1);
	}
}

static void swap_if_lower(pixman_point_fixed_t *one, pixman_point_fixed_t *other) {
	if (one->y > other->y) {
		const pixman_point_fixed_t swapped = *one;
		*one = *other;
		*other = swapped;
	}
}

/* Two parts, above and below the corner in the middle. The edges stay whole: where a band begins
 * in between, they are where they were. */
static void cover_three(pixman_image_t *mask, const pixman_box32_t *band, struct corner a,
		struct corner b, struct corner c) {
	pixman_point_fixed_t points[] = {
			{pixman_double_to_fixed(a.x), pixman_double_to_fixed(a.y)},
			{pixman_double_to_fixed(b.x), pixman_double_to_fixed(b.y)},
			{pixman_double_to_fixed(c.x), pixman_double_to_fixed(c.y)},
	};
	swap_if_lower(&points[0], &points[1]);
	swap_if_lower(&points[1], &points[2]);
	swap_if_lower(&points[0], &points[1]);
	const pixman_line_fixed_t longest = {points[0], points[2]};
	const bool left = is_left(points[0], points[2], points[1]);
	cover_rows(mask, band, points[0].y, points[1].y, longest,
			(pixman_line_fixed_t){points[0], points[1]}, left);
	cover_rows(mask, band, points[1].y, points[2].y, longest,
			(pixman_line_fixed_t){points[1], points[2]}, left);
}

void triangle_cover(
		const struct triangle *triangle, pixman_image_t *mask, const pixman_box32_t *band) {
	struct corner corners[CORNERS_MAX];
	const size_t count = cut_to_canvas(triangle, corners);
	for (size_t i = 1; i + 1 < count; i++) {
		cover_three(mask, band, corners[0], corners[i], corners[i + 1]);
	}
}
