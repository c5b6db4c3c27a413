// SPDX-License-Identifier: MIT
#include "output_drawing.h"

#include <libweston/libweston.h>

#include "library_call.h"
#include "picture_box.h"

static struct wl_list known = {&known, &known}; /* struct output_drawing whose images are known */

/* The last copy of one whole image into another that Weston made; valid in the same repaint. */
static struct {
	pixman_image_t *from, *into;
} last_copy;

/* --- copies ----------------------------------------------------------------------------------- */

static void copy_region(pixman_image_t *from, pixman_image_t *into, pixman_region32_t *region) {
	const pixman_box32_t *box = pixman_region32_extents(region);
	if (from == into || !pixman_region32_not_empty(region)) {
		return;
	}
	pixman_image_set_clip_region32(into, region);
	pixman_image_composite32(PIXMAN_OP_SRC, from, NULL, into, box->x1, box->y1, 0, 0, box->x1,
			box->y1, box->x2 - box->x1, box->y2 - box->y1);
	pixman_image_set_clip_region32(into, NULL);
}

/* Unlike pixman_image_composite32(), pixman_image_fill_boxes() does not clip to the image. */
static void blacken(pixman_image_t *image, const pixman_region32_t *region) {
	static const pixman_color_t black = {.alpha = 0xffff};
	pixman_region32_t within;
	int count;
	pixman_region32_init(&within);
	pixman_region32_intersect_rect(&within, region, 0, 0,
			(unsigned int)pixman_image_get_width(image),
			(unsigned int)pixman_image_get_height(image));
	const pixman_box32_t *boxes = pixman_region32_rectangles(&within, &count);
	if (count > 0) {
		pixman_image_fill_boxes(PIXMAN_OP_SRC, image, &black, count, boxes);
	}
	pixman_region32_fini(&within);
}

static void region_init_box(pixman_region32_t *region, struct gid_box box) {
	if (box_is_empty(box)) {
		pixman_region32_init(region);
	} else {
		pixman_region32_init_rect(region, box.x, box.y, (unsigned int)box.width,
				(unsigned int)box.height);
	}
}

static uint64_t region_pixels(const pixman_region32_t *region) {
	int count;
	const pixman_box32_t *boxes = pixman_region32_rectangles(region, &count);
	uint64_t pixels = 0;
	for (int i = 0; i < count; i++) {
		pixels += (uint64_t)(boxes[i].x2 - boxes[i].x1) *
				(uint64_t)(boxes[i].y2 - boxes[i].y1);
	}
	return pixels;
}

/* --- where the latest picture is -------------------------------------------------------------- */

static pixman_image_t *latest_image(const struct output_drawing *drawing) {
	const struct capture_target *latest = drawing->latest;
	return latest != NULL && latest->image != NULL ? latest->image : drawing->own;
}

/* Copies what the target lacks of the last picture, and this repaint did not draw. */
static void target_catch_up(struct output_drawing *drawing) {
	struct capture_target *target = drawing->target;
	pixman_region32_t lack;
	region_init_box(&lack, target->stale);
	pixman_region32_subtract(&lack, &lack, &drawing->drawn);
	copy_region(latest_image(drawing), target->image, &lack);
	target->copied = region_pixels(&lack) * sizeof(uint32_t);
	target->stale = (struct gid_box){0};
	pixman_region32_fini(&lack);
}

/* Makes the target's picture complete. */
static void target_complete(struct output_drawing *drawing) {
	if (drawing->latest != drawing->target) {
		target_catch_up(drawing);
		drawing->latest = drawing->target;
	}
}

/* Returns the image with the complete current picture. */
static pixman_image_t *whole_image(struct output_drawing *drawing) {
	if (drawing->target != NULL && pixman_region32_not_empty(&drawing->drawn)) {
		target_complete(drawing);
	}
	return latest_image(drawing);
}

/* --- Weston's calls of pixman ----------------------------------------------------------------- */

static struct output_drawing *find_drawing(const pixman_image_t *image) {
	struct output_drawing *drawing;
	wl_list_for_each(drawing, &known, link) {
		if (drawing->own == image || drawing->shown == image) {
			return drawing;
		}
	}
	return NULL;
}

