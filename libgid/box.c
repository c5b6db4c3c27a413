// SPDX-License-Identifier: MIT
#include <gid/stream.h>

/* The values of enum wl_output_transform: quarter turns, and from 4 on mirrored as well. */
#define ACROSS 1u /* the bit of those that swap width and height */

static bool mirrors_x(uint32_t transform) {
	return transform == 2 || transform == 3 || transform == 4 || transform == 7;
}

static bool mirrors_y(uint32_t transform) {
	return transform == 1 || transform == 2 || transform == 6 || transform == 7;
}

/* In 64 bits, for a box may lie anywhere. */
static int32_t mirror(uint32_t all, int32_t start, int32_t length) {
	return (int32_t)((int64_t)all - start - length);
}

static void mirror_box(struct gid_box *box, uint32_t width, uint32_t height, uint32_t transform) {
	if (mirrors_x(transform)) {
		box->x = mirror(width, box->x, box->width);
	}
	if (mirrors_y(transform)) {
		box->y = mirror(height, box->y, box->height);
	}
}

static void swap_axes(struct gid_box *box, uint32_t transform) {
	if (transform & ACROSS) {
		*box = (struct gid_box){box->y, box->x, box->height, box->width};
	}
}

struct gid_box gid_box_turn(
	struct gid_box box, uint32_t width, uint32_t height, uint32_t transform) {
	mirror_box(&box, width, height, transform);
	swap_axes(&box, transform);
	return box;
}

struct gid_box gid_box_turn_back(
	struct gid_box box, uint32_t width, uint32_t height, uint32_t transform) {
	swap_axes(&box, transform);
	mirror_box(&box, width, height, transform);
	return box;
}
