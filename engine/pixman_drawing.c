// SPDX-License-Identifier: MIT
#include "pixman_drawing.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bands.h"
#include "drawing_parts.h"
#include "list_reader.h"
#include "point_drawing.h"
#include "polygon_drawing.h"
#include "straight_alpha.h"
#include "to_rgb.h"
#include "triangle_drawing.h"

/* 0: pixman does not know it. */
static pixman_format_code_t pixman_of(uint32_t fourcc) {
	const struct gid_format_info *format = gid_format_find(fourcc);
	return format != NULL ? to_rgb_pixman(format) : 0;
}

/* Red, green and blue of 8 bits in words of 32, or RGB565. */
bool pixman_can_target(uint32_t fourcc) {
	const pixman_format_code_t code = pixman_of(fourcc);
	return code == PIXMAN_r5g6b5 ||
			(PIXMAN_FORMAT_BPP(code) == 32 && PIXMAN_FORMAT_R(code) == 8);
}

/* One sample alone is a mask here, and no colour. */
static bool can_read(uint32_t fourcc) {
	const struct gid_format_info *format = gid_format_find(fourcc);
	return format != NULL && format->kind != GID_FORMAT_GREY;
}

/* An image in that memory; NULL: there is no memory, or pixman does not know the layout's format.
 */
static pixman_image_t *image_of(const struct gid_layout *layout, uint32_t width, uint32_t height,
		uint32_t *pixels) {
	const pixman_format_code_t code = pixman_of(layout->fourcc);
	return code == 0 ? NULL
			 : pixman_image_create_bits_no_clear(code, (int)width, (int)height, pixels,
					   (int)layout->planes[0].stride);
}

/* pixman reads rows as words of 32 bits. */
static bool is_aligned(const struct gid_layout *layout) {
	return layout->modifier == DRM_FORMAT_MOD_LINEAR && layout->planes[0].offset % 4 == 0 &&
			layout->planes[0].stride % 4 == 0;
}

static void forget(struct drawing *drawing) {
	if (drawing->image != NULL) {
		pixman_image_unref(drawing->image);
		drawing->image = NULL;
	}
}

static int begin(struct drawing *drawing) {
	const struct gid_layout *layout = &drawing->layout;
	if (!pixman_can_target(layout->fourcc) || !is_aligned(layout)) {
		return -ENOTSUP;
	}
	drawing->knows_pixel = false;
	drawing->image = image_of(
			layout, layout->width, layout->height, (uint32_t *)drawing->memory);
	return drawing->image == NULL ? -ENOMEM : 0;
}

static void finish(struct drawing *drawing) {
	forget(drawing);
	free(drawing->scratch);
}

/* Before pixman draws: points need no image, and come with clips of their own. */
static int clip_image(struct drawing *drawing) {
	if (!drawing->image_is_clipped) {
		if (!pixman_image_set_clip_region32(drawing->image, &drawing->clip)) {
			return -ENOMEM;
		}
		drawing->image_is_clipped = true;
	}
	return 0;
}

static uint32_t *scratch_of(struct drawing *drawing, size_t pixels) {
	if (drawing->scratch_size < pixels) {
		uint32_t *grown = reallocarray(drawing->scratch, pixels, sizeof(*grown));
		if (grown == NULL) {
			return NULL;
		}
		drawing->scratch = grown;
		drawing->scratch_size = pixels;
	}
	return drawing->scratch;
}

/* --- shapes ----------------------------------------------------------------------------------- */

/* One rectangle of a fill. */
struct filled {
	pixman_op_t op;
	pixman_color_t colour;
	pixman_box32_t box; /* cut */
};

static int fill_band(struct drawing *drawing, const void *data, int32_t y, int32_t rows) {
	const struct filled *filled = data;
	const pixman_box32_t band = {filled->box.x1, y, filled->box.x2, y + rows};
	drawing_count(drawing, &band);
	return clip_image(drawing) == 0 &&
					pixman_image_fill_boxes(filled->op, drawing->image,
							&filled->colour, 1, &band)
			? 0
			: -ENOMEM;
}

