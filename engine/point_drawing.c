// SPDX-License-Identifier: MIT
#include "point_drawing.h"

#include <drm_fourcc.h>
#include <stdbool.h>

/* As 32-bit formats of a canvas store it: colours are multiplied by alpha. */
static uint32_t premultiply(uint32_t colour) {
	uint32_t alpha = colour >> 24, result = colour & 0xff000000;
	for (uint32_t shift = 0; shift < 24; shift += 8) {
		result |= ((colour >> shift & 0xff) * alpha + 127) / 255 << shift;
	}
	return result;
}

static uint32_t pixel_of(uint32_t fourcc, uint32_t colour) {
	uint32_t argb = premultiply(colour);
	uint32_t abgr = (argb & 0xff00ff00) | (argb >> 16 & 0xff) | (argb & 0xff) << 16;
	switch (fourcc) {
	case DRM_FORMAT_RGB565:
		return (argb >> 8 & 0xf800) | (argb >> 5 & 0x07e0) | (argb >> 3 & 0x001f);
	case DRM_FORMAT_XBGR8888:
	case DRM_FORMAT_ABGR8888:
		return abgr;
	case DRM_FORMAT_BGRX8888:
	case DRM_FORMAT_BGRA8888:
		return __builtin_bswap32(argb);
	case DRM_FORMAT_RGBX8888:
	case DRM_FORMAT_RGBA8888:
		return argb << 8 | argb >> 24;
	default:
		return argb;
	}
}

/* One rectangle; a single comparison for both ends of it. */
#define DRAW(type)                                                                                 \
	do {                                                                                       \
		const uint32_t width = (uint32_t)(box->x2 - box->x1);                              \
		const uint32_t height = (uint32_t)(box->y2 - box->y1);                             \
		uint8_t *corner = target->memory + (size_t)box->y1 * target->stride +              \
				(size_t)box->x1 * sizeof(type);                                    \
		for (size_t i = 0; i < count; i++) {                                               \
			const uint32_t x = (uint32_t)(points[i].x - box->x1);                      \
			const uint32_t y = (uint32_t)(points[i].y - box->y1);                      \
			if (x < width && y < height) {                                             \
				((type *)(corner + (size_t)y * target->stride))[x] = (type)pixel;  \
			}                                                                          \
		}                                                                                  \
	} while (false)

void points_draw(const struct point_target *target, uint32_t colour,
		const struct engine_point *points, size_t count) {
	const uint32_t pixel = pixel_of(target->fourcc, colour);
	int boxes;
	const pixman_box32_t *box = pixman_region32_rectangles(target->clip, &boxes);
	for (; boxes > 0; boxes--, box++) {
		if (target->fourcc == DRM_FORMAT_RGB565) {
			DRAW(uint16_t);
		} else {
			DRAW(uint32_t);
		}
	}
}
