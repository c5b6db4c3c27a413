// SPDX-License-Identifier: MIT
#include "straight_alpha.h"

#include <assert.h>
#include <drm_fourcc.h>
#include <string.h>

/* By how many bits the parts of a pixel are shifted. */
struct alpha_format {
	uint32_t fourcc;
	uint8_t alpha, red, green, blue;
};

static const struct alpha_format alpha_formats[] = {
		{DRM_FORMAT_ARGB8888, 24, 16, 8, 0},
		{DRM_FORMAT_ABGR8888, 24, 0, 8, 16},
		{DRM_FORMAT_BGRA8888, 0, 8, 16, 24},
		{DRM_FORMAT_RGBA8888, 0, 24, 16, 8},
};

static const struct alpha_format *find_alpha_format(uint32_t fourcc) {
	for (size_t i = 0; i < sizeof(alpha_formats) / sizeof(alpha_formats[0]); i++) {
		if (alpha_formats[i].fourcc == fourcc) {
			return &alpha_formats[i];
		}
	}
	return NULL;
}

bool straight_alpha_can_multiply(uint32_t fourcc) {
	return find_alpha_format(fourcc) != NULL;
}

static uint32_t multiply(uint32_t value, uint32_t alpha) {
	return ((value & 0xff) * alpha + 127) / 255;
}

static uint32_t multiplied(const struct alpha_format *of, uint32_t pixel) {
	const uint32_t alpha = pixel >> of->alpha & 0xff;
	return alpha << 24 | multiply(pixel >> of->red, alpha) << 16 |
			multiply(pixel >> of->green, alpha) << 8 |
			multiply(pixel >> of->blue, alpha);
}

void straight_alpha_multiply(const struct picture *picture, uint32_t x, uint32_t y, uint32_t width,
		uint32_t *pixels) {
	const struct alpha_format *format = find_alpha_format(picture->layout.fourcc);
	assert(format != NULL);
	const struct alpha_format of = *format;
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
	const struct alpha_format of = alpha_formats[0];
	for (size_t i = 0; i < count; i++) {
		pixels[i] = multiplied(&of, pixels[i]);
	}
}
