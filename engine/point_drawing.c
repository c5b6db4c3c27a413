// SPDX-License-Identifier: MIT
#include "point_drawing.h"

#include <drm_fourcc.h>
#include <gid/gid.h>
#include <stdbool.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* As 32-bit formats of a canvas store it: colours are multiplied by alpha. */
static uint32_t premultiply(uint32_t colour) {
	uint32_t alpha = colour >> 24, result = colour & 0xff000000;
	for (uint32_t shift = 0; shift < 24; shift += 8) {
		result |= ((colour >> shift & 0xff) * alpha + 127) / 255 << shift;
	}
	return result;
}

uint32_t points_pixel(uint32_t fourcc, uint32_t colour) {
	static const uint8_t from[] = {16, 8, 0, 24}; /* red, green, blue, alpha */
	const struct gid_format_info *format = gid_format_find(fourcc);
	uint32_t argb = premultiply(colour), pixel = 0;
	for (int i = 0; i < 4; i++) {
		const struct gid_format_sample *sample = &format->samples[i];
		pixel |= (argb >> from[i] & 0xff) >> (8 - sample->bits) << sample->shift;
	}
	return pixel;
}

/* Four points: x and y in turn. `may_alias`, as points are read as what they are elsewhere. */
typedef uint16_t fours __attribute__((vector_size(16), may_alias, aligned(4)));
typedef uint32_t pairs __attribute__((vector_size(16)));
typedef uint64_t halves __attribute__((vector_size(16)));

/*
 * Where four points lie from the rectangle's corner, by one instruction that multiplies numbers of
 * 16 bits with signs, and adds them in pairs. So rows must be shorter than 32768 bytes.
 */
#ifdef __SSE2__
#define HAS_OFFSETS 1
static inline pairs find_offsets(fours at, fours factors) {
	return (pairs)_mm_madd_epi16((__m128i)at, (__m128i)factors);
}
#else
#define HAS_OFFSETS 0
static inline pairs find_offsets(fours at, fours factors) {
	return (pairs){0};
}
#endif

/*
 * One rectangle. Four points are looked at together: where all of them or none lie in it, which is
 * the rule, no other decision is made. A difference of 16 bits compares right, for the rectangle
 * lies in a picture of 16384 at most, and what is beyond becomes larger than its width.
 */
#define DRAW(type)                                                                                 \
	do {                                                                                       \
		const uint32_t width = (uint32_t)(box->x2 - box->x1);                              \
		const uint32_t height = (uint32_t)(box->y2 - box->y1);                             \
		const uint16_t x1 = (uint16_t)box->x1, y1 = (uint16_t)box->y1;                     \
		const uint16_t w = (uint16_t)width, h = (uint16_t)height;                          \
		const fours least = {x1, y1, x1, y1, x1, y1, x1, y1};                              \
		const fours size = {w, h, w, h, w, h, w, h};                                       \
		uint8_t *const corner = target->memory + (size_t)box->y1 * target->stride +        \
				(size_t)box->x1 * sizeof(type);                                    \
		const size_t stride = target->stride;                                              \
		const bool is_near = HAS_OFFSETS && stride <= INT16_MAX;                           \
		const uint16_t s = sizeof(type), t = (uint16_t)stride;                             \
		const fours factors = {s, t, s, t, s, t, s, t};                                    \
		size_t i = 0;                                                                      \
		for (; i + 4 <= count; i += 4) {                                                   \
			const fours at = *(const fours *)(const void *)&points[i] - least;         \
			const halves in = (halves)((pairs)(at < size) == UINT32_MAX);              \
			if ((in[0] & in[1]) == UINT64_MAX && is_near) {                            \
				const halves offsets = (halves)find_offsets(at, factors);          \
				STORE_AT(type, (uint32_t)offsets[0]);                              \
				STORE_AT(type, offsets[0] >> 32);                                  \
				STORE_AT(type, (uint32_t)offsets[1]);                              \
				STORE_AT(type, offsets[1] >> 32);                                  \
			} else if ((in[0] & in[1]) == UINT64_MAX) {                                \
				STORE(type, at, 0);                                                \
				STORE(type, at, 1);                                                \
				STORE(type, at, 2);                                                \
				STORE(type, at, 3);                                                \
			} else if ((in[0] | in[1]) != 0) {                                         \
				for (size_t k = i; k < i + 4; k++) {                               \
					DRAW_ONE(type, k);                                         \
				}                                                                  \
			}                                                                          \
		}                                                                                  \
		for (; i < count; i++) {                                                           \
			DRAW_ONE(type, i);                                                         \
		}                                                                                  \
	} while (false)

#define STORE_AT(type, offset) *(type *)(void *)(corner + (offset)) = (type)pixel

#define STORE(type, at, k)                                                                         \
	((type *)(corner + (size_t)(at)[2 * (k) + 1] * stride))[(at)[2 * (k)]] = (type)pixel

#define DRAW_ONE(type, k)                                                                          \
	do {                                                                                       \
		const uint32_t x = (uint32_t)(points[k].x - box->x1);                              \
		const uint32_t y = (uint32_t)(points[k].y - box->y1);                              \
		if (x < width && y < height) {                                                     \
			((type *)(corner + (size_t)y * stride))[x] = (type)pixel;                  \
		}                                                                                  \
	} while (false)

void points_draw(const struct point_target *target, uint32_t pixel,
		const struct engine_point *points, size_t count) {
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
