// SPDX-License-Identifier: MIT
#include "gles_drawing.h"

#include <drm_fourcc.h>
#include <errno.h>

#include "drawing_parts.h"
#include "gles_sources.h"
#include "list_reader.h"

#define QUAD_COST 256 /* pixels that a device could draw instead */

/* Red, green and blue of a byte each, with blue or red in the lowest: devices know these two. */
static bool can_target(const struct gid_format_info *format) {
	const struct gid_format_sample *red = &format->samples[0], *green = red + 1,
				       *blue = red + 2;
	return format->kind == GID_FORMAT_RGB && format->planes[0].bytes == 4 && red->bits == 8 &&
			green->shift == 8 && (red->shift == 0 || blue->shift == 0);
}

/* --- the target ------------------------------------------------------------------------------- */

static void forget(struct drawing *drawing) {
	struct gles_device *device = drawing->device;
	device->has_pixels = false;
	device->drawn = (pixman_box32_t){0};
}

static void finish(struct drawing *drawing) {
	gles_device_destroy(drawing->device);
	drawing->device = NULL;
}

/* A device that was reset is made anew; if that fails, it is done without from then on. */
static bool enter(struct drawing *drawing) {
	struct gles_device *device = drawing->device;
	if (device == NULL || !device->lost) {
		return device != NULL && gles_device_enter(device);
	}
	char text[256];
	gles_device_destroy(device);
	drawing->device = NULL;
	if (gles_device_create(&device, false, text, sizeof(text)) < 0) {
		return false;
	}
	drawing->device = device;
	return true;
}

static int begin(struct drawing *drawing) {
	const struct gid_layout *layout = &drawing->layout;
	const struct gid_format_info *format = gid_format_find(layout->fourcc);
	if (format == NULL || !can_target(format) || !enter(drawing)) {
		return -ENOTSUP;
	}
	struct gles_device *device = drawing->device;
	gles_device_take_failure(device); /* of the target before */
	if (layout->width > device->largest || layout->height > device->largest ||
			gles_device_resize(device, layout->width, layout->height) < 0) {
		return -ENOTSUP;
	}
	device->swapped = format->samples[2].shift == 0;
	device->opaque = format->samples[3].bits == 0;
	forget(drawing);
	return 0;
}

/* Without alpha, the target's is 1, and stays so. */
static void set_alpha_mask(const struct gles_device *device) {
	glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, !device->opaque);
}

/* Has the target's pixels in the device, if they are not all drawn over. */
static void take(struct drawing *drawing, bool all_drawn) {
	struct gles_device *device = drawing->device;
	const struct gid_plane *plane = &drawing->layout.planes[0];
	if (device->has_pixels) {
		return;
	}
	if (!all_drawn) {
		glActiveTexture(GL_TEXTURE0);
		glBindTexture(GL_TEXTURE_2D, device->target);
		glPixelStorei(GL_UNPACK_ROW_LENGTH, (GLint)(plane->stride / 4));
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, (GLsizei)drawing->layout.width,
				(GLsizei)drawing->layout.height, GL_RGBA, GL_UNSIGNED_BYTE,
				drawing->memory);
		glBindTexture(GL_TEXTURE_2D, 0);
		drawing->copies.begun++;
		drawing->cost += (uint64_t)drawing->layout.width * drawing->layout.height;
	}
	if (device->opaque) {
		glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_TRUE);
		glClearColor(0, 0, 0, 1);
		glClear(GL_COLOR_BUFFER_BIT);
	}
	device->has_pixels = true;
}

static void wait(struct drawing *drawing) {
	struct gles_device *device = drawing->device;
	if (device->is_reading) {
		glFinish();
		device->is_reading = false;
	}
}

static int flush(struct drawing *drawing, bool changes) {
	struct gles_device *device = drawing->device;
	const struct gid_plane *plane = &drawing->layout.planes[0];
	const pixman_box32_t box = device->drawn;
	device->has_pixels &= !changes;
	device->is_reading = false; /* what is drawn has been read */
	if (box.x1 >= box.x2) {
		return 0;
	}
	glPixelStorei(GL_PACK_ROW_LENGTH, (GLint)(plane->stride / 4));
	glReadPixels(box.x1, box.y1, box.x2 - box.x1, box.y2 - box.y1, GL_RGBA, GL_UNSIGNED_BYTE,
			drawing->memory + (size_t)box.y1 * plane->stride + (size_t)box.x1 * 4);
	drawing->copies.flushed++;
	drawing->cost += (uint64_t)(box.x2 - box.x1) * (uint64_t)(box.y2 - box.y1);
	device->drawn = (pixman_box32_t){0};
	const bool failed = gles_device_take_failure(device);
	if (gles_device_is_lost(device)) {
		return -EIO;
	}
	return failed ? -ENOMEM : 0;
}