static int draw_fill(struct drawing *drawing, const struct engine_fill *fill) {
	const size_t count = list_elements(fill, rectangles);
	struct filled filled = {
			.op = (pixman_op_t)fill->op, .colour = drawing_colour(fill->colour)};
	uint64_t next_look = drawing->cost + PART_PIXELS;
	for (size_t i = 0; i < count; i++) {
		const struct engine_rectangle *from = &fill->rectangles[i];
		filled.box = (pixman_box32_t){
				from->x, from->y, from->x + from->width, from->y + from->height};
		if (drawing_overlaps(drawing, &filled.box)) {
			const struct bands bands = {.draw = fill_band,
					.data = &filled,
					.first = filled.box.y1,
					.last = filled.box.y2,
					.width = (uint32_t)(filled.box.x2 - filled.box.x1)};
			int ret = bands_draw(&bands, &pixman_back_end, drawing);
			if (ret < 0) {
				return ret;
			}
		} else {
			drawing->cost++;
		}
		if (drawing->cost >= next_look) {
			next_look = drawing->cost + PART_PIXELS;
			if (!drawing_goes_on(drawing)) {
				return -ECANCELED;
			}
		}
	}
	return 0;
}

/* Short lists follow each other with the same colour, and do not pay for its pixel each. */
static uint32_t pixel_of(struct drawing *drawing, uint32_t colour) {
	if (!drawing->knows_pixel || drawing->colour != colour) {
		drawing->pixel = points_pixel(drawing->layout.fourcc, colour);
		drawing->colour = colour;
		drawing->knows_pixel = true;
	}
	return drawing->pixel;
}

/* Each point is compared with each of the clip's rectangles. */
static int draw_points(struct drawing *drawing, const struct engine_points *points) {
	const struct point_target target = {.memory = drawing->memory,
			.stride = drawing->layout.planes[0].stride,
			.fourcc = drawing->layout.fourcc,
			.clip = &drawing->clip};
	const uint64_t looks = 1 + (uint64_t)pixman_region32_n_rects(&drawing->clip);
	const size_t count = list_elements(points, points);
	const size_t part = (size_t)(PART_PIXELS / looks) + 1;
	const uint32_t pixel = pixel_of(drawing, points->colour);
	for (size_t i = 0; i < count; i += part) {
		const size_t here = count - i < part ? count - i : part;
		points_draw(&target, pixel, points->points + i, here);
		drawing->cost += here * looks;
		if (i + here < count && !drawing_goes_on(drawing)) {
			return -ECANCELED;
		}
	}
	return 0;
}

/* How a shape covers the pixels of a band, which it adds to a mask without anything. */
typedef int (*cover_function)(struct drawing *drawing, const void *shape, pixman_image_t *mask,
		const pixman_box32_t *band);

struct shape {
	const void *shape;
	cover_function cover;
	pixman_color_t colour;
	pixman_box32_t box; /* cut */
};

static int blend_band(struct drawing *drawing, const void *data, int32_t y, int32_t rows) {
	const struct shape *shape = data;
	const pixman_box32_t band = {shape->box.x1, y, shape->box.x2, y + rows};
	const int32_t width = band.x2 - band.x1, stride = (width + 3) / 4;
	const size_t words = (size_t)stride * (size_t)rows;
	uint32_t *covered = scratch_of(drawing, words);
	if (covered == NULL || clip_image(drawing) < 0) {
		return -ENOMEM;
	}
	memset(covered, 0, words * 4);
	pixman_image_t *mask = pixman_image_create_bits_no_clear(
			PIXMAN_a8, width, rows, covered, stride * 4);
	pixman_image_t *source = pixman_image_create_solid_fill(&shape->colour);
	int ret = mask == NULL || source == NULL ? -ENOMEM : 0;
	if (ret == 0) {
		ret = shape->cover(drawing, shape->shape, mask, &band);
	}
	if (ret == 0) {
		pixman_image_composite32(PIXMAN_OP_OVER, source, mask, drawing->image, 0, 0, 0, 0,
				band.x1, band.y1, width, rows);
		drawing_count(drawing, &band);
	}
	if (mask != NULL) {
		pixman_image_unref(mask);
	}
	if (source != NULL) {
		pixman_image_unref(source);
	}
	return ret;
}

