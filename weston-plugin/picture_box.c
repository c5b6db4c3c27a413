// SPDX-License-Identifier: MIT
#include "picture_box.h"

bool box_is_empty(struct gid_box box) {
	return box.width <= 0 || box.height <= 0;
}

struct gid_box box_join(struct gid_box a, struct gid_box b) {
	if (box_is_empty(a) || box_is_empty(b)) {
		return box_is_empty(a) ? b : a;
	}
	int32_t left = a.x < b.x ? a.x : b.x;
	int32_t top = a.y < b.y ? a.y : b.y;
	int32_t right = a.x + a.width > b.x + b.width ? a.x + a.width : b.x + b.width;
	int32_t bottom = a.y + a.height > b.y + b.height ? a.y + a.height : b.y + b.height;
	return (struct gid_box){left, top, right - left, bottom - top};
}
