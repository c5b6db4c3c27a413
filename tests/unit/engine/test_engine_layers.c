// SPDX-License-Identifier: MIT
/* What layers and masks draw of pictures, pixel by pixel, and in which colours. */
#include <drm_fourcc.h>
#include <errno.h>
#include <gid/stream.h>
#include <math.h>
#include <stdlib.h>

#include "bitmap.h"
#include "tap.h"

static struct drawing drawing;

static void init_numbered(struct bitmap *source, uint32_t width, uint32_t height) {
	bitmap_init(source, DRM_FORMAT_ARGB8888, width, height, 0);
	for (uint32_t y = 0; y < height; y++) {
		for (uint32_t x = 0; x < width; x++) {
			*pixel(source, x, y) = 0xff000000 | (x + 1) << 16 | (y + 1) << 8;
		}
	}
}

/* Pixels that are not multiplied by their alpha, in each format that may be so. */
static void test_straight(void) {
	static const struct {
		uint32_t fourcc, pixel; /* alpha 0x80, red 0xff, green 0x40, blue 0 */
	} formats[] = {{DRM_FORMAT_ARGB8888, 0x80ff4000}, {DRM_FORMAT_ABGR8888, 0x800040ff},
			{DRM_FORMAT_BGRA8888, 0x0040ff80}, {DRM_FORMAT_RGBA8888, 0xff400080}};
	static struct bitmap target, source;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		bitmap_init(&source, formats[i].fourcc, 4, 4, 0);
		for (uint32_t at = 0; at < 16; at++) {
			*pixel(&source, at % 4, at / 4) = formats[i].pixel;
		}
		bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
		drawing_begin(&drawing, &target.layout, slot_of(&target));
		fill(&drawing, ENGINE_SRC, 0xff0000ff,
				(struct engine_rectangle){0, 0, WIDTH, HEIGHT});
		struct picture picture = picture_of(&source);
		struct engine_layer layer = layer_at(0, 0);
		layer.flags = ENGINE_LAYER_STRAIGHT;
		int ret = drawing_layer(&drawing, &layer, &picture);
		layer.x = 8;
		layer.width = layer.height = 8;
		layer.filter = ENGINE_BILINEAR;
		ret = ret == 0 ? drawing_layer(&drawing, &layer, &picture) : ret;
		tap_ok(ret == 0 && *pixel(&target, 3, 3) == 0xff80207f &&
						*pixel(&target, 12, 4) == 0xff80207f &&
						*pixel(&target, 4, 4) == 0xff0000ff,
				"%.4s: the engine multiplies by alpha, scaled or not: %08x %08x",
				(const char *)&formats[i].fourcc, *pixel(&target, 3, 3),
				*pixel(&target, 12, 4));
	}
	bitmap_init(&source, DRM_FORMAT_ARGB2101010, 4, 4, 0);
	*pixel(&source, 0, 0) = 0x7ff00000; /* a third of red */
	struct picture picture = picture_of(&source);
	struct engine_layer layer = layer_at(0, 0);
	layer.flags = ENGINE_LAYER_STRAIGHT;
	fill(&drawing, ENGINE_SRC, 0xff0000ff, (struct engine_rectangle){0, 0, WIDTH, HEIGHT});
	int ret = drawing_layer(&drawing, &layer, &picture);
	tap_ok(ret == 0 && *pixel(&target, 0, 0) == 0xff5500aa,
			"and those of other formats, too: %08x", *pixel(&target, 0, 0));
	bitmap_init(&source, DRM_FORMAT_XRGB8888, 4, 4, 0);
	*pixel(&source, 0, 0) = 0x00123456;
	picture = picture_of(&source);
	drawing_layer(&drawing, &layer, &picture);
	tap_ok(*pixel(&target, 0, 0) == 0xff123456, "without alpha there is nothing to multiply");
}

