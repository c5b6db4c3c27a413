// SPDX-License-Identifier: MIT
#include "box_join.h"

static bool box_is_empty(struct gid_box box) {
	return box.width <= 0 || box.height <= 0 ||
			!gid_box_is_within(box, GID_SIZE_MAX, GID_SIZE_MAX);
}

static int32_t least(int32_t a, int32_t b) {
	return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b) {
	return a > b ? a : b;
}

struct gid_box box_join(struct gid_box a, struct gid_box b) {
	if (box_is_empty(a)) {
		return box_is_empty(b) ? (struct gid_box){0} : b;
	}
	if (box_is_empty(b)) {
		return a;
	}
	int32_t x = least(a.x, b.x), y = least(a.y, b.y);
	return (struct gid_box){
			.x = x,
			.y = y,
			.width = most(a.x + a.width, b.x + b.width) - x,
			.height = most(a.y + a.height, b.y + b.height) - y,
	};
}