static pixman_image_t *image_drawn_into(const struct output_drawing *drawing) {
	return drawing->target != NULL ? drawing->target->image : drawing->own;
}

static bool is_within(const pixman_region32_t *region, const struct gid_box *box) {
	const pixman_box32_t *extents = pixman_region32_extents(region);
	return extents->x1 >= box->x && extents->y1 >= box->y &&
			extents->x2 <= box->x + box->width && extents->y2 <= box->y + box->height;
}

/*
 * Weston blends over what is in the box, within `clip`. That must be black where this repaint did
 * not draw yet. Blending over black gives the source itself: if nothing was drawn there at all,
 * nothing has to be black first. Most windows in wl_shm memory are drawn this way, as they do not
 * declare themselves opaque. Returns the operation that draws it.
 */
static pixman_op_t prepare_blending(struct output_drawing *drawing, const struct gid_box *box) {
	pixman_op_t op = PIXMAN_OP_OVER;
	pixman_region32_t bare;
	pixman_region32_init(&bare);
	pixman_region32_subtract(&bare, &drawing->clip, &drawing->drawn);
	if (pixman_region32_not_empty(&bare) && pixman_region32_equal(&bare, &drawing->clip) &&
			is_within(&drawing->clip, box)) {
		op = PIXMAN_OP_SRC;
	} else {
		blacken(image_drawn_into(drawing), &bare);
	}
	pixman_region32_fini(&bare);
	return op;
}

static void guarded_composite(pixman_op_t op, pixman_image_t *from, pixman_image_t *mask,
		pixman_image_t *into, int32_t from_x, int32_t from_y, int32_t mask_x,
		int32_t mask_y, int32_t into_x, int32_t into_y, int32_t width, int32_t height) {
	if (capture_part_keep(from, into)) {
		return;
	}
	struct output_drawing *source = find_drawing(from), *drawing = find_drawing(into);
	if (drawing != NULL && source == drawing) {
		return; /* its copy to the frame buffer */
	}
	if (source != NULL) {
		from = whole_image(source);
	}
	if (drawing != NULL && into == drawing->own) {
		if (drawing->is_left_out) {
			return;
		}
		const struct gid_box box = {into_x, into_y, width, height};
		if (op == PIXMAN_OP_OVER) {
			op = prepare_blending(drawing, &box);
		}
		pixman_region32_union(&drawing->drawn, &drawing->drawn, &drawing->clip);
		into = image_drawn_into(drawing);
	}
	pixman_image_composite32(op, from, mask, into, from_x, from_y, mask_x, mask_y, into_x,
			into_y, width, height);
	if (op == PIXMAN_OP_SRC && mask == NULL) {
		last_copy.from = from;
		last_copy.into = into;
	}
}

/* The clip of what is drawn next: from the lowest window to the highest, all that is damaged. */
static void guarded_clip(pixman_image_t *image, pixman_region32_t *region) {
	struct output_drawing *drawing = find_drawing(image);
	if (drawing != NULL && image == drawing->own) {
		image = image_drawn_into(drawing);
		if (region != NULL) {
			pixman_region32_copy(&drawing->clip, region);
		} else {
			pixman_region32_clear(&drawing->clip);
		}
	}
	pixman_image_set_clip_region32(image, region);
}

int output_drawing_guard(void) {
	int error = library_call_replace((library_function)weston_log,
			"pixman_image_set_clip_region32", (library_function)guarded_clip);
	return error != 0 ? error
			  : library_call_replace((library_function)weston_log,
					    "pixman_image_composite32",
					    (library_function)guarded_composite);
}

/* --- repaints --------------------------------------------------------------------------------- */

void output_drawing_leave(struct output_drawing *drawing) {
	const struct capture_target *latest = drawing->latest;
	drawing->target = NULL;
	if (latest == NULL) {
		return;
	}
	if (capture_target_is_intact(latest)) {
		pixman_region32_t lack;
		region_init_box(&lack, drawing->stale);
		copy_region(latest->image, drawing->own, &lack);
		pixman_region32_fini(&lack);
	} else {
		drawing->is_lost = true;
	}
	drawing->latest = NULL;
	drawing->stale = (struct gid_box){0};
}