/* --- what all commands have in common --------------------------------------------------------- */

/* Porter and Duff's operators, of colours that are multiplied by alpha. */
static void set_operator(uint32_t op) {
	static const GLenum factors[][2] = {
			[ENGINE_CLEAR] = {GL_ZERO, GL_ZERO},
			[ENGINE_SRC] = {GL_ONE, GL_ZERO},
			[ENGINE_DST] = {GL_ZERO, GL_ONE},
			[ENGINE_OVER] = {GL_ONE, GL_ONE_MINUS_SRC_ALPHA},
			[ENGINE_OVER_REVERSE] = {GL_ONE_MINUS_DST_ALPHA, GL_ONE},
			[ENGINE_IN] = {GL_DST_ALPHA, GL_ZERO},
			[ENGINE_IN_REVERSE] = {GL_ZERO, GL_SRC_ALPHA},
			[ENGINE_OUT] = {GL_ONE_MINUS_DST_ALPHA, GL_ZERO},
			[ENGINE_OUT_REVERSE] = {GL_ZERO, GL_ONE_MINUS_SRC_ALPHA},
			[ENGINE_ATOP] = {GL_DST_ALPHA, GL_ONE_MINUS_SRC_ALPHA},
			[ENGINE_ATOP_REVERSE] = {GL_ONE_MINUS_DST_ALPHA, GL_SRC_ALPHA},
			[ENGINE_XOR] = {GL_ONE_MINUS_DST_ALPHA, GL_ONE_MINUS_SRC_ALPHA},
			[ENGINE_ADD] = {GL_ONE, GL_ONE},
	};
	glBlendFunc(factors[op][0], factors[op][1]);
}

/* Between two parts of a command. What was given to the device so far counts: it is waited for. */
static bool goes_on(struct drawing *drawing) {
	gles_device_flush(drawing->device);
	glFinish();
	return drawing_goes_on(drawing);
}

static void extend(pixman_box32_t *drawn, const pixman_box32_t *box) {
	if (drawn->x1 >= drawn->x2) {
		*drawn = *box;
	} else {
		*drawn = (pixman_box32_t){drawn->x1 < box->x1 ? drawn->x1 : box->x1,
				drawn->y1 < box->y1 ? drawn->y1 : box->y1,
				drawn->x2 > box->x2 ? drawn->x2 : box->x2,
				drawn->y2 > box->y2 ? drawn->y2 : box->y2};
	}
}

/* Adds what of the box is within the clip, whose rectangles may be very many. Returns 0 or
 * -ECANCELED. */
static int add_clipped(struct drawing *drawing, const pixman_box32_t *box, int dx, int dy) {
	struct gles_device *device = drawing->device;
	uint64_t next_look = drawing->cost + PART_PIXELS;
	int count;
	const pixman_box32_t *clip = pixman_region32_rectangles(&drawing->clip, &count);
	extend(&device->drawn, box);
	for (int i = 0; i < count; i++) {
		const pixman_box32_t part = {box->x1 > clip[i].x1 ? box->x1 : clip[i].x1,
				box->y1 > clip[i].y1 ? box->y1 : clip[i].y1,
				box->x2 < clip[i].x2 ? box->x2 : clip[i].x2,
				box->y2 < clip[i].y2 ? box->y2 : clip[i].y2};
		if (part.x1 < part.x2 && part.y1 < part.y2) {
			gles_device_add(device, &part, dx, dy);
			drawing->cost += QUAD_COST;
		}
		if (drawing->cost >= next_look) {
			next_look = drawing->cost + PART_PIXELS;
			if (!goes_on(drawing)) {
				return -ECANCELED;
			}
		}
	}
	return 0;
}

static void set_colour(struct gles_device *device, uint32_t argb) {
	const pixman_color_t colour = drawing_colour(argb);
	glUniform4i(device->uniforms[UNIFORM_COLOUR], colour.red >> 8, colour.green >> 8,
			colour.blue >> 8, colour.alpha >> 8);
}