/*
 * The colour, as far as the shape covers the pixels of the box. A few rows at a time: a shape may
 * be as large as the canvas, and neither its mask nor the time until others have their turn is.
 * For each row the shape is work as for so many pixels, besides those of the box.
 */
static int blend_shape(struct drawing *drawing, struct shape *shape, uint32_t row_work,
		uint32_t elements) {
	if (!drawing_overlaps(drawing, &shape->box)) {
		drawing->cost++;
		return 0;
	}
	const struct bands bands = {.draw = blend_band,
			.data = shape,
			.first = shape->box.y1,
			.last = shape->box.y2,
			.width = (uint32_t)(shape->box.x2 - shape->box.x1) + row_work,
			.band_pixels = PART_PIXELS / 2,
			.elements = elements};
	return bands_draw(&bands, &pixman_back_end, drawing);
}

/* --- triangles and lines ---------------------------------------------------------------------- */

struct triangles {
	struct triangle *each;
	size_t count;
};

static int cover_triangles(struct drawing *drawing, const void *shape, pixman_image_t *mask,
		const pixman_box32_t *band) {
	const struct triangles *triangles = shape;
	uint64_t next_look = drawing->cost + PART_PIXELS / 2;
	for (size_t i = 0; i < triangles->count; i++) {
		const pixman_box32_t box = triangle_box(&triangles->each[i]);
		const int32_t top = box.y1 > band->y1 ? box.y1 : band->y1;
		const int32_t bottom = box.y2 < band->y2 ? box.y2 : band->y2;
		const int32_t left = box.x1 > band->x1 ? box.x1 : band->x1;
		const int32_t right = box.x2 < band->x2 ? box.x2 : band->x2;
		drawing->cost++;
		if (left < right && top < bottom) {
			triangle_cover(&triangles->each[i], mask, band);
			drawing->cost += (uint64_t)(right - left) * (uint64_t)(bottom - top);
		}
		if (drawing->cost >= next_look) {
			next_look = drawing->cost + PART_PIXELS / 2;
			if (!drawing_goes_on(drawing)) {
				return -ECANCELED;
			}
		}
	}
	return 0;
}

/* All triangles together cover a pixel once at most: where they overlap, alpha does not add up. */
static int blend_triangles(
		struct drawing *drawing, uint32_t colour, const struct triangles *triangles) {
	struct shape shape = {triangles, cover_triangles, drawing_colour(colour),
			{INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN}};
	pixman_box32_t *box = &shape.box;
	for (size_t i = 0; i < triangles->count; i++) {
		const pixman_box32_t own = triangle_box(&triangles->each[i]);
		box->x1 = own.x1 < box->x1 ? own.x1 : box->x1;
		box->y1 = own.y1 < box->y1 ? own.y1 : box->y1;
		box->x2 = own.x2 > box->x2 ? own.x2 : box->x2;
		box->y2 = own.y2 > box->y2 ? own.y2 : box->y2;
	}
	drawing->cost += triangles->count;
	return blend_shape(drawing, &shape, 0, (uint32_t)triangles->count);
}

/* A line is a rectangle of its width around the centres of its two end pixels, as two triangles. */
static void line_triangles(struct triangle triangles[2], struct engine_point from,
		struct engine_point to, double width) {
	double x1 = from.x + 0.5, y1 = from.y + 0.5, x2 = to.x + 0.5, y2 = to.y + 0.5;
	double length = hypot(x2 - x1, y2 - y1);
	double across_x = length > 0 ? (y1 - y2) / length * width / 2 : 0;
	double across_y = length > 0 ? (x2 - x1) / length * width / 2 : width / 2;
	if (length == 0) { /* a square of the line's width */
		x1 -= width / 2;
		x2 += width / 2;
	}
	triangles[0] = (struct triangle){{x1 + across_x, x2 + across_x, x2 - across_x},
			{y1 + across_y, y2 + across_y, y2 - across_y}};
	triangles[1] = (struct triangle){{x1 + across_x, x2 - across_x, x1 - across_x},
			{y1 + across_y, y2 - across_y, y1 - across_y}};
}

