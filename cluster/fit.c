// SPDX-License-Identifier: MIT
#include "fit.h"

#include <endian.h>
#include <errno.h>
#include <pixman.h>
#include <string.h>

#define OPAQUE htole32(0xff000000u)

static uint32_t scale(uint32_t size, uint32_t by, uint32_t of) {
	uint32_t scaled = (uint32_t)(((uint64_t)size * by + of / 2) / of);
	return scaled > 0 ? scaled : 1;
}

struct gid_box fit_place(enum fit fit, uint32_t width, uint32_t height, uint32_t place_width,
		uint32_t place_height) {
	uint32_t w = fit == FIT_FILL ? place_width : width;
	uint32_t h = fit == FIT_FILL ? place_height : height;
	/* Whether the picture is wider, for its height, than the place. */
	bool wide = (uint64_t)width * place_height > (uint64_t)place_width * height;
	if (fit == FIT_CONTAIN || fit == FIT_COVER) {
		bool by_width = wide == (fit == FIT_CONTAIN);
		w = by_width ? place_width : scale(width, place_height, height);
		h = by_width ? scale(height, place_width, width) : place_height;
	}
	return (struct gid_box){((int32_t)place_width - (int32_t)w) / 2,
			((int32_t)place_height - (int32_t)h) / 2, (int32_t)w, (int32_t)h};
}

static void draw_as_it_is(const struct pixels *picture, const struct gid_box *at,
		const struct gid_box *seen, uint32_t *place, uint32_t place_width) {
	for (int32_t y = 0; y < seen->height; y++) {
		const uint8_t *row = (const uint8_t *)picture->data +
				(size_t)(seen->y - at->y + y) * picture->stride +
				(size_t)(seen->x - at->x) * 4;
		uint32_t *to = place + (size_t)(seen->y + y) * place_width + seen->x;
		memcpy(to, row, (size_t)seen->width * 4);
		for (int32_t x = 0; x < seen->width; x++) {
			to[x] |= OPAQUE;
		}
	}
}

static int draw_scaled(const struct pixels *picture, const struct gid_box *at,
		const struct gid_box *seen, uint32_t *place, uint32_t place_width,
		uint32_t place_height) {
	int error = -ENOMEM;
	pixman_transform_t transform;
	pixman_image_t *from = pixman_image_create_bits_no_clear(PIXMAN_x8r8g8b8,
			(int)picture->width, (int)picture->height, (uint32_t *)picture->data,
			(int)picture->stride);
	pixman_image_t *to = pixman_image_create_bits_no_clear(PIXMAN_a8r8g8b8, (int)place_width,
			(int)place_height, place, (int)(place_width * 4));
	if (from == NULL || to == NULL) {
		goto done;
	}
	/* From the first pixel that is seen: pixman draws nothing that begins beyond 32767. */
	double across = (double)picture->width / at->width;
	double down = (double)picture->height / at->height;
	pixman_transform_init_scale(
			&transform, pixman_double_to_fixed(across), pixman_double_to_fixed(down));
	transform.matrix[0][2] = pixman_double_to_fixed((seen->x - at->x) * across);
	transform.matrix[1][2] = pixman_double_to_fixed((seen->y - at->y) * down);
	pixman_image_set_transform(from, &transform);
	pixman_image_set_filter(from, PIXMAN_FILTER_BILINEAR, NULL, 0);
	pixman_image_set_repeat(from, PIXMAN_REPEAT_PAD);
	pixman_image_composite32(PIXMAN_OP_SRC, from, NULL, to, 0, 0, 0, 0, seen->x, seen->y,
			seen->width, seen->height);
	error = 0;

done:
	if (from != NULL) {
		pixman_image_unref(from);
	}
	if (to != NULL) {
		pixman_image_unref(to);
	}
	return error;
}

int fit_draw(enum fit fit, const struct pixels *picture, uint32_t *place, uint32_t place_width,
		uint32_t place_height) {
	struct gid_box at =
			fit_place(fit, picture->width, picture->height, place_width, place_height);
	struct gid_box seen = at;
	if (at.width > (int32_t)place_width) {
		seen.x = 0;
		seen.width = (int32_t)place_width;
	}
	if (at.height > (int32_t)place_height) {
		seen.y = 0;
		seen.height = (int32_t)place_height;
	}
	if (seen.width < (int32_t)place_width || seen.height < (int32_t)place_height) {
		for (size_t i = 0; i < (size_t)place_width * place_height; i++) {
			place[i] = OPAQUE;
		}
	}
	if ((uint32_t)at.width == picture->width && (uint32_t)at.height == picture->height) {
		draw_as_it_is(picture, &at, &seen, place, place_width);
		return 0;
	}
	return draw_scaled(picture, &at, &seen, place, place_width, place_height);
}
