// SPDX-License-Identifier: MIT
#include "visible.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <string.h>

static uint32_t round_up(uint32_t value, uint32_t step, uint32_t most) {
	uint32_t rounded = (value + step - 1) / step * step;
	return rounded < most ? rounded : most;
}

int visible_init(struct visible *visible, const struct gid_layout *whole,
		const struct gid_box *crop) {
	struct gid_box seen;
	if (whole->modifier != DRM_FORMAT_MOD_LINEAR) {
		return -ENOTSUP;
	}
	if (!gid_box_get_seen(*crop, whole->width, whole->height, &seen)) {
		return -EINVAL;
	}
	/* Blocks of samples are whole: of the coarsest plane, which the others' divide. */
	const struct gid_format_info *info = gid_format_find(whole->fourcc);
	uint32_t across = 1, down = 1;
	for (uint32_t i = 0; i < info->plane_count; i++) {
		across = info->planes[i].hsub > across ? info->planes[i].hsub : across;
		down = info->planes[i].vsub > down ? info->planes[i].vsub : down;
	}
	uint32_t x = (uint32_t)seen.x / across * across, y = (uint32_t)seen.y / down * down;
	uint32_t right = round_up((uint32_t)(seen.x + seen.width), across, whole->width);
	uint32_t bottom = round_up((uint32_t)(seen.y + seen.height), down, whole->height);
	*visible = (struct visible){.whole = *whole, .seen = seen, .x = x, .y = y};
	visible->seen.x -= (int32_t)x;
	visible->seen.y -= (int32_t)y;
	int error = gid_layout_init(&visible->layout, whole->fourcc, right - x, bottom - y, 1);
	visible->layout.colours = whole->colours;
	return error;
}

void visible_read(const struct visible *visible, const void *slot, visible_row_func read,
		void *data) {
	const struct gid_layout *to = &visible->layout, *from = &visible->whole;
	const struct gid_format_info *info = gid_format_find(to->fourcc);
	for (uint32_t i = 0; i < to->plane_count; i++) {
		const struct gid_format_plane *plane = &info->planes[i];
		const uint8_t *row = (const uint8_t *)slot + from->planes[i].offset +
				(size_t)(visible->y / plane->vsub) * from->planes[i].stride +
				(size_t)(visible->x / plane->hsub) * plane->bytes;
		for (uint32_t y = gid_format_rows(to->fourcc, i, to->height); y > 0; y--) {
			read(data, row, to->planes[i].stride);
			row += from->planes[i].stride;
		}
	}
}

static void append_row(void *data, const void *row, size_t size) {
	uint8_t **end = data;
	memcpy(*end, row, size);
	*end += size;
}

/* The layout has no gaps between its planes. */
void visible_copy(const struct visible *visible, const void *slot, void *copy) {
	uint8_t *end = copy;
	visible_read(visible, slot, append_row, &end);
}
