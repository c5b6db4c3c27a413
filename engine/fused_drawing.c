// SPDX-License-Identifier: MIT
#include "fused_drawing.h"

#include <drm_fourcc.h>
#include <errno.h>

#include "bands.h"
#include "drawing_parts.h"
#include "list_reader.h"
#include "pixman_drawing.h"

/* Cells between the edges of narrow boxes would cost more than their pixels. */
#define WIDTH_MIN 64

/* --- what can be fused ------------------------------------------------------------------------ */

/* Pixels whose alpha, or what has its place, is the highest byte. */
struct order {
	bool is_known, has_alpha, is_blue_first;
};

static struct order order_of(uint32_t fourcc) {
	switch (fourcc) {
	case DRM_FORMAT_ARGB8888:
		return (struct order){.is_known = true, .has_alpha = true};
	case DRM_FORMAT_XRGB8888:
		return (struct order){.is_known = true};
	case DRM_FORMAT_ABGR8888:
		return (struct order){.is_known = true, .has_alpha = true, .is_blue_first = true};
	case DRM_FORMAT_XBGR8888:
		return (struct order){.is_known = true, .is_blue_first = true};
	default:
		return (struct order){0};
	}
}

/* To the byte beside the colours of XBGR8888 pixman does not bring what it does elsewhere. */
static bool is_ready(const struct drawing *drawing, uint32_t op) {
	return drawing->fuses && !drawing->uses_device && drawing->clip.data == NULL &&
			(op == ENGINE_SRC || op == ENGINE_OVER) &&
			order_of(drawing->layout.fourcc).is_known &&
			drawing->layout.fourcc != DRM_FORMAT_XBGR8888;
}

/* The pixel that pixman makes of a colour. */
static uint32_t pixel_of(const struct drawing *drawing, uint32_t colour) {
	const pixman_color_t parts = drawing_colour(colour);
	const bool is_blue_first = order_of(drawing->layout.fourcc).is_blue_first;
	const uint32_t high = is_blue_first ? parts.blue : parts.red;
	const uint32_t low = is_blue_first ? parts.red : parts.blue;
	return (uint32_t)(parts.alpha >> 8) << 24 | high >> 8 << 16 | (parts.green & 0xff00u) |
			low >> 8;
}

/* Has room for so many more. */
static int make_room(struct drawing *drawing, size_t count) {
	return drawing->fused.count + count > FUSED_LAYERS_MAX ? fused_draw(drawing) : 0;
}

static void put_off(struct drawing *drawing, const struct fused_command *command) {
	drawing->fused.commands[drawing->fused.count++] = *command;
}

int fused_fill(struct drawing *drawing, const struct engine_fill *fill) {
	const size_t count = list_elements(fill, rectangles);
	pixman_box32_t boxes[FUSED_LAYERS_MAX];
	if (count > FUSED_LAYERS_MAX || !is_ready(drawing, fill->op)) {
		return -ENOTSUP;
	}
	size_t seen = 0;
	for (size_t i = 0; i < count; i++) {
		const struct engine_rectangle *from = &fill->rectangles[i];
		pixman_box32_t box = {
				from->x, from->y, from->x + from->width, from->y + from->height};
		if (drawing_overlaps(drawing, &box)) {
			if (box.x2 - box.x1 < WIDTH_MIN) {
				return -ENOTSUP;
			}
			boxes[seen++] = box;
		}
	}
	int ret = make_room(drawing, seen);
	for (size_t i = 0; ret == 0 && i < seen; i++) {
		put_off(drawing,
				&(struct fused_command){.box = boxes[i],
						.how = {.colour = pixel_of(drawing, fill->colour),
								.alpha = 255,
								.replaces = fill->op == ENGINE_SRC ||
										fill->colour >> 24 ==
												255}});
	}
	drawing->cost += count - seen;
	return ret;
}

/* Whether pixels of the source are the target's as they are, but for an alpha that one has not. */
static bool is_plain(const struct drawing *drawing, const struct engine_layer *layer,
		const struct gid_layout *source, struct placed *placed) {
	const struct order from = order_of(source->fourcc), to = order_of(drawing->layout.fourcc);
	const struct gid_plane *plane = &source->planes[0];
	return from.is_known && from.is_blue_first == to.is_blue_first &&
			!layer_is_straight(layer, source->fourcc) &&
			source->modifier == DRM_FORMAT_MOD_LINEAR && plane->offset % 4 == 0 &&
			plane->stride % 4 == 0 && placed_init(placed, layer, source) == 0 &&
			placed->plain;
}