static void test_plain(void) {
	static struct bitmap target, source;
	bool exact = true;
	init_numbered(&source, 10, 8);
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	struct engine_layer layer = layer_at(-2, 3);
	layer.source_x = 1;
	layer.source_y = 2;
	layer.source_width = 8;
	layer.source_height = 5;
	struct picture picture = picture_of(&source);
	tap_ok(drawing_layer(&drawing, &layer, &picture) == 0, "a layer is composed");
	for (uint32_t y = 0; y < HEIGHT; y++) {
		for (uint32_t x = 0; x < WIDTH; x++) {
			bool in = x < 6 && y >= 3 && y < 8;
			exact &= *pixel(&target, x, y) == (in ? *pixel(&source, x + 3, y - 1) : 0);
		}
	}
	tap_ok(exact && guards_hold(&target), "of its box alone, pixel for pixel");
	layer.source_width = 10;
	tap_ok(drawing_layer(&drawing, &layer, &picture) == -ERANGE,
			"a box outside of the source is refused");
	layer = layer_at(0, 0);
	layer.alpha = 128;
	*pixel(&source, 0, 0) = 0xffffffff;
	fill(&drawing, ENGINE_SRC, 0xff000000, (struct engine_rectangle){0, 0, WIDTH, HEIGHT});
	drawing_layer(&drawing, &layer, &picture);
	tap_ok(*pixel(&target, 0, 0) == 0xff808080, "alpha of the whole layer counts: %08x",
			*pixel(&target, 0, 0));
}

/* Each transform puts each pixel where gid_box_turn() says that it is seen. */
static void test_turned(void) {
	static struct bitmap target, source;
	init_numbered(&source, 10, 6);
	struct picture picture = picture_of(&source);
	for (uint8_t transform = 0; transform < 8; transform++) {
		for (int filter = ENGINE_NEAREST; filter <= ENGINE_BILINEAR; filter++) {
			bool exact = true;
			bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
			drawing_begin(&drawing, &target.layout, slot_of(&target));
			struct engine_layer layer = layer_at(-1, 2);
			layer.transform = transform;
			layer.filter = (uint8_t)filter;
			layer.width = transform % 2 ? 6 : 10;
			layer.height = transform % 2 ? 10 : 6;
			drawing_layer(&drawing, &layer, &picture);
			for (int y = 0; y < 6; y++) {
				for (int x = 0; x < 10; x++) {
					struct gid_box seen =
							gid_box_turn((struct gid_box){x, y, 1, 1},
									10, 6, transform);
					if (seen.x > 0) {
						exact &= *pixel(&target, (uint32_t)seen.x - 1,
									 (uint32_t)seen.y + 2) ==
								*pixel(&source, (uint32_t)x,
										(uint32_t)y);
					}
				}
			}
			tap_ok(exact && guards_hold(&target), "transform %u, filter %d", transform,
					filter);
		}
	}
}

/* The one white column is beside the box, which does not begin at a word of the memory. */
static void test_odd_box(void) {
	static struct bitmap target, source;
	bool black = true;
	bitmap_init(&source, DRM_FORMAT_RGB565, 8, 8, 0);
	for (size_t y = 0; y < 8; y++) {
		const uint16_t white = 0xffff;
		memcpy((uint8_t *)slot_of(&source) + y * source.layout.planes[0].stride + 2 * 2,
				&white, sizeof(white));
	}
	bitmap_init(&target, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 0xff);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	struct picture picture = picture_of(&source);
	struct engine_layer layer = layer_at(0, 0);
	layer.filter = ENGINE_BILINEAR;
	layer.source_x = 3;
	layer.source_width = 5;
	layer.source_height = 8;
	layer.width = WIDTH;
	layer.height = HEIGHT;
	int ret = drawing_layer(&drawing, &layer, &picture);
	for (uint32_t y = 0; y < HEIGHT; y++) {
		for (uint32_t x = 0; x < WIDTH; x++) {
			black &= (*pixel(&target, x, y) & 0xffffff) == 0;
		}
	}
	tap_ok(ret == 0 && black, "nor where the box begins at an odd column of 16 bits");
}