static int draw_lines(struct drawing *drawing, const struct engine_lines *lines) {
	const size_t count = list_elements(lines, points);
	if (count < 2) {
		return 0;
	}
	struct triangles triangles = {.count = (count - 1) * 2};
	triangles.each = calloc(triangles.count, sizeof(*triangles.each));
	if (triangles.each == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i + 1 < count; i++) {
		line_triangles(&triangles.each[2 * i], lines->points[i], lines->points[i + 1],
				lines->width / 16.0);
	}
	int ret = blend_triangles(drawing, lines->colour, &triangles);
	free(triangles.each);
	return ret;
}

static int draw_triangles(struct drawing *drawing, const struct engine_triangles *command) {
	struct triangles triangles = {.count = list_elements(command, points) / 3};
	if (triangles.count == 0) {
		return 0;
	}
	triangles.each = calloc(triangles.count, sizeof(*triangles.each));
	if (triangles.each == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < triangles.count; i++) {
		const struct engine_point *from = &command->points[3 * i];
		triangles.each[i] = (struct triangle){{from[0].x, from[1].x, from[2].x},
				{from[0].y, from[1].y, from[2].y}};
	}
	int ret = blend_triangles(drawing, command->colour, &triangles);
	free(triangles.each);
	return ret;
}

/* --- polygons --------------------------------------------------------------------------------- */

static int cover_polygon(struct drawing *drawing, const void *shape, pixman_image_t *mask,
		const pixman_box32_t *band) {
	const struct polygon *polygon = shape;
	uint8_t *row = (uint8_t *)pixman_image_get_data(mask);
	uint64_t next_look = drawing->cost + PART_PIXELS / 2;
	for (int32_t y = band->y1; y < band->y2; y++) {
		int64_t work = polygon_row(
				polygon, y, band->x1, (uint32_t)(band->x2 - band->x1), row);
		if (work < 0) {
			return (int)work;
		}
		row += pixman_image_get_stride(mask);
		drawing->cost += (uint64_t)work;
		if (drawing->cost >= next_look) {
			next_look = drawing->cost + PART_PIXELS / 2;
			if (!drawing_goes_on(drawing)) {
				return -ECANCELED;
			}
		}
	}
	return 0;
}

static int draw_polygon(struct drawing *drawing, const struct engine_polygon *command) {
	const size_t count = list_elements(command, points);
	struct polygon polygon;
	int ret = polygon_init(&polygon, command->points, count, command->rule);
	if (ret == 0 && count > 2) {
		struct shape shape = {&polygon, cover_polygon, drawing_colour(command->colour),
				polygon.box};
		ret = blend_shape(drawing, &shape, (uint32_t)polygon.count * POLYGON_EDGE_WORK, 0);
	}
	polygon_finish(&polygon);
	return ret;
}

/* --- layers ----------------------------------------------------------------------------------- */

/* Whether its pixels are made in the scratch memory, and not read by pixman as they are. */
static bool is_converted(const struct engine_layer *layer, uint32_t fourcc) {
	return pixman_of(fourcc) == 0 || layer_is_straight(layer, fourcc);
}

static void convert_rows(const struct engine_layer *layer, const struct picture *source,
		const struct placed *placed, uint32_t y, uint32_t rows, uint32_t *pixels) {
	const bool is_straight = layer_is_straight(layer, source->layout.fourcc);
	if (!is_straight || !straight_alpha_can_multiply(source->layout.fourcc)) {
		struct gid_layout layout = source->layout;
		layout.colours = layer_colours(layer, &source->layout);
		to_rgb(&layout, source->memory, placed->x, y, placed->width, rows, pixels,
				(size_t)placed->width * 4);
		if (is_straight) {
			straight_alpha_multiply_words(pixels, (size_t)placed->width * rows);
		}
		return;
	}
	for (uint32_t i = 0; i < rows; i++) {
		straight_alpha_multiply(source, placed->x, y + i, placed->width,
				pixels + (size_t)placed->width * i);
	}
}