int fused_layer(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source) {
	const struct gid_plane *plane = &source->layout.planes[0];
	const bool has_alpha = order_of(source->layout.fourcc).has_alpha;
	struct placed placed;
	if (!is_ready(drawing, layer->op) || source->may_be_drawn ||
			(layer->op == ENGINE_SRC && layer->alpha != 255) ||
			!is_plain(drawing, layer, &source->layout, &placed)) {
		return -ENOTSUP;
	}
	pixman_box32_t box = placed.box;
	if (!drawing_overlaps(drawing, &box)) {
		drawing->cost++;
		return 0;
	}
	const bool replaces = layer->op == ENGINE_SRC || (!has_alpha && layer->alpha == 255);
	if (box.x2 - box.x1 < WIDTH_MIN) {
		return -ENOTSUP;
	}
	int ret = make_room(drawing, 1);
	if (ret < 0) {
		return ret;
	}
	/* What replaces brings to the byte beside the colours what it has there, as pixman does. */
	const bool is_opaque =
			!has_alpha && (!replaces || order_of(drawing->layout.fourcc).has_alpha);
	put_off(drawing,
			&(struct fused_command){.box = box,
					.memory = source->memory + plane->offset +
							(size_t)(placed.y +
									(uint32_t)(box.y1 -
											placed.box.y1)) *
									plane->stride +
							(size_t)(placed.x +
									(uint32_t)(box.x1 -
											placed.box.x1)) *
									4,
					.stride = plane->stride,
					.how = {.opaque = is_opaque ? 0xff000000 : 0,
							.alpha = layer->alpha,
							.replaces = replaces}});
	return 0;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* The nearest edge of a box behind `at`, or `end`. */
static int32_t next_edge(int32_t at, int32_t end, int32_t low, int32_t high) {
	end = low > at && low < end ? low : end;
	return high > at && high < end ? high : end;
}

/* The commands that draw all of a cell, which no edge crosses, from the last one that replaces on.
 */
static uint32_t find_layers(const struct fused *fused, const pixman_box32_t *cell,
		const struct fused_command *found[FUSED_LAYERS_MAX]) {
	uint32_t count = 0;
	for (uint32_t i = 0; i < fused->count; i++) {
		const struct fused_command *command = &fused->commands[i];
		const pixman_box32_t *box = &command->box;
		if (box->x1 <= cell->x1 && box->x2 >= cell->x2 && box->y1 <= cell->y1 &&
				box->y2 >= cell->y2) {
			count = command->how.replaces ? 0 : count;
			found[count++] = command;
		}
	}
	return count;
}

static void draw_cell(
		struct drawing *drawing, const struct fused *fused, const pixman_box32_t *cell) {
	const struct fused_command *commands[FUSED_LAYERS_MAX];
	struct row_layer layers[FUSED_LAYERS_MAX];
	const uint32_t count = find_layers(fused, cell, commands);
	const size_t stride = drawing->layout.planes[0].stride;
	for (int32_t y = cell->y1; count > 0 && y < cell->y2; y++) {
		uint8_t *target = drawing->memory + (size_t)y * stride + (size_t)cell->x1 * 4;
		for (uint32_t i = 0; i < count; i++) {
			const struct fused_command *command = commands[i];
			const size_t down = (size_t)(y - command->box.y1);
			const size_t right = (size_t)(cell->x1 - command->box.x1);
			layers[i] = command->how;
			layers[i].pixels = command->memory == NULL
					? NULL
					: (const uint32_t *)(const void *)(command->memory +
							  down * command->stride + right * 4);
		}
		fused_row((uint32_t *)(void *)target, layers, count,
				(uint32_t)(cell->x2 - cell->x1));
	}
}

/* As much as if each command were drawn by itself. */
static void count_band(struct drawing *drawing, const struct fused *fused, int32_t y, int32_t end) {
	for (uint32_t i = 0; i < fused->count; i++) {
		pixman_box32_t box = fused->commands[i].box;
		box.y1 = box.y1 > y ? box.y1 : y;
		box.y2 = box.y2 < end ? box.y2 : end;
		if (box.y1 < box.y2) {
			drawing_count(drawing, &box);
		}
	}
}

static int draw_band(struct drawing *drawing, const void *data, int32_t y, int32_t rows) {
	const struct fused *fused = data;
	const int32_t width = (int32_t)drawing->layout.width, end = y + rows;
	pixman_box32_t cell = {.y1 = y};
	for (; cell.y1 < end; cell.y1 = cell.y2) {
		cell.y2 = end;
		for (uint32_t i = 0; i < fused->count; i++) {
			const pixman_box32_t *box = &fused->commands[i].box;
			cell.y2 = next_edge(cell.y1, cell.y2, box->y1, box->y2);
		}
		for (cell.x1 = 0; cell.x1 < width; cell.x1 = cell.x2) {
			cell.x2 = width;
			for (uint32_t i = 0; i < fused->count; i++) {
				const pixman_box32_t *box = &fused->commands[i].box;
				if (box->y1 <= cell.y1 && box->y2 >= cell.y2) {
					cell.x2 = next_edge(cell.x1, cell.x2, box->x1, box->x2);
				}
			}
			draw_cell(drawing, fused, &cell);
		}
	}
	count_band(drawing, fused, y, end);
	return 0;
}

int fused_draw(struct drawing *drawing) {
	struct fused *fused = &drawing->fused;
	struct bands bands = {.draw = draw_band, .data = fused, .first = INT32_MAX};
	for (uint32_t i = 0; i < fused->count; i++) {
		const pixman_box32_t *box = &fused->commands[i].box;
		bands.first = box->y1 < bands.first ? box->y1 : bands.first;
		bands.last = box->y2 > bands.last ? box->y2 : bands.last;
		bands.width += (uint32_t)(box->x2 - box->x1);
	}
	int ret = fused->count == 0 ? 0 : bands_draw(&bands, &pixman_back_end, drawing);
	fused->count = 0;
	return ret;
}