static void test_scaled(void) {
	static struct bitmap target, source;
	bool exact = true, inside = true;
	init_numbered(&source, 10, 6);
	struct picture picture = picture_of(&source);
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	struct engine_layer layer = layer_at(-4, -2);
	layer.width = 40;
	layer.height = 24;
	drawing_layer(&drawing, &layer, &picture);
	for (uint32_t y = 0; y < 22; y++) {
		for (uint32_t x = 0; x < 36; x++) {
			exact &= *pixel(&target, x, y) == *pixel(&source, (x + 4) / 4, (y + 2) / 4);
		}
	}
	tap_ok(exact && guards_hold(&target), "four times as large by the nearest pixel");

	layer.filter = ENGINE_BILINEAR;
	layer.source_x = layer.source_y = 2;
	layer.source_width = layer.source_height = 3;
	drawing_layer(&drawing, &layer, &picture);
	for (uint32_t y = 0; y < 22; y++) {
		for (uint32_t x = 0; x < 36; x++) {
			uint32_t value = *pixel(&target, x, y);
			inside &= value >> 24 == 255 && (value >> 16 & 255) >= 3 &&
					(value >> 16 & 255) <= 5 && (value >> 8 & 255) >= 3 &&
					(value >> 8 & 255) <= 5;
		}
	}
	tap_ok(inside, "a filter takes nothing from beside the source's box");
	test_odd_box();

	layer = layer_at(-32768, -32768);
	layer.width = layer.height = 65535;
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	tap_ok(drawing_layer(&drawing, &layer, &picture) == 0 &&
					*pixel(&target, 0, 0) == *pixel(&source, 5, 3) &&
					guards_hold(&target),
			"the largest picture is drawn at its right place");
}

/* --- large sources ---------------------------------------------------------------------------- */

#define SCRATCH_MOST ((size_t)1 << 20) /* pixels */

static uint32_t random_below(uint32_t end) {
	static uint32_t state = 1;
	state = state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(state >> 8) * end >> 24);
}

/* In memory of its own, which its caller frees. */
static struct picture make_noise(uint32_t fourcc, uint32_t width, uint32_t height) {
	struct picture picture = {0};
	gid_layout_init(&picture.layout, fourcc, width, height, 64);
	const size_t words = gid_layout_size(&picture.layout) / 4;
	uint32_t *pixels = calloc(words, 4);
	for (size_t i = 0; i < words; i++) {
		pixels[i] = 0xff000000 | random_below(1 << 24);
	}
	picture.memory = (const uint8_t *)pixels;
	return picture;
}

static void free_noise(const struct picture *picture) {
	free((void *)picture->memory);
}

/* Somewhere, of any size, turned in any way. */
static struct engine_layer make_any(const struct gid_layout *source) {
	struct engine_layer layer = layer_at((int16_t)((int)random_below(400) - 200),
			(int16_t)((int)random_below(300) - 150));
	layer.source_x = (uint16_t)random_below(source->width / 2);
	layer.source_y = (uint16_t)random_below(source->height / 2);
	layer.source_width = (uint16_t)(1 + random_below(source->width / 2));
	layer.source_height = (uint16_t)(1 + random_below(source->height / 2));
	layer.width = (uint16_t)(1 + random_below(random_below(2) ? 400 : 4000));
	layer.height = (uint16_t)(1 + random_below(random_below(2) ? 300 : 3000));
	layer.transform = (uint8_t)random_below(8);
	layer.filter = random_below(2) ? ENGINE_BILINEAR : ENGINE_NEAREST;
	return layer;
}

/*
 * A picture that is converted as it is scaled looks as one that is not: that of a straight alpha
 * which is 1 everywhere.
 */
static void test_converted_in_parts(void) {
	const struct picture source = make_noise(DRM_FORMAT_ARGB8888, 3000, 2000);
	const struct picture targets[] = {make_noise(DRM_FORMAT_XRGB8888, 320, 240),
			make_noise(DRM_FORMAT_XRGB8888, 320, 240)};
	const size_t size = gid_layout_size(&targets[0].layout);
	int same = 0;
	const int count = 200;
	for (int i = 0; i < count; i++) {
		struct engine_layer layer = make_any(&source.layout);
		int ret = 0;
		for (int k = 0; k < 2; k++) {
			layer.flags = k == 0 ? 0 : ENGINE_LAYER_STRAIGHT;
			ret |= drawing_begin(
					&drawing, &targets[k].layout, (void *)targets[k].memory);
			ret |= fill(&drawing, ENGINE_SRC, 0xff000000,
					(struct engine_rectangle){0, 0, 320, 240});
			ret |= drawing_layer(&drawing, &layer, &source);
		}
		same += ret == 0 && memcmp(targets[0].memory, targets[1].memory, size) == 0;
	}
	tap_ok(same == count, "what is converted in parts has no seams: %d of %d", same, count);
	tap_ok(drawing.scratch_size <= SCRATCH_MOST,
			"and takes as much memory for a large picture as for others: %zu pixels",
			drawing.scratch_size);
	drawing_forget(&drawing);
	free_noise(&source);
	free_noise(&targets[0]);
	free_noise(&targets[1]);
}

