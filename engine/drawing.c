// SPDX-License-Identifier: MIT
#include "drawing.h"

#include <errno.h>
#include <string.h>

#include "drawing_parts.h"
#include "fused_drawing.h"
#include "pixman_drawing.h"

#define CLIP_PART 64 /* rectangles */

bool drawing_can_target(uint32_t fourcc) {
	return pixman_can_target(fourcc);
}

/* --- the target ------------------------------------------------------------------------------- */

void drawing_init(struct drawing *drawing) {
	*drawing = (struct drawing){0};
	pixman_region32_init(&drawing->clip);
}

void drawing_use(struct drawing *drawing, const struct back_end *back_end, void *device) {
	drawing->back_end = back_end;
	drawing->device = device;
}

void drawing_forget(struct drawing *drawing) {
	fused_drop(drawing);
	if (drawing->uses_device) {
		drawing->back_end->forget(drawing);
		drawing->uses_device = false;
	}
	pixman_back_end.forget(drawing);
}

void drawing_finish(struct drawing *drawing) {
	drawing_forget(drawing);
	if (drawing->back_end != NULL) {
		drawing->back_end->finish(drawing);
	}
	pixman_back_end.finish(drawing);
	pixman_region32_fini(&drawing->clip);
}

/*
 * Sets a clip of one rectangle that is not empty. Every list does this once or twice: without a
 * call where possible.
 */
static void set_clip_box(struct drawing *drawing, const pixman_box32_t *box) {
	if (drawing->clip.data == NULL) { /* it was one rectangle before, too */
		drawing->clip.extents = *box;
	} else {
		pixman_region32_reset(&drawing->clip, box);
	}
}

static void set_whole_clip(struct drawing *drawing) {
	const pixman_box32_t whole = {
			0, 0, (int)drawing->layout.width, (int)drawing->layout.height};
	set_clip_box(drawing, &whole);
	drawing->image_is_clipped = false;
}

int drawing_begin(struct drawing *drawing, const struct gid_layout *layout, void *slot) {
	drawing->cost = 0;
	if (drawing->image != NULL && drawing->slot == slot &&
			memcmp(&drawing->layout, layout, sizeof(*layout)) == 0) {
		/* The same target as before, as for a row of short lists. */
		set_whole_clip(drawing);
		return 0;
	}
	drawing_forget(drawing);
	drawing->layout = *layout;
	drawing->slot = slot;
	drawing->memory = (uint8_t *)slot + layout->planes[0].offset;
	set_whole_clip(drawing);
	int ret = pixman_back_end.begin(drawing);
	drawing->uses_device = ret == 0 && drawing->back_end != NULL &&
			drawing->back_end->begin(drawing) == 0;
	return ret;
}

/* The common case of one rectangle, which needs no memory. */
static void set_one_clip(struct drawing *drawing, const struct engine_rectangle *from) {
	const int width = (int)drawing->layout.width, height = (int)drawing->layout.height;
	const int right = from->x + from->width, bottom = from->y + from->height;
	const pixman_box32_t box = {from->x > 0 ? from->x : 0, from->y > 0 ? from->y : 0,
			right < width ? right : width, bottom < height ? bottom : height};
	if (box.x1 < box.x2 && box.y1 < box.y2) {
		set_clip_box(drawing, &box);
	} else {
		pixman_region32_clear(&drawing->clip);
	}
}

/* Adds rectangles to the clip. */
static bool add_to_clip(
		struct drawing *drawing, const struct engine_rectangle *rectangles, size_t count) {
	pixman_box32_t boxes[CLIP_PART];
	pixman_region32_t part;
	for (size_t i = 0; i < count; i++) {
		const struct engine_rectangle *from = &rectangles[i];
		boxes[i] = (pixman_box32_t){
				from->x, from->y, from->x + from->width, from->y + from->height};
	}
	bool added = pixman_region32_init_rects(&part, boxes, (int)count) &&
			pixman_region32_intersect_rect(&part, &part, 0, 0, drawing->layout.width,
					drawing->layout.height) &&
			pixman_region32_union(&drawing->clip, &drawing->clip, &part);
	drawing->cost += count + (uint64_t)pixman_region32_n_rects(&part) +
			(uint64_t)pixman_region32_n_rects(&drawing->clip);
	pixman_region32_fini(&part);
	return added;
}

/*
 * The region of n rectangles that cross each other can have n * n / 2 rectangles: it is made in
 * parts.
 */