/* Pixels that pixman reads, and how. What it makes of them is each thread's own. */
struct pixels {
	pixman_format_code_t format;
	int width, height;
	uint32_t *words;
	int stride;
	const pixman_transform_t *transform; /* NULL: pixel for pixel, within the picture */
	pixman_filter_t filter;
};

/* NULL: there is no memory. */
static pixman_image_t *image_of_pixels(const struct pixels *pixels) {
	pixman_image_t *image = pixman_image_create_bits_no_clear(pixels->format, pixels->width,
			pixels->height, pixels->words, pixels->stride);
	if (image == NULL || pixels->transform == NULL) {
		return image;
	}
	if (!pixman_image_set_transform(image, pixels->transform)) {
		pixman_image_unref(image);
		return NULL;
	}
	pixman_image_set_repeat(image, PIXMAN_REPEAT_PAD);
	pixman_image_set_filter(image, pixels->filter, NULL, 0);
	return image;
}

static pixman_image_t *mask_of(uint8_t alpha) {
	const pixman_color_t colour = {.alpha = (uint16_t)(alpha * 257)};
	return pixman_image_create_solid_fill(&colour);
}

/* A layer that is composed. */
struct composing {
	const struct engine_layer *layer;
	struct pixels pixels;
	int32_t x, y;	    /* from the target's columns and rows to those of the pixels */
	pixman_box32_t box; /* of the target, cut */
};

static int compose_band(struct drawing *drawing, const void *data, int32_t y, int32_t rows) {
	const struct composing *composing = data;
	const pixman_box32_t band = {composing->box.x1, y, composing->box.x2, y + rows};
	const uint8_t alpha = composing->layer->alpha;
	if (clip_image(drawing) < 0) {
		return -ENOMEM;
	}
	pixman_image_t *image = image_of_pixels(&composing->pixels);
	pixman_image_t *mask = alpha != 255 ? mask_of(alpha) : NULL;
	int ret = image == NULL || (alpha != 255 && mask == NULL) ? -ENOMEM : 0;
	if (ret == 0) {
		pixman_image_composite32((pixman_op_t)composing->layer->op, image, mask,
				drawing->image, composing->x + band.x1, composing->y + y, 0, 0,
				band.x1, y, band.x2 - band.x1, rows);
		drawing_count(drawing, &band);
	}
	if (mask != NULL) {
		pixman_image_unref(mask);
	}
	if (image != NULL) {
		pixman_image_unref(image);
	}
	return ret;
}

/* Its box must lie within the clip's extents. */
static int compose(struct drawing *drawing, const struct composing *composing) {
	const struct bands bands = {.draw = compose_band,
			.data = composing,
			.first = composing->box.y1,
			.last = composing->box.y2,
			.width = (uint32_t)(composing->box.x2 - composing->box.x1)};
	return bands_draw(&bands, &pixman_back_end, drawing);
}

/* Pixel for pixel, of a format that pixman reads: no pixel is copied on the way. */
static int compose_plain(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source, const struct placed *placed) {
	const struct gid_layout *layout = &source->layout;
	struct composing composing = {.layer = layer,
			.pixels = {.format = pixman_of(layout->fourcc),
					.width = (int)layout->width,
					.height = (int)layout->height,
					.words = (uint32_t *)(source->memory +
							layout->planes[0].offset),
					.stride = (int)layout->planes[0].stride},
			.x = (int32_t)placed->x - placed->box.x1,
			.y = (int32_t)placed->y - placed->box.y1,
			.box = placed->box};
	if (!drawing_overlaps(drawing, &composing.box)) {
		drawing->cost++;
		return 0;
	}
	return compose(drawing, &composing);
}

/* A layer whose pixels are converted. */
struct converting {
	const struct engine_layer *layer;
	const struct picture *source;
	const struct placed *placed;
	pixman_box32_t box; /* of the target, cut */
	/* Scaled or turned: from pixels of `box` to those of the source's box. */
	pixman_transform_t transform;
	pixman_filter_t filter;
	uint32_t row_work; /* pixels of the source that a row of the target takes */
};