/* To one pixel, and to one row or column of a size that only a large picture has. */
static void test_much_smaller(void) {
	static struct bitmap target;
	const struct picture source = make_noise(DRM_FORMAT_NV12, 8192, 4096);
	static const uint16_t sizes[][2] = {{1, 1}, {WIDTH, 1}, {1, HEIGHT}, {WIDTH, HEIGHT}};
	int ret = 0;
	bitmap_init(&target, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 0);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	for (size_t i = 0; i < 8 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct engine_layer layer = layer_at(0, 0);
		layer.transform = (uint8_t)(i % 8);
		layer.filter = ENGINE_BILINEAR;
		layer.width = sizes[i / 8][0];
		layer.height = sizes[i / 8][1];
		ret |= drawing_layer(&drawing, &layer, &source);
	}
	tap_ok(ret == 0 && guards_hold(&target) && drawing.scratch_size <= SCRATCH_MOST,
			"nor for one that becomes very small: %zu pixels", drawing.scratch_size);
	drawing_forget(&drawing);
	free_noise(&source);
}

/* --- colours ---------------------------------------------------------------------------------- */

/* Y, U and V of a pixel by the standards' own formulas, from red, green and blue of 0..1. */
static void to_yuv(const double rgb[3], uint32_t encoding, uint32_t range, uint8_t yuv[3]) {
	static const double parts[][2] = {[GID_MATRIX_BT601] = {0.299, 0.114},
			[GID_MATRIX_BT709] = {0.2126, 0.0722},
			[GID_MATRIX_FCC] = {0.30, 0.11},
			[GID_MATRIX_SMPTE240M] = {0.212, 0.087},
			[GID_MATRIX_BT2020] = {0.2627, 0.0593}};
	double red = parts[encoding][0], blue = parts[encoding][1];
	double y = red * rgb[0] + (1 - red - blue) * rgb[1] + blue * rgb[2];
	double u = (rgb[2] - y) / (1 - blue) / 2, v = (rgb[0] - y) / (1 - red) / 2;
	bool full = range == GID_RANGE_FULL;
	yuv[0] = (uint8_t)lround(full ? y * 255 : 16 + y * 219);
	yuv[1] = (uint8_t)fmin(255, lround(128 + u * (full ? 255 : 224)));
	yuv[2] = (uint8_t)fmin(255, lround(128 + v * (full ? 255 : 224)));
}

/* A picture of one colour. */
static void fill_yuv(struct bitmap *bitmap, const uint8_t yuv[3]) {
	const struct gid_layout *layout = &bitmap->layout;
	uint8_t *slot = slot_of(bitmap);
	size_t size = gid_layout_size(layout);
	for (size_t i = 0; i < size; i++) {
		if (layout->plane_count == 1) {
			bool uyvy = layout->fourcc == DRM_FORMAT_UYVY;
			size_t at = (i + uyvy) % 4;
			slot[i] = at % 2 == 0 ? yuv[0] : at == 1 ? yuv[1] : yuv[2];
		} else if (i < layout->planes[1].offset) {
			slot[i] = yuv[0];
		} else if (layout->plane_count == 2) {
			slot[i] = yuv[1 + (i - layout->planes[1].offset) % 2];
		} else {
			slot[i] = i < layout->planes[2].offset ? yuv[1] : yuv[2];
		}
	}
}

static int worst_of(struct bitmap *target, const double rgb[3]) {
	int worst = 0;
	for (uint32_t y = 0; y < HEIGHT; y++) {
		for (uint32_t x = 0; x < WIDTH; x++) {
			for (int i = 0; i < 3; i++) {
				int value = *pixel(target, x, y) >> (16 - 8 * i) & 255;
				int off = abs(value - (int)lround(rgb[i] * 255));
				worst = off > worst ? off : worst;
			}
		}
	}
	return worst;
}