/* --- commands --------------------------------------------------------------------------------- */

/* One of many boxes, as far as it is on the canvas. Others wait for some of them, not for all. */
static int add_cut(
		struct drawing *drawing, pixman_box32_t *box, int dx, int dy, uint64_t *next_look) {
	if (drawing_cut(drawing, box) && add_clipped(drawing, box, dx, dy) < 0) {
		return -ECANCELED;
	}
	if (drawing->cost < *next_look) {
		return 0;
	}
	*next_look = drawing->cost + PART_PIXELS;
	return goes_on(drawing) ? 0 : -ECANCELED;
}

/* Whether nothing is left of what the target has. */
static bool fills_all(const struct drawing *drawing, const struct engine_fill *fill, size_t count) {
	const int width = (int)drawing->layout.width, height = (int)drawing->layout.height;
	const pixman_box32_t *clip = pixman_region32_extents(&drawing->clip);
	const struct engine_rectangle *first = &fill->rectangles[0];
	return fill->op <= ENGINE_SRC && count > 0 && first->x <= 0 && first->y <= 0 &&
			first->x + first->width >= width && first->y + first->height >= height &&
			pixman_region32_n_rects(&drawing->clip) == 1 && clip->x1 == 0 &&
			clip->y1 == 0 && clip->x2 == width && clip->y2 == height;
}

static int draw_fill(struct drawing *drawing, const struct engine_fill *fill) {
	struct gles_device *device = drawing->device;
	const size_t count = list_elements(fill, rectangles);
	uint64_t next_look = drawing->cost + PART_PIXELS;
	int ret = gles_device_use(device, GLES_COLOUR, false);
	if (ret < 0) {
		return ret;
	}
	take(drawing, fills_all(drawing, fill, count));
	set_alpha_mask(device);
	set_operator(fill->op);
	set_colour(device, fill->colour);
	for (size_t i = 0; i < count; i++) {
		const struct engine_rectangle *from = &fill->rectangles[i];
		pixman_box32_t box = {
				from->x, from->y, from->x + from->width, from->y + from->height};
		if (add_cut(drawing, &box, 0, 0, &next_look) < 0) {
			return -ECANCELED;
		}
	}
	gles_device_flush(device);
	return 0;
}

/* From pixels of the target, counted from the corner of what is seen, to those of the source. */
static int set_transform(struct gles_device *device, const struct engine_layer *layer,
		const struct placed *placed, const pixman_box32_t *seen) {
	pixman_transform_t of;
	int ret = placed_transform(&of, placed, layer->transform, seen);
	if (ret < 0) {
		return ret;
	}
	const pixman_fixed_t(*m)[3] = of.matrix;
	/* The middle of the first pixel, rounded as pixman does. */
	const GLint x = m[0][2] + ((m[0][0] + m[0][1] + 1) >> 1);
	const GLint y = m[1][2] + ((m[1][0] + m[1][1] + 1) >> 1);
	glUniform4i(device->uniforms[UNIFORM_STEPS], m[0][0], m[0][1], m[1][0], m[1][1]);
	glUniform2i(device->uniforms[UNIFORM_START], x, y);
	glUniform2i(device->uniforms[UNIFORM_CORNER], seen->x1, seen->y1);
	return 0;
}

/* In parts of whole rows. */
static int paint(struct drawing *drawing, const pixman_box32_t *seen) {
	const int32_t part = (int32_t)(PART_PIXELS / (uint32_t)(seen->x2 - seen->x1)) + 1;
	for (int32_t y = seen->y1; y < seen->y2; y += part) {
		pixman_box32_t rows = *seen;
		rows.y1 = y;
		rows.y2 = y + part < seen->y2 ? y + part : seen->y2;
		if (add_clipped(drawing, &rows, 0, 0) < 0 ||
				(rows.y2 < seen->y2 && !goes_on(drawing))) {
			return -ECANCELED;
		}
	}
	gles_device_flush(drawing->device);
	return 0;
}

