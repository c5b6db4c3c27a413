// SPDX-License-Identifier: MIT
#include "shrink.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <string.h>
#include <to_rgb.h>

/* Of the picture, for one that is kept: so thin lines do not come and go. */
#define ROWS 2u
#define COLUMNS 2u
#define WIDTH_MAX 4096u /* of what is kept */

void shrink_size(const struct gid_box *seen, uint32_t *width, uint32_t *height) {
	const uint64_t from_width = (uint64_t)seen->width, from_height = (uint64_t)seen->height;
	const uint64_t most_width = *width, most_height = *height;
	*width = (uint32_t)from_width;
	*height = (uint32_t)from_height;
	if (from_width > most_width || from_height > most_height) {
		bool is_wide = from_width * most_height >= from_height * most_width;
		*width = (uint32_t)(is_wide ? most_width : from_width * most_height / from_height);
		*height = (uint32_t)(is_wide ? from_height * most_width / from_width : most_height);
	}
	*width = *width > 0 ? *width : 1;
	*height = *height > 0 ? *height : 1;
}

int shrink_check(const struct gid_layout *layout, uint64_t slot_size, const struct gid_box *crop,
		struct gid_box *seen) {
	if (layout->modifier != DRM_FORMAT_MOD_LINEAR || !to_rgb_can(layout->fourcc)) {
		return -ENOTSUP;
	}
	int error = gid_layout_check(layout, slot_size);
	if (error < 0) {
		return error;
	}
	if (layout->width > SHRINK_SOURCE_MAX || layout->height > SHRINK_SOURCE_MAX) {
		return -EMSGSIZE;
	}
	return gid_box_get_seen(*crop, layout->width, layout->height, seen) ? 0 : -EINVAL;
}

/* Which pixels of a row stand for one that is kept: the middle ones of its halves. */
static void find_columns(uint32_t *columns, uint32_t width, uint32_t row_width) {
	for (uint32_t i = 0; i < COLUMNS * width; i++) {
		columns[i] = (uint32_t)((2 * (uint64_t)i + 1) * row_width / (2 * COLUMNS * width));
	}
}

/* The mean of what is seen of some rows; those of a component are summed up in its 16 bits. */
struct sum {
	uint32_t red_blue, green;
};

static void add_row(
		struct sum *sums, const uint32_t *columns, uint32_t width, const uint32_t *row) {
	for (uint32_t x = 0; x < width; x++) {
		uint32_t left = row[columns[COLUMNS * x]], right = row[columns[COLUMNS * x + 1]];
		sums[x].red_blue += (left & 0xff00ffu) + (right & 0xff00ffu);
		sums[x].green += (left >> 8 & 0xffu) + (right >> 8 & 0xffu);
	}
}

/* COLUMNS times `rows` were summed up, 2 or 4: a shift takes a tenth of a division's time. */
static void divide(const struct sum *sums, uint32_t width, uint32_t rows, uint8_t *rgb) {
	const uint32_t shift = rows == ROWS ? 2 : 1;
	for (uint32_t x = 0; x < width; x++) {
		*rgb++ = (uint8_t)(sums[x].red_blue >> 16 >> shift);
		*rgb++ = (uint8_t)(sums[x].green >> shift);
		*rgb++ = (uint8_t)((sums[x].red_blue & 0xffffu) >> shift);
	}
}

void shrink(const struct gid_layout *layout, const void *slot, const struct gid_box *seen,
		uint32_t width, uint32_t height, uint32_t *row, uint8_t *rgb) {
	static struct sum sums[WIDTH_MAX];
	static uint32_t columns[COLUMNS * WIDTH_MAX];
	const uint32_t from_width = (uint32_t)seen->width, from_height = (uint32_t)seen->height;
	const uint32_t rows = from_height >= ROWS * height ? ROWS : 1;
	find_columns(columns, width, from_width);
	for (uint32_t y = 0; y < height; y++) {
		memset(sums, 0, width * sizeof(*sums));
		for (uint32_t i = 0; i < rows; i++) {
			/* In the middle of each part of the rows that one that is kept stands for.
			 */
			uint64_t part = (uint64_t)y * rows + i;
			uint32_t at = (uint32_t)((2 * part + 1) * from_height /
					(2 * rows * height));
			to_rgb(layout, slot, (uint32_t)seen->x, (uint32_t)seen->y + at, from_width,
					1, row, (size_t)from_width * sizeof(*row));
			add_row(sums, columns, width, row);
		}
		divide(sums, width, rows, rgb + (size_t)y * width * 3);
	}
}