static void test_colours(void) {
	static const uint32_t formats[] = {DRM_FORMAT_NV12, DRM_FORMAT_YUV420, DRM_FORMAT_YUYV,
			DRM_FORMAT_UYVY, DRM_FORMAT_NV16, DRM_FORMAT_YUV444};
	static const double colours[][3] = {{0, 0, 0}, {1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
			{0.2, 0.5, 0.8}, {0.9, 0.6, 0.1}};
	static const uint8_t encodings[] = {GID_MATRIX_BT601, GID_MATRIX_BT709, GID_MATRIX_FCC,
			GID_MATRIX_SMPTE240M, GID_MATRIX_BT2020};
	static struct bitmap target, source;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		int worst = 0;
		for (size_t kind = 0; kind < 4 * sizeof(encodings); kind++) {
			for (size_t k = 0; k < sizeof(colours) / sizeof(colours[0]); k++) {
				uint8_t yuv[3];
				struct engine_layer layer = layer_at(0, 0);
				layer.matrix = encodings[kind / 4];
				layer.range = kind >> 1 & 1 ? GID_RANGE_FULL : GID_RANGE_LIMITED;
				layer.width = kind & 1 ? WIDTH : 0;
				layer.height = kind & 1 ? HEIGHT : 0;
				to_yuv(colours[k], layer.matrix, layer.range, yuv);
				bitmap_init(&source, formats[i], kind & 1 ? 21 : WIDTH,
						kind & 1 ? 13 : HEIGHT, 0);
				fill_yuv(&source, yuv);
				bitmap_init(&target, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 0x33);
				drawing_begin(&drawing, &target.layout, slot_of(&target));
				struct picture picture = picture_of(&source);
				if (drawing_layer(&drawing, &layer, &picture) < 0) {
					worst = 999;
				}
				int off = worst_of(&target, colours[k]);
				worst = off > worst ? off : worst;
			}
		}
		tap_ok(worst <= 2,
				"%.4s of all standards and ranges, as it is and scaled: %d of 255",
				(const char *)&formats[i], worst);
	}
	bitmap_init(&source, DRM_FORMAT_P010, WIDTH, HEIGHT, 0);
	uint8_t *bytes = slot_of(&source);
	const size_t size = gid_layout_size(&source.layout);
	for (size_t i = 1; i < size; i += 2) {
		bytes[i] = i < source.layout.planes[1].offset ? 235 : 128;
	}
	struct engine_layer layer = layer_at(0, 0);
	struct picture picture = picture_of(&source);
	int ret = drawing_layer(&drawing, &layer, &picture);
	tap_ok(ret == 0 && worst_of(&target, (const double[]){1, 1, 1}) <= 1,
			"P010 has its samples in the upper bits of two bytes");
	bitmap_init(&source, DRM_FORMAT_R8, 8, 8, 0);
	picture = picture_of(&source);
	tap_ok(drawing_layer(&drawing, &layer, &picture) == -ENOTSUP,
			"a format without colours is refused");
}

static void test_masks(void) {
	static struct bitmap target, source;
	bitmap_init(&target, DRM_FORMAT_ARGB8888, WIDTH, HEIGHT, 0);
	bitmap_init(&source, DRM_FORMAT_R8, 16, 16, 0);
	uint8_t *mask = slot_of(&source);
	mask[5 * source.layout.planes[0].stride + 6] = 0xff;
	mask[5 * source.layout.planes[0].stride + 7] = 0x80;
	struct engine_glyph glyphs[] = {{6, 5, 4, 4, -1, 0}, {4, 4, 4, 4, 20, 10}};
	struct engine_masks *command = make(ENGINE_MASKS, sizeof(*command), glyphs, sizeof(glyphs));
	command->colour = 0xff00ff00;
	struct picture picture = picture_of(&source);
	drawing_begin(&drawing, &target.layout, slot_of(&target));
	tap_ok(drawing_masks(&drawing, command, &picture) == 0 &&
					*pixel(&target, 0, 0) == 0x80008000 &&
					*pixel(&target, 22, 11) == 0xff00ff00 &&
					*pixel(&target, 23, 11) == 0x80008000 &&
					*pixel(&target, 21, 11) == 0,
			"glyphs are drawn through their mask, and clipped");
	glyphs[1].source_x = 13;
	command = make(ENGINE_MASKS, sizeof(*command), glyphs, sizeof(glyphs));
	tap_ok(drawing_masks(&drawing, command, &picture) == -ERANGE && guards_hold(&target),
			"a glyph outside of its picture is refused");
}

int main(void) {
	drawing_init(&drawing);
	test_plain();
	test_straight();
	test_turned();
	test_scaled();
	test_converted_in_parts();
	test_much_smaller();
	test_colours();
	test_masks();
	drawing_finish(&drawing);
	return tap_finish();
}