void output_drawing_look(struct output_drawing *drawing) {
	if (drawing->latest != NULL && !capture_target_is_intact(drawing->latest)) {
		output_drawing_leave(drawing);
	}
}

bool output_drawing_is_lost(struct output_drawing *drawing) {
	bool is_lost = drawing->is_lost;
	drawing->is_lost = false;
	return is_lost;
}

void output_drawing_leave_out(struct output_drawing *drawing) {
	drawing->target = drawing->latest = NULL;
	drawing->stale = (struct gid_box){0};
	drawing->is_left_out = drawing->is_lost = true;
}

bool output_drawing_can(const struct output_drawing *drawing, int32_t width, int32_t height) {
	return drawing->own != NULL && pixman_image_get_width(drawing->own) == width &&
			pixman_image_get_height(drawing->own) == height;
}

void output_drawing_begin(struct output_drawing *drawing, struct capture_target *target) {
	pixman_region32_clear(&drawing->drawn);
	drawing->is_left_out = false;
	last_copy.from = last_copy.into = NULL;
	if (target != NULL &&
			capture_target_make_image(target, pixman_image_get_format(drawing->own))) {
		drawing->target = target;
		target->copied = 0;
	} else {
		output_drawing_leave(drawing);
	}
}

/* --- Weston's images -------------------------------------------------------------------------- */

/* Restores Weston's images, as if nothing had been redirected. */
static void drawing_forget(struct output_drawing *drawing) {
	output_drawing_leave(drawing);
	if (drawing->own == NULL) {
		return;
	}
	pixman_image_composite32(PIXMAN_OP_SRC, drawing->own, NULL, drawing->shown, 0, 0, 0, 0, 0,
			0, pixman_image_get_width(drawing->own),
			pixman_image_get_height(drawing->own));
	pixman_image_unref(drawing->own);
	pixman_image_unref(drawing->shown);
	drawing->own = drawing->shown = NULL;
	wl_list_remove(&drawing->link);
}

static bool is_alike(pixman_image_t *a, pixman_image_t *b) {
	return pixman_image_get_format(a) == pixman_image_get_format(b) &&
			pixman_image_get_width(a) == pixman_image_get_width(b) &&
			pixman_image_get_height(a) == pixman_image_get_height(b);
}

/* Weston has just drawn into `own`, copied that to `shown`, and captured that. */
void output_drawing_learn(struct output_drawing *drawing, const struct capture_part *part) {
	if (part->from == NULL) {
		return;
	}
	drawing_forget(drawing); /* of an output that was created again */
	if (last_copy.into == part->from && is_alike(last_copy.from, part->into) &&
			is_alike(part->from, part->into) &&
			PIXMAN_FORMAT_BPP(pixman_image_get_format(part->into)) == 32) {
		drawing->own = pixman_image_ref(last_copy.from);
		drawing->shown = pixman_image_ref(part->from);
		wl_list_insert(&known, &drawing->link);
	}
}

bool output_drawing_end(struct output_drawing *drawing, struct gid_box changed, bool wanted) {
	bool is_drawn = pixman_region32_not_empty(&drawing->drawn);
	bool is_there = drawing->target != NULL && (is_drawn || box_is_empty(changed));
	if (is_there && (is_drawn || wanted)) {
		target_complete(drawing);
	} else if (!is_there && drawing->target != NULL) {
		drawing_forget(drawing); /* Weston drew into other images */
	}
	if (drawing->latest != NULL) {
		drawing->stale = box_join(drawing->stale, changed);
	}
	drawing->target = NULL;
	return is_there;
}

/* --- create and destroy ----------------------------------------------------------------------- */

void output_drawing_init(struct output_drawing *drawing) {
	*drawing = (struct output_drawing){0};
	pixman_region32_init(&drawing->drawn);
	pixman_region32_init(&drawing->clip);
}

void output_drawing_finish(struct output_drawing *drawing) {
	drawing_forget(drawing);
	pixman_region32_fini(&drawing->drawn);
	pixman_region32_fini(&drawing->clip);
}