#define STRIP 16 /* rows */

/* A few rows at a time, which the cache holds. */
static int convert_plain_band(struct drawing *drawing, const void *data, int32_t y, int32_t rows) {
	const struct converting *converting = data;
	const struct placed *placed = converting->placed;
	struct composing composing = {.layer = converting->layer,
			.pixels = {.format = PIXMAN_a8r8g8b8,
					.width = (int)placed->width,
					.words = scratch_of(drawing, (size_t)placed->width * STRIP),
					.stride = (int)placed->width * 4},
			.x = -placed->box.x1,
			.box = converting->box};
	if (composing.pixels.words == NULL) {
		return -ENOMEM;
	}
	for (const int32_t end = y + rows; y < end; y += STRIP) {
		const int32_t here = y + STRIP < end ? STRIP : end - y;
		convert_rows(converting->layer, converting->source, placed,
				placed->y + (uint32_t)(y - placed->box.y1), (uint32_t)here,
				composing.pixels.words);
		drawing->cost += (uint64_t)placed->width * (uint64_t)here;
		composing.pixels.height = here;
		composing.y = -y;
		int ret = compose_band(drawing, &composing, y, here);
		if (ret < 0) {
			return ret;
		}
	}
	return 0;
}

/* Pixel for pixel, converted. */
static int convert_plain(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source, const struct placed *placed) {
	struct converting converting = {
			.layer = layer, .source = source, .placed = placed, .box = placed->box};
	if (!drawing_overlaps(drawing, &converting.box)) {
		drawing->cost++;
		return 0;
	}
	const struct bands bands = {.draw = convert_plain_band,
			.data = &converting,
			.first = converting.box.y1,
			.last = converting.box.y2,
			.width = placed->width,
			.band_pixels = PART_PIXELS / 2};
	return bands_draw(&bands, &pixman_back_end, drawing);
}

/* --- scaled and turned ------------------------------------------------------------------------ */

static double to_double(pixman_fixed_t fixed) {
	return fixed / 65536.0;
}

/* From the first to the last pixel that samples around these places are made of, of `size`. */
static void find_span(double least, double most, uint32_t size, uint32_t *first, uint32_t *count) {
	/* A filter takes two, and one more at either side is for what is rounded. */
	const double end = floor(most - 0.5) + 3, begin = floor(least - 0.5) - 1;
	const uint32_t last = end < 1 ? 1 : end > size ? size : (uint32_t)end;
	*first = begin < 0 ? 0 : begin > last - 1 ? last - 1 : (uint32_t)begin;
	*count = last - *first;
}

/*
 * The part of the source's box that some rows of the target are made of: it lies between what the
 * centres of their pixels at the four corners are.
 */
static void find_part(
		const struct converting *converting, int32_t y, int32_t rows, struct placed *part) {
	const pixman_box32_t *box = &converting->box;
	const double xs[] = {0.5, box->x2 - box->x1 - 0.5};
	const double ys[] = {y - box->y1 + 0.5, y - box->y1 + rows - 0.5};
	double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 2; k++) {
			const pixman_fixed_t *row = converting->transform.matrix[k];
			const double at = to_double(row[0]) * xs[i & 1] +
					to_double(row[1]) * ys[i >> 1] + to_double(row[2]);
			least[k] = fmin(least[k], at);
			most[k] = fmax(most[k], at);
		}
	}
	*part = *converting->placed;
	find_span(least[0], most[0], converting->placed->width, &part->x, &part->width);
	find_span(least[1], most[1], converting->placed->height, &part->y, &part->height);
}

static uint64_t pixels_in(const struct placed *part) {
	return (uint64_t)part->width * part->height;
}

