// SPDX-License-Identifier: MIT
/*
 * Draws pictures in one of the ways that gidway has: `draw-pictures convert|pixman|gles|weights`.
 * Reads, for each, six numbers of 32 bits (format, width, height, matrix, range, bytes) and its
 * rows without padding; writes 1 and its pixels as XRGB8888, or 0 if that way refuses the format.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawing.h"

#ifdef ENGINE_HAS_GLES
#include "gles_drawing.h"
#endif
#include "to_rgb.h"
#include "yuv_weights.h"

#define BYTES 65536u

struct numbers {
	uint32_t fourcc, width, height, matrix, range, bytes;
};

struct source {
	struct gid_layout layout;
	_Alignas(64) uint8_t memory[BYTES];
};

static struct drawing drawing;
static unsigned number; /* of the picture */

static bool by_convert(const struct source *source, uint32_t *pixels) {
	const struct gid_layout *layout = &source->layout;
	if (!to_rgb_can(layout->fourcc)) {
		return false;
	}
	to_rgb(layout, source->memory, 0, 0, layout->width, layout->height, pixels,
			(size_t)layout->width * 4);
	return true;
}

/* The colours are said by the picture's layout, and of each second picture by the layer alone. */
static bool by_engine(const struct source *source, uint32_t *pixels) {
	struct picture picture = {.layout = source->layout, .memory = source->memory};
	struct engine_layer layer = {
			.head = {ENGINE_LAYER, sizeof(layer) / 4}, .op = ENGINE_OVER, .alpha = 255};
	struct gid_layout target;
	gid_layout_init(&target, DRM_FORMAT_XRGB8888, source->layout.width, source->layout.height,
			4);
	if (number % 2 == 1) {
		layer.matrix = picture.layout.colours.matrix;
		layer.range = picture.layout.colours.range;
		picture.layout.colours = (struct gid_colours){.matrix = GID_MATRIX_FCC};
	}
	drawing_forget(&drawing);
	if (drawing_begin(&drawing, &target, pixels) < 0) {
		errx(1, "no target");
	}
	int ret = drawing_layer(&drawing, &layer, &picture);
	if (drawing_flush(&drawing) < 0) {
		errx(1, "the device is lost");
	}
	return ret == 0;
}

/* A sample as OpenGL gives it to a shader. */
static float texel(const struct source *source, const struct gid_format_info *format,
		uint32_t texture, uint32_t colour, uint32_t x, uint32_t y) {
	const bool paired = yuv_is_paired(format);
	const uint32_t plane = paired ? 0 : texture, bytes = yuv_sample_bytes(format);
	const struct gid_format_plane *block = &format->planes[plane];
	const uint32_t count = paired && texture == 0 ? 2 : block->bytes / bytes;
	if (colour >= count) {
		return colour == 3;
	}
	const uint32_t column = paired && texture == 0 ? x : x / block->hsub;
	const uint8_t *at = source->memory + source->layout.planes[plane].offset +
			(size_t)(y / block->vsub) * source->layout.planes[plane].stride +
			(size_t)(column * count + colour) * bytes;
	return bytes == 1 ? (float)at[0] / 255 : (float)(at[0] | at[1] << 8) / 65535;
}

/* As wlroots/yuv_shader.c has it: without a device. */
static bool by_weights(const struct source *source, uint32_t *pixels) {
	const struct gid_layout *layout = &source->layout;
	const struct gid_format_info *format = gid_format_find(layout->fourcc);
	struct yuv_weights weights;
	if (format == NULL || !yuv_is_drawn(format)) {
		return false;
	}
	yuv_weights_init(&weights, &layout->colours, format);
	for (uint32_t i = 0; i < layout->width * layout->height; i++) {
		uint32_t pixel = 0;
		for (uint32_t row = 0; row < 3; row++) {
			float sum = weights.offset[row];
			for (uint32_t j = 0; j < 4 * YUV_TEXTURES_MAX; j++) {
				if (j / 4 < format->plane_count + yuv_is_paired(format)) {
					sum += weights.matrices[j / 4][4 * (j % 4) + row] *
							texel(source, format, j / 4, j % 4,
									i % layout->width,
									i / layout->width);
				}
			}
			pixel = pixel << 8 | (uint32_t)lroundf(fminf(fmaxf(sum, 0), 1) * 255);
		}
		pixels[i] = pixel;
	}
	return true;
}

typedef bool (*way_func)(const struct source *source, uint32_t *pixels);

static way_func find_way(const char *name) {
	drawing_init(&drawing);
#ifdef ENGINE_HAS_GLES
	if (strcmp(name, "gles") == 0) {
		struct gles_device *device;
		char text[256] = "";
		if (gles_device_create(&device, false, text, sizeof(text)) < 0) {
			errx(1, "%s", text);
		}
		drawing_use(&drawing, &gles_back_end, device);
		return by_engine;
	}
#endif
	return strcmp(name, "convert") == 0	       ? by_convert
			: strcmp(name, "pixman") == 0  ? by_engine
			: strcmp(name, "weights") == 0 ? by_weights
						       : NULL;
}

int main(int argc, char **argv) {
	static struct source source;
	static _Alignas(64) uint32_t pixels[BYTES];
	const way_func draw = argc == 2 ? find_way(argv[1]) : NULL;
	struct numbers numbers;
	if (draw == NULL) {
		errx(EXIT_USAGE, "there is no such way here");
	}
	for (; fread(&numbers, sizeof(numbers), 1, stdin) == 1; number++) {
		if (numbers.bytes > BYTES || numbers.width * numbers.height > BYTES ||
				gid_layout_init(&source.layout, numbers.fourcc, numbers.width,
						numbers.height, 1) < 0 ||
				gid_layout_size(&source.layout) != numbers.bytes ||
				fread(source.memory, numbers.bytes, 1, stdin) != 1) {
			errx(1, "picture %u is not as its numbers say", number);
		}
		source.layout.colours.matrix = (uint8_t)numbers.matrix;
		source.layout.colours.range = (uint8_t)numbers.range;
		const uint32_t drawn = draw(&source, pixels);
		fwrite(&drawn, sizeof(drawn), 1, stdout);
		if (drawn) {
			fwrite(pixels, 4, numbers.width * numbers.height, stdout);
		}
	}
	drawing_finish(&drawing);
	return 0;
}
