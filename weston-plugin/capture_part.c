// SPDX-License-Identifier: MIT
#include "capture_part.h"

static struct wl_list awaited = {&awaited, &awaited}; /* struct capture_part */

static struct capture_part *find_awaited(pixman_image_t *into) {
	struct capture_part *part;
	if (wl_list_empty(&awaited)) {
		return NULL;
	}
	const void *memory = pixman_image_get_data(into);
	wl_list_for_each(part, &awaited, link) {
		if (part->memory == memory) {
			return part;
		}
	}
	return NULL;
}

bool capture_part_keep(pixman_image_t *from, pixman_image_t *into) {
	struct capture_part *part = find_awaited(into);
	if (part == NULL || part->from != NULL) {
		return false;
	}
	part->from = pixman_image_ref(from);
	part->into = pixman_image_ref(into);
	return true;
}

void capture_part_await(struct capture_part *part, const void *memory) {
	capture_part_end(part);
	part->memory = memory;
	wl_list_insert(&awaited, &part->link);
}

bool capture_part_take(struct capture_part *part, struct gid_box box) {
	if (part->from == NULL) {
		return false;
	}
	pixman_image_composite32(PIXMAN_OP_SRC, part->from, NULL, part->into, box.x, box.y, 0, 0,
			box.x, box.y, box.width, box.height);
	capture_part_end(part);
	return true;
}

void capture_part_end(struct capture_part *part) {
	if (part->memory == NULL) {
		return;
	}
	wl_list_remove(&part->link);
	if (part->from != NULL) {
		pixman_image_unref(part->from);
		pixman_image_unref(part->into);
	}
	*part = (struct capture_part){0};
}