/* Rows that are made of one part, which is found inside of the source's box. */
static int scale_part(struct drawing *drawing, const struct converting *converting, int32_t y,
		int32_t rows, const struct placed *part) {
	pixman_transform_t transform = converting->transform;
	struct placed in_source = *part;
	struct composing composing = {.layer = converting->layer,
			.pixels = {.format = PIXMAN_a8r8g8b8,
					.width = (int)part->width,
					.height = (int)part->height,
					.words = scratch_of(drawing, pixels_in(part)),
					.stride = (int)part->width * 4,
					.transform = &transform,
					.filter = converting->filter},
			.x = -converting->box.x1,
			.y = -converting->box.y1,
			.box = converting->box};
	if (composing.pixels.words == NULL) {
		return -ENOMEM;
	}
	in_source.x += converting->placed->x;
	in_source.y += converting->placed->y;
	convert_rows(converting->layer, converting->source, &in_source, in_source.y, part->height,
			composing.pixels.words);
	/* What two parts have in common is not counted: others have other parts. */
	drawing->cost += (uint64_t)converting->row_work * (uint64_t)rows;
	transform.matrix[0][2] -= pixman_int_to_fixed((int)part->x);
	transform.matrix[1][2] -= pixman_int_to_fixed((int)part->y);
	return compose_band(drawing, &composing, y, rows);
}

/* As many rows at a time as are made of pixels for which there is scratch memory. */
static int scale_band(struct drawing *drawing, const void *data, int32_t y, int32_t rows) {
	const struct converting *converting = data;
	struct placed part;
	int32_t here;
	for (const int32_t end = y + rows; y < end; y += here) {
		here = end - y;
		find_part(converting, y, here, &part);
		while (pixels_in(&part) > PART_PIXELS && here > 1) {
			here /= 2;
			find_part(converting, y, here, &part);
		}
		int ret = scale_part(drawing, converting, y, here, &part);
		if (ret < 0) {
			return ret;
		}
	}
	return 0;
}

/* How many pixels of the source a row of the target takes; returns how many for one row alone. */
static uint64_t find_row_work(struct converting *converting) {
	const int32_t rows = converting->box.y2 - converting->box.y1;
	struct placed all, row;
	find_part(converting, converting->box.y1, rows, &all);
	find_part(converting, converting->box.y1, 1, &row);
	const uint64_t each = pixels_in(&all) / (uint64_t)rows + 1, alone = pixels_in(&row);
	converting->row_work = (uint32_t)(each < alone ? each : alone);
	return alone;
}

/* Two bands have in common about what one row takes: bands for helpers are the larger for that. */
static int convert_scaled(struct drawing *drawing, struct converting *converting) {
	const uint64_t common = find_row_work(converting);
	const struct bands bands = {.draw = scale_band,
			.data = converting,
			.first = converting->box.y1,
			.last = converting->box.y2,
			.width = (uint32_t)(converting->box.x2 - converting->box.x1) +
					converting->row_work,
			.elements = (uint32_t)(common / 2)};
	return bands_draw(&bands, &pixman_back_end, drawing);
}

/*
 * Where the source's box begins in its memory; NULL: not at a whole word, so that pixman cannot
 * read it by itself.
 */
static uint32_t *corner_of(const struct picture *source, const struct placed *placed) {
	const struct gid_layout *layout = &source->layout;
	const size_t column = (size_t)placed->x * gid_format_find(layout->fourcc)->planes[0].bytes;
	return column % 4 != 0
			? NULL
			: (uint32_t *)(source->memory + layout->planes[0].offset +
					  (size_t)placed->y * layout->planes[0].stride + column);
}

/*
 * Of the source's box alone, whose edges are repeated outside: a filter takes nothing from beside
 * the box. What pixman cannot read where it is, is converted.
 */
