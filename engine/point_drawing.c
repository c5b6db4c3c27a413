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

#define ALL_FOUR 15u

/* A rectangle that is drawn into, as four points at once are compared with it and stored. */
struct place {
	fours corner, last; /* its first point, and its last one as seen from there */
	fours factors;	    /* bytes to the next point, and to the next row */
	uint8_t *memory;    /* of its first point */
	uint32_t stride;
	size_t pixel_bytes;
	bool is_near; /* rows have so few bytes that `factors` has room for them */
};

/*
 * Seen from the rectangle's corner. A difference of 16 bits compares right, for the rectangle lies
 * in a picture of 16384 at most, and what is before it becomes larger than its width.
 */
static inline fours from_corner(const struct place *place, const struct engine_point *points) {
	return *(const fours *)(const void *)points - place->corner;
}

/* Not 0 for each x and y that is outside. */
static inline fours find_beyond(const struct place *place, fours at) {
#ifdef __SSE2__
	return (fours)_mm_subs_epu16((__m128i)at, (__m128i)place->last);
#else
	return (fours)(at > place->last);
#endif
}

/* A bit for each of the four points that is inside. */
static inline uint32_t find_inside(fours beyond) {
	const pairs inside = (pairs)((pairs)beyond == 0);
#ifdef __SSE2__
	return (uint32_t)_mm_movemask_ps((__m128)inside);
#else
	return (inside[0] & 1u) | (inside[1] & 2u) | (inside[2] & 4u) | (inside[3] & 8u);
#endif
}

static inline void store(const struct place *place, uint64_t offset, uint32_t pixel) {
	void *at = place->memory + offset;
	if (place->pixel_bytes == sizeof(uint16_t)) {
		*(uint16_t *)at = (uint16_t)pixel;
	} else {
		*(uint32_t *)at = pixel;
	}
}

static inline void store_one(const struct place *place, uint64_t x, uint64_t y, uint32_t pixel) {
	store(place, y * place->stride + x * place->pixel_bytes, pixel);
}

/* All of four. Where rows are near, one instruction multiplies x and y, and adds the two. */
static inline void store_four(const struct place *place, fours at, uint32_t pixel) {
#ifdef __SSE2__
	if (place->is_near) {
		const halves offsets = (halves)_mm_madd_epi16((__m128i)at, (__m128i)place->factors);
		store(place, (uint32_t)offsets[0], pixel);
		store(place, offsets[0] >> 32, pixel);
		store(place, (uint32_t)offsets[1], pixel);
		store(place, offsets[1] >> 32, pixel);
		return;
	}
#endif
	store_one(place, at[0], at[1], pixel);
	store_one(place, at[2], at[3], pixel);
	store_one(place, at[4], at[5], pixel);
	store_one(place, at[6], at[7], pixel);
}

/* Those of four that are inside. */
static inline void store_some(
		const struct place *place, fours at, uint32_t inside, uint32_t pixel) {
	if (inside == ALL_FOUR) {
		store_four(place, at, pixel);
		return;
	}
	for (; inside != 0; inside &= inside - 1) {
		const int k = __builtin_ctz(inside);
		store_one(place, at[2 * k], at[2 * k + 1], pixel);
	}
}

/*
 * One rectangle. Eight points are looked at together: where all of them lie in it, which is the
 * rule, no other decision is made. Inlined for each size of a pixel, which is a constant then.
 */
__attribute__((always_inline)) static inline void draw_rectangle(const struct point_target *target,
		const pixman_box32_t *box, size_t pixel_bytes, bool is_near, uint32_t pixel,
		const struct engine_point *points, size_t count) {
	const uint16_t x = (uint16_t)box->x1, y = (uint16_t)box->y1;
	const uint16_t right = (uint16_t)(box->x2 - box->x1 - 1);
	const uint16_t bottom = (uint16_t)(box->y2 - box->y1 - 1);
	const uint16_t step = (uint16_t)pixel_bytes, row = (uint16_t)target->stride;
	const struct place place = {
			.corner = {x, y, x, y, x, y, x, y},
			.last = {right, bottom, right, bottom, right, bottom, right, bottom},
			.factors = {step, row, step, row, step, row, step, row},
			.memory = target->memory + (size_t)box->y1 * target->stride +
					(size_t)box->x1 * pixel_bytes,
			.stride = target->stride,
			.pixel_bytes = pixel_bytes,
			.is_near = is_near,
	};
	size_t i = 0;
	for (; i + 8 <= count; i += 8) {
		const fours first = from_corner(&place, points + i);
		const fours second = from_corner(&place, points + i + 4);
		const fours beyond = find_beyond(&place, first);
		const fours beyond_too = find_beyond(&place, second);
		if (find_inside(beyond | beyond_too) == ALL_FOUR) {
			store_four(&place, first, pixel);
			store_four(&place, second, pixel);
		} else {
			store_some(&place, first, find_inside(beyond), pixel);
			store_some(&place, second, find_inside(beyond_too), pixel);
		}
	}
	for (; i + 4 <= count; i += 4) {
		const fours at = from_corner(&place, points + i);
		store_some(&place, at, find_inside(find_beyond(&place, at)), pixel);
	}
	for (; i < count; i++) {
		const uint32_t column = (uint32_t)(points[i].x - box->x1);
		const uint32_t line = (uint32_t)(points[i].y - box->y1);
		if (column <= right && line <= bottom) {
			store_one(&place, column, line, pixel);
		}
	}
}

void points_draw(const struct point_target *target, uint32_t pixel,
		const struct engine_point *points, size_t count) {
	int boxes;
	const pixman_box32_t *box = pixman_region32_rectangles(target->clip, &boxes);
	const bool is_small = target->fourcc == DRM_FORMAT_RGB565;
	const bool is_near = target->stride <= INT16_MAX;
	for (; boxes > 0; boxes--, box++) {
		if (is_small && is_near) {
			draw_rectangle(target, box, sizeof(uint16_t), true, pixel, points, count);
		} else if (is_near) {
			draw_rectangle(target, box, sizeof(uint32_t), true, pixel, points, count);
		} else if (is_small) {
			draw_rectangle(target, box, sizeof(uint16_t), false, pixel, points, count);
		} else {
			draw_rectangle(target, box, sizeof(uint32_t), false, pixel, points, count);
		}
	}
}
