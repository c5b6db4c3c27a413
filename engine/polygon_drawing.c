// SPDX-License-Identifier: MIT
#include "polygon_drawing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUB 16	 /* rows within a row of pixels */
#define UNIT 256 /* columns within a pixel */

struct polygon_edge {
	int32_t x1, y1, x2, y2; /* pixels; y1 < y2 */
	int8_t direction;	/* 1: down, -1: up */
};

/* Where an edge crosses the middle of a row within a row. */
struct crossing {
	int32_t x; /* in units */
	int8_t direction;
};

static int compare_edges(const void *one, const void *other) {
	const struct polygon_edge *a = one, *b = other;
	return (a->y1 > b->y1) - (a->y1 < b->y1);
}

static int compare_crossings(const void *one, const void *other) {
	const struct crossing *a = one, *b = other;
	return (a->x > b->x) - (a->x < b->x);
}

int polygon_init(struct polygon *polygon, const struct engine_point *points, size_t count,
		enum engine_rule rule) {
	*polygon = (struct polygon){
			.rule = rule, .box = {INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN}};
	polygon->edges = calloc(count + 1, sizeof(*polygon->edges));
	if (polygon->edges == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		const struct engine_point from = points[i], to = points[i + 1 < count ? i + 1 : 0];
		pixman_box32_t *box = &polygon->box;
		box->x1 = from.x < box->x1 ? from.x : box->x1;
		box->y1 = from.y < box->y1 ? from.y : box->y1;
		box->x2 = from.x > box->x2 ? from.x : box->x2;
		box->y2 = from.y > box->y2 ? from.y : box->y2;
		if (from.y < to.y) {
			polygon->edges[polygon->count++] =
					(struct polygon_edge){from.x, from.y, to.x, to.y, 1};
		} else if (from.y > to.y) {
			polygon->edges[polygon->count++] =
					(struct polygon_edge){to.x, to.y, from.x, from.y, -1};
		}
	}
	qsort(polygon->edges, polygon->count, sizeof(*polygon->edges), compare_edges);
	return 0;
}

void polygon_finish(struct polygon *polygon) {
	free(polygon->edges);
}

/* In units from column `x1`, within the row. */
static int32_t cross(
		const struct polygon_edge *edge, int32_t y, int sub, int32_t x1, uint32_t width) {
	const int64_t down = (int64_t)(y - edge->y1) * 2 * SUB + (2 * sub + 1);
	const int64_t height = (int64_t)(edge->y2 - edge->y1) * 2 * SUB;
	const int64_t x = (int64_t)(edge->x1 - x1) * UNIT +
			(int64_t)(edge->x2 - edge->x1) * UNIT * down / height;
	const int64_t last = (int64_t)width * UNIT;
	return (int32_t)(x < 0 ? 0 : x > last ? last : x);
}

/* From here on to the right, pixels are covered, or not any more. Two places, of what changes. */
static void begin_span(int32_t *changes, int32_t x, int32_t sign) {
	const int32_t part = x % UNIT;
	changes[x / UNIT] += sign * (UNIT - part);
	changes[x / UNIT + 1] += sign * part;
}

static void add_spans(const struct polygon *polygon, int32_t *changes,
		const struct crossing *crossings, size_t count) {
	int winding = 0;
	for (size_t i = 0; i < count; i++) {
		const bool was = polygon->rule == ENGINE_EVEN_ODD ? winding % 2 != 0 : winding != 0;
		winding += crossings[i].direction;
		const bool is = polygon->rule == ENGINE_EVEN_ODD ? winding % 2 != 0 : winding != 0;
		if (was != is) {
			begin_span(changes, crossings[i].x, is ? 1 : -1);
		}
	}
}

int64_t polygon_row(const struct polygon *polygon, int32_t y, int32_t x1, uint32_t width,
		uint8_t *row) {
	int32_t *changes = calloc((size_t)width + 2, sizeof(*changes));
	struct crossing *crossings = calloc(polygon->count + 1, sizeof(*crossings));
	const struct polygon_edge **here =
			calloc(polygon->count + 1, sizeof(struct polygon_edge *));
	int64_t work = -ENOMEM;
	if (changes == NULL || crossings == NULL || here == NULL) {
		goto end;
	}
	size_t count = 0;
	for (size_t i = 0; i < polygon->count && polygon->edges[i].y1 <= y; i++) {
		if (polygon->edges[i].y2 > y) {
			here[count++] = &polygon->edges[i];
		}
	}
	/* Points are corners of pixels: an edge crosses each row within the row, or none. */
	for (int sub = 0; sub < SUB; sub++) {
		for (size_t i = 0; i < count; i++) {
			crossings[i] = (struct crossing){
					cross(here[i], y, sub, x1, width), here[i]->direction};
		}
		qsort(crossings, count, sizeof(*crossings), compare_crossings);
		add_spans(polygon, changes, crossings, count);
	}
	int32_t covered = 0;
	for (uint32_t x = 0; x < width; x++) {
		covered += changes[x];
		row[x] = (uint8_t)((covered * 255 + SUB * UNIT / 2) / (SUB * UNIT));
	}
	work = (int64_t)(width + polygon->count + count * POLYGON_EDGE_WORK);

end:
	free(changes);
	free(crossings);
	free(here);
	return work;
}
