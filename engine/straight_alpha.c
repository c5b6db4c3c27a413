// SPDX-License-Identifier: MIT
#include "straight_alpha.h"

#include <assert.h>
#include <string.h>

/* By how many bits the parts of a pixel are shifted. */
struct shifts {
	uint8_t alpha, red, green, blue;
};

bool straight_alpha_can_multiply(uint32_t fourcc) {
	const struct gid_format_info *format = gid_format_find(fourcc);
	return format != NULL && format->kind == GID_FORMAT_RGB && format->planes[0].bytes == 4 &&
			format->samples[3].bits == 8;
}

static uint32_t multiply(uint32_t value, uint32_t alpha) {
	return ((value & 0xff) * alpha + 127) / 255;
}

static uint32_t multiplied(const struct shifts *of, uint32_t pixel) {
	const uint32_t alpha = pixel >> of->alpha & 0xff;
	return alpha << 24 | multiply(pixel >> of->red, alpha) << 16 |
			multiply(pixel >> of->green, alpha) << 8 |
			multiply(pixel >> of->blue, alpha);
}

void straight_alpha_multiply(const struct picture *picture, uint32_t x, uint32_t y, uint32_t width,
		uint32_t *pixels) {
	const struct gid_format_info *format = gid_format_find(picture->layout.fourcc);
	assert(straight_alpha_can_multiply(picture->layout.fourcc));
	const struct shifts of = {format->samples[3].shift, format->samples[0].shift,
			format->samples[1].shift, format->samples[2].shift};
	const struct gid_plane *plane = &picture->layout.planes[0];
	const uint8_t *row =
			picture->memory + plane->offset + (size_t)y * plane->stride + (size_t)x * 4;
	for (uint32_t i = 0; i < width; i++) {
		uint32_t pixel;
		memcpy(&pixel, row + (size_t)i * 4, sizeof(pixel)); /* once: it may change */
		pixels[i] = multiplied(&of, pixel);
	}
}

void straight_alpha_multiply_words(uint32_t *pixels, size_t count) {
	const struct shifts of = {24, 16, 8, 0};
	for (size_t i = 0; i < count; i++) {
		pixels[i] = multiplied(&of, pixels[i]);
	}
}