int drawing_set_clip(
		struct drawing *drawing, const struct engine_rectangle *rectangles, size_t count) {
	uint64_t next_look = drawing->cost + PART_PIXELS / 4; /* each costs more than a pixel */
	drawing->image_is_clipped = false;
	if (count == 0) {
		set_whole_clip(drawing);
		return 0;
	}
	if (count == 1) {
		set_one_clip(drawing, rectangles);
		return 0;
	}
	pixman_region32_clear(&drawing->clip);
	for (size_t i = 0; i < count; i += CLIP_PART) {
		if (!add_to_clip(drawing, rectangles + i,
				    count - i < CLIP_PART ? count - i : CLIP_PART)) {
			return -ENOMEM;
		}
		if (drawing->cost >= next_look) {
			next_look = drawing->cost + PART_PIXELS / 4;
			if (!drawing_goes_on(drawing)) {
				return -ECANCELED;
			}
		}
	}
	return 0;
}

/* --- commands --------------------------------------------------------------------------------- */

static bool is_able(const struct drawing *drawing, uint32_t ability) {
	return drawing->uses_device && (drawing->back_end->can & ability) != 0;
}

#define IN_MEMORY 1 /* the target's memory is complete: pixman can draw */

int drawing_catch_up(struct drawing *drawing) {
	return fused_waits(drawing) ? fused_draw(drawing) : 0;
}

static int flush(struct drawing *drawing, bool changes) {
	return drawing->uses_device && drawing->back_end->flush != NULL
			? drawing->back_end->flush(drawing, changes)
			: drawing_catch_up(drawing);
}

/* Returns IN_MEMORY or -errno. */
static int to_memory(struct drawing *drawing) {
	int ret = flush(drawing, true);
	return ret < 0 ? ret : IN_MEMORY;
}

int drawing_flush(struct drawing *drawing) {
	return flush(drawing, false);
}

void drawing_wait(struct drawing *drawing) {
	if (drawing->uses_device && drawing->back_end->wait != NULL) {
		drawing->back_end->wait(drawing);
	}
}

int drawing_fill(struct drawing *drawing, const struct engine_fill *fill) {
	int ret = is_able(drawing, CAN_FILL) ? drawing->back_end->fill(drawing, fill)
					     : fused_fill(drawing, fill);
	ret = ret == -ENOTSUP ? to_memory(drawing) : ret;
	return ret == IN_MEMORY ? pixman_back_end.fill(drawing, fill) : ret;
}

int drawing_points(struct drawing *drawing, const struct engine_points *points) {
	int ret = is_able(drawing, CAN_POINTS) ? drawing->back_end->points(drawing, points)
					       : -ENOTSUP;
	ret = ret == -ENOTSUP ? to_memory(drawing) : ret;
	return ret == IN_MEMORY ? pixman_back_end.points(drawing, points) : ret;
}

int drawing_lines(struct drawing *drawing, const struct engine_lines *lines) {
	int ret = is_able(drawing, CAN_LINES) ? drawing->back_end->lines(drawing, lines) : -ENOTSUP;
	ret = ret == -ENOTSUP ? to_memory(drawing) : ret;
	return ret == IN_MEMORY ? pixman_back_end.lines(drawing, lines) : ret;
}

int drawing_triangles(struct drawing *drawing, const struct engine_triangles *triangles) {
	int ret = is_able(drawing, CAN_TRIANGLES) ? drawing->back_end->triangles(drawing, triangles)
						  : -ENOTSUP;
	ret = ret == -ENOTSUP ? to_memory(drawing) : ret;
	return ret == IN_MEMORY ? pixman_back_end.triangles(drawing, triangles) : ret;
}

int drawing_polygon(struct drawing *drawing, const struct engine_polygon *polygon) {
	int ret = is_able(drawing, CAN_POLYGONS) ? drawing->back_end->polygon(drawing, polygon)
						 : -ENOTSUP;
	ret = ret == -ENOTSUP ? to_memory(drawing) : ret;
	return ret == IN_MEMORY ? pixman_back_end.polygon(drawing, polygon) : ret;
}

int drawing_layer(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source) {
	int ret = is_able(drawing, CAN_LAYERS) ? drawing->back_end->layer(drawing, layer, source)
					       : fused_layer(drawing, layer, source);
	ret = ret == -ENOTSUP ? to_memory(drawing) : ret;
	return ret == IN_MEMORY ? pixman_back_end.layer(drawing, layer, source) : ret;
}

int drawing_masks(struct drawing *drawing, const struct engine_masks *masks,
		const struct picture *source) {
	int ret = is_able(drawing, CAN_MASKS) ? drawing->back_end->masks(drawing, masks, source)
					      : -ENOTSUP;
	ret = ret == -ENOTSUP ? to_memory(drawing) : ret;
	return ret == IN_MEMORY ? pixman_back_end.masks(drawing, masks, source) : ret;
}
