// SPDX-License-Identifier: MIT
#include "drawing_parts.h"

#include <errno.h>

#include "straight_alpha.h"
#include "to_rgb.h"

pixman_color_t drawing_colour(uint32_t colour) {
	uint32_t alpha = colour >> 24;
	return (pixman_color_t){
			.alpha = (uint16_t)(alpha * 257),
			.red = (uint16_t)((colour >> 16 & 0xff) * alpha * 257 / 255),
			.green = (uint16_t)((colour >> 8 & 0xff) * alpha * 257 / 255),
			.blue = (uint16_t)((colour & 0xff) * alpha * 257 / 255),
	};
}

bool drawing_overlaps(struct drawing *drawing, pixman_box32_t *box) {
	const pixman_box32_t *extents = pixman_region32_extents(&drawing->clip);
	box->x1 = box->x1 > extents->x1 ? box->x1 : extents->x1;
	box->y1 = box->y1 > extents->y1 ? box->y1 : extents->y1;
	box->x2 = box->x2 < extents->x2 ? box->x2 : extents->x2;
	box->y2 = box->y2 < extents->y2 ? box->y2 : extents->y2;
	return box->x1 < box->x2 && box->y1 < box->y2;
}

void drawing_count(struct drawing *drawing, const pixman_box32_t *box) {
	drawing->cost += (uint64_t)pixman_region32_n_rects(&drawing->clip);
	drawing->cost += (uint64_t)(box->x2 - box->x1) * (uint64_t)(box->y2 - box->y1);
}

bool drawing_cut(struct drawing *drawing, pixman_box32_t *box) {
	if (!drawing_overlaps(drawing, box)) {
		drawing->cost++;
		return false;
	}
	drawing_count(drawing, box);
	return true;
}

bool drawing_goes_on(struct drawing *drawing) {
	return drawing->go_on == NULL || drawing->go_on(drawing->data);
}

/* --- layers ----------------------------------------------------------------------------------- */

bool layer_is_straight(const struct engine_layer *layer, uint32_t fourcc) {
	return (layer->flags & ENGINE_LAYER_STRAIGHT) != 0 && to_rgb_has_alpha(fourcc);
}

struct gid_colours layer_colours(
		const struct engine_layer *layer, const struct gid_layout *source) {
	struct gid_colours colours = source->colours;
	colours.matrix = layer->matrix != 0 ? layer->matrix : colours.matrix;
	colours.range = layer->range != 0 ? layer->range : colours.range;
	return colours;
}

int placed_init(struct placed *placed, const struct engine_layer *layer,
		const struct gid_layout *source) {
	bool swaps = layer->transform % 2 == 1;
	*placed = (struct placed){layer->source_x, layer->source_y, layer->source_width,
			layer->source_height, {0}, false};
	if (placed->width == 0) {
		placed->x = placed->y = 0;
		placed->width = source->width;
		placed->height = source->height;
	}
	if (placed->x + placed->width > source->width ||
			placed->y + placed->height > source->height) {
		return -ERANGE;
	}
	uint32_t natural_width = swaps ? placed->height : placed->width;
	uint32_t natural_height = swaps ? placed->width : placed->height;
	uint32_t width = layer->width != 0 ? layer->width : natural_width;
	uint32_t height = layer->height != 0 ? layer->height : natural_height;
	placed->plain = layer->transform == 0 && width == placed->width && height == placed->height;
	placed->box = (pixman_box32_t){
			layer->x, layer->y, layer->x + (int32_t)width, layer->y + (int32_t)height};
	return 0;
}

/*
 * From pixels of the target, counted from `from`, to those of the source's box. This is the inverse
 * of what wl_output's transforms do to a picture. (Counted from a corner that is seen, all numbers
 * stay small enough for pixman.)
 */
static void find_transform(pixman_f_transform_t *result, const struct placed *placed,
		uint32_t transform, const pixman_box32_t *from) {
	static const double turns[8][6] = {
			/* xx, xy, x0, yx, yy, y0 of the unit square */
			{1, 0, 0, 0, 1, 0},   /* normal */
			{0, 1, 0, -1, 0, 1},  /* 90 */
			{-1, 0, 1, 0, -1, 1}, /* 180 */
			{0, -1, 1, 1, 0, 0},  /* 270 */
			{-1, 0, 1, 0, 1, 0},  /* flipped */
			{0, 1, 0, 1, 0, 0},   /* flipped 90 */
			{1, 0, 0, 0, -1, 1},  /* flipped 180 */
			{0, -1, 1, -1, 0, 1}, /* flipped 270 */
	};
	const double *turn = turns[transform];
	double across = placed->box.x2 - placed->box.x1, down = placed->box.y2 - placed->box.y1;
	double width = placed->width, height = placed->height;
	double x = (from->x1 - placed->box.x1) / across, y = (from->y1 - placed->box.y1) / down;
	*result = (pixman_f_transform_t){{
			{turn[0] * width / across, turn[1] * width / down,
					(turn[0] * x + turn[1] * y + turn[2]) * width},
			{turn[3] * height / across, turn[4] * height / down,
					(turn[3] * x + turn[4] * y + turn[5]) * height},
			{0, 0, 1},
	}};
}

int placed_transform(pixman_transform_t *transform, const struct placed *placed, uint32_t turn,
		const pixman_box32_t *from) {
	pixman_f_transform_t exact;
	find_transform(&exact, placed, turn, from);
	return pixman_transform_from_pixman_f_transform(transform, &exact) ? 0 : -ERANGE;
}