static int draw_layer(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source) {
	struct gles_device *device = drawing->device;
	struct placed placed;
	if (!gles_source_can(&source->layout) || source->layout.fourcc == DRM_FORMAT_R8 ||
			source->layout.width > device->largest ||
			source->layout.height > device->largest) {
		return -ENOTSUP;
	}
	int ret = placed_init(&placed, layer, &source->layout);
	pixman_box32_t seen = placed.box;
	if (ret < 0 || !drawing_cut(drawing, &seen)) {
		return ret;
	}
	if (placed.plain) { /* what is not seen is not copied */
		placed.x += (uint32_t)(seen.x1 - placed.box.x1);
		placed.y += (uint32_t)(seen.y1 - placed.box.y1);
		placed.width = (uint32_t)(seen.x2 - seen.x1);
		placed.height = (uint32_t)(seen.y2 - seen.y1);
		placed.box = seen;
	}
	const pixman_box32_t box = {(int32_t)placed.x, (int32_t)placed.y,
			(int32_t)(placed.x + placed.width), (int32_t)(placed.y + placed.height)};
	ret = gles_device_use(device, gles_source_kind(&source->layout),
			layer->filter == ENGINE_BILINEAR && !placed.plain);
	ret = ret == 0 ? set_transform(device, layer, &placed, &seen) : ret;
	if (ret == 0) {
		take(drawing, false);
		ret = gles_source_set(drawing, source, layer, &box);
	}
	if (ret < 0) {
		return ret;
	}
	set_alpha_mask(device);
	set_operator(layer->op);
	glUniform1i(device->uniforms[UNIFORM_ALPHA], layer->alpha);
	return paint(drawing, &seen);
}

/* The part of a picture that glyphs are in. Returns 0; -ERANGE: one is outside; 1: there is none.
 */
static int find_glyphs(const struct engine_masks *masks, size_t count,
		const struct gid_layout *layout, pixman_box32_t *box) {
	*box = (pixman_box32_t){INT32_MAX, INT32_MAX, 0, 0};
	for (size_t i = 0; i < count; i++) {
		const struct engine_glyph *glyph = &masks->glyphs[i];
		const int32_t right = glyph->source_x + glyph->width;
		const int32_t bottom = glyph->source_y + glyph->height;
		if ((uint32_t)right > layout->width || (uint32_t)bottom > layout->height) {
			return -ERANGE;
		}
		if (glyph->width == 0 || glyph->height == 0) {
			continue;
		}
		box->x1 = glyph->source_x < box->x1 ? glyph->source_x : box->x1;
		box->y1 = glyph->source_y < box->y1 ? glyph->source_y : box->y1;
		box->x2 = right > box->x2 ? right : box->x2;
		box->y2 = bottom > box->y2 ? bottom : box->y2;
	}
	return box->x1 < box->x2 ? 0 : 1;
}

static int draw_masks(struct drawing *drawing, const struct engine_masks *masks,
		const struct picture *source) {
	struct gles_device *device = drawing->device;
	const struct gid_layout *layout = &source->layout;
	const size_t count = list_elements(masks, glyphs);
	uint64_t next_look = drawing->cost + PART_PIXELS;
	pixman_box32_t used;
	if (layout->fourcc != DRM_FORMAT_R8 || !gles_source_can(layout) ||
			layout->width > device->largest || layout->height > device->largest) {
		return -ENOTSUP;
	}
	int ret = find_glyphs(masks, count, layout, &used);
	if (ret != 0) {
		return ret < 0 ? ret : 0;
	}
	ret = gles_device_use(device, GLES_MASK, false);
	if (ret == 0) {
		take(drawing, false);
		ret = gles_source_set_mask(drawing, source, &used);
	}
	if (ret < 0) {
		return ret;
	}
	set_alpha_mask(device);
	set_operator(ENGINE_OVER);
	set_colour(device, masks->colour);
	for (size_t i = 0; i < count; i++) {
		const struct engine_glyph *glyph = &masks->glyphs[i];
		pixman_box32_t box = {glyph->x, glyph->y, glyph->x + glyph->width,
				glyph->y + glyph->height};
		if (add_cut(drawing, &box, glyph->source_x - glyph->x, glyph->source_y - glyph->y,
				    &next_look) < 0) {
			return -ECANCELED;
		}
	}
	gles_device_flush(device);
	return 0;
}

const struct back_end gles_back_end = {
		.name = "gles",
		.can = CAN_FILL | CAN_LAYERS | CAN_MASKS,
		.begin = begin,
		.forget = forget,
		.finish = finish,
		.flush = flush,
		.wait = wait,
		.fill = draw_fill,
		.layer = draw_layer,
		.masks = draw_masks,
};