static int compose_scaled(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source, const struct placed *placed) {
	const struct gid_layout *layout = &source->layout;
	struct converting converting = {.layer = layer,
			.source = source,
			.placed = placed,
			.box = placed->box,
			.filter = layer->filter == ENGINE_BILINEAR ? PIXMAN_FILTER_BILINEAR
								   : PIXMAN_FILTER_NEAREST};
	if (!drawing_overlaps(drawing, &converting.box)) {
		drawing->cost++;
		return 0;
	}
	int ret = placed_transform(
			&converting.transform, placed, layer->transform, &converting.box);
	if (ret < 0) {
		return ret;
	}
	uint32_t *corner = corner_of(source, placed);
	if (corner == NULL || is_converted(layer, layout->fourcc)) {
		return convert_scaled(drawing, &converting);
	}
	const struct composing composing = {.layer = layer,
			.pixels = {.format = pixman_of(layout->fourcc),
					.width = (int)placed->width,
					.height = (int)placed->height,
					.words = corner,
					.stride = (int)layout->planes[0].stride,
					.transform = &converting.transform,
					.filter = converting.filter},
			.x = -converting.box.x1,
			.y = -converting.box.y1,
			.box = converting.box};
	return compose(drawing, &composing);
}

static int draw_layer(struct drawing *drawing, const struct engine_layer *layer,
		const struct picture *source) {
	struct placed placed;
	bool converts = is_converted(layer, source->layout.fourcc);
	if (!can_read(source->layout.fourcc) || source->layout.modifier != DRM_FORMAT_MOD_LINEAR ||
			(!converts && !is_aligned(&source->layout))) {
		return -ENOTSUP;
	}
	int ret = placed_init(&placed, layer, &source->layout);
	if (ret < 0) {
		return ret;
	}
	if (!placed.plain) {
		return compose_scaled(drawing, layer, source, &placed);
	}
	return converts ? convert_plain(drawing, layer, source, &placed)
			: compose_plain(drawing, layer, source, &placed);
}

static int draw_masks(struct drawing *drawing, const struct engine_masks *masks,
		const struct picture *source) {
	const struct gid_layout *layout = &source->layout;
	const size_t count = list_elements(masks, glyphs);
	const pixman_color_t with = drawing_colour(masks->colour);
	uint64_t next_look = drawing->cost + PART_PIXELS;
	if (layout->fourcc != DRM_FORMAT_R8 || !is_aligned(layout)) {
		return -ENOTSUP;
	}
	if (clip_image(drawing) < 0) {
		return -ENOMEM;
	}
	pixman_image_t *colour = pixman_image_create_solid_fill(&with);
	pixman_image_t *mask = pixman_image_create_bits_no_clear(PIXMAN_a8, (int)layout->width,
			(int)layout->height,
			(uint32_t *)(source->memory + layout->planes[0].offset),
			(int)layout->planes[0].stride);
	int ret = colour == NULL || mask == NULL ? -ENOMEM : 0;
	for (size_t i = 0; ret == 0 && i < count; i++) {
		const struct engine_glyph *glyph = &masks->glyphs[i];
		pixman_box32_t box = {glyph->x, glyph->y, glyph->x + glyph->width,
				glyph->y + glyph->height};
		if ((uint32_t)glyph->source_x + glyph->width > layout->width ||
				(uint32_t)glyph->source_y + glyph->height > layout->height) {
			ret = -ERANGE;
		} else if (drawing_cut(drawing, &box)) {
			pixman_image_composite32(PIXMAN_OP_OVER, colour, mask, drawing->image, 0, 0,
					glyph->source_x + box.x1 - glyph->x,
					glyph->source_y + box.y1 - glyph->y, box.x1, box.y1,
					box.x2 - box.x1, box.y2 - box.y1);
		}
		if (drawing->cost >= next_look) {
			next_look = drawing->cost + PART_PIXELS;
			ret = ret == 0 && !drawing_goes_on(drawing) ? -ECANCELED : ret;
		}
	}
	if (colour != NULL) {
		pixman_image_unref(colour);
	}
	if (mask != NULL) {
		pixman_image_unref(mask);
	}
	return ret;
}

const struct back_end pixman_back_end = {
		.name = "pixman",
		.can = CAN_ALL,
		.begin = begin,
		.forget = forget,
		.finish = finish,
		.fill = draw_fill,
		.points = draw_points,
		.lines = draw_lines,
		.triangles = draw_triangles,
		.polygon = draw_polygon,
		.layer = draw_layer,
		.masks = draw_masks,
};
