// SPDX-License-Identifier: MIT
#include "to_rgb.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "yuv_matrix.h"

#define ALPHA 3 /* of a format's samples */

/* --- red, green and blue, by pixman ----------------------------------------------------------- */

pixman_format_code_t to_rgb_pixman(const struct gid_format_info *format) {
	const struct gid_format_sample *red = &format->samples[0], *green = red + 1;
	const struct gid_format_sample *blue = red + 2, *alpha = red + 3;
	const uint32_t bytes = format->planes[0].bytes;
	if (format->kind != GID_FORMAT_RGB || blue->bits == 0 || bytes > 4) {
		return 0;
	}
	int order = blue->shift == 0		   ? PIXMAN_TYPE_ARGB
			: red->shift == 0	   ? PIXMAN_TYPE_ABGR
			: blue->shift > red->shift ? PIXMAN_TYPE_BGRA
						   : PIXMAN_TYPE_RGBA;
	pixman_format_code_t code = (pixman_format_code_t)PIXMAN_FORMAT(
			bytes * 8, order, alpha->bits, red->bits, green->bits, blue->bits);
	return pixman_format_supported_source(code) ? code : 0;
}

/* pixman reads words of four bytes: a row that does not begin with one is moved first. */
static void rgb_row(pixman_format_code_t format, const uint8_t *row, uint32_t x, uint32_t width,
		uint32_t *pixels) {
	uint32_t bytes = PIXMAN_FORMAT_BPP(format) / 8;
	uint32_t words[1024];
	uint32_t most = sizeof(words) / bytes;
	for (uint32_t done = 0; done < width; done += most) {
		uint32_t count = width - done < most ? width - done : most;
		memcpy(words, row + (size_t)(x + done) * bytes, (size_t)count * bytes);
		pixman_image_t *from = pixman_image_create_bits_no_clear(
				format, (int)count, 1, words, sizeof(words));
		pixman_image_t *to = pixman_image_create_bits_no_clear(
				PIXMAN_a8r8g8b8, (int)count, 1, pixels + done, (int)sizeof(words));
		if (from != NULL && to != NULL) {
			pixman_image_composite32(PIXMAN_OP_SRC, from, NULL, to, 0, 0, 0, 0, 0, 0,
					(int)count, 1);
		} else {
			memset(pixels + done, 0, (size_t)count * 4);
		}
		if (from != NULL) {
			pixman_image_unref(from);
		}
		if (to != NULL) {
			pixman_image_unref(to);
		}
	}
}

/* --- YUV -------------------------------------------------------------------------------------- */

/* Samples count in 1/256 of a code of 8 bits, factors in 1/4096: products and sums fit 32 bits. */
#define CODE 256
#define ONE 4096
#define SHIFT 20 /* of both */
#define CHUNK 512

static int32_t factor(double value) {
	return (int32_t)(value * ONE + 0.5);
}

void to_rgb_find_matrix(struct to_rgb_matrix *result, const struct gid_colours *colours) {
	struct yuv_matrix matrix;
	yuv_matrix_init(&matrix, colours);
	*result = (struct to_rgb_matrix){
			.y_offset = (int32_t)matrix.black * CODE,
			.y = factor(255 / matrix.luma),
			.red_v = factor(matrix.red_v * 255 / matrix.chroma),
			.green_u = factor(matrix.green_u * 255 / matrix.chroma),
			.green_v = factor(matrix.green_v * 255 / matrix.chroma),
			.blue_u = factor(matrix.blue_u * 255 / matrix.chroma),
	};
}

static uint32_t clamp(int32_t value) {
	value >>= SHIFT;
	return (uint32_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

struct samples {
	uint16_t y[CHUNK], u[CHUNK], v[CHUNK];
};

static void convert_samples(const struct to_rgb_matrix *matrix, const struct samples *samples,
		uint32_t count, uint32_t *pixels) {
	const struct to_rgb_matrix of = *matrix;
	for (uint32_t i = 0; i < count; i++) {
		int32_t y = (samples->y[i] - of.y_offset) * of.y + (1 << (SHIFT - 1));
		int32_t u = samples->u[i] - 128 * CODE, v = samples->v[i] - 128 * CODE;
		pixels[i] = 0xff000000u | clamp(y + of.red_v * v) << 16 |
				clamp(y - of.green_u * u - of.green_v * v) << 8 |
				clamp(y + of.blue_u * u);
	}
}

/* The samples of one kind in a row. Those of more than 8 bits are read with a byte of others. */
struct sample_row {
	const uint8_t *first;
	uint32_t step;	 /* bytes to the next one */
	uint32_t shared; /* 1 << this: the pixels of each */
	uint32_t shift;	 /* to the upper bits of two bytes; 0 where the sample is one byte */
	uint16_t bits;	 /* which of those count; 0: the sample is one byte */
};

static uint32_t log2_of(uint32_t subsampling) {
	return subsampling == 4 ? 2 : subsampling == 2 ? 1 : 0;
}

static void sample_row_init(struct sample_row *row, const struct gid_format_info *format, int kind,
		const struct gid_layout *layout, const uint8_t *memory, uint32_t y) {
	const struct gid_format_sample *sample = &format->samples[kind];
	const struct gid_format_plane *block = &format->planes[sample->plane];
	const struct gid_plane *plane = &layout->planes[sample->plane];
	const bool each_pixel = kind == 0; /* a block has luma for all of its pixels */
	*row = (struct sample_row){
			.first = memory + plane->offset +
					(size_t)(y / block->vsub) * plane->stride +
					sample->shift / 8,
			.step = each_pixel ? block->bytes / block->hsub : block->bytes,
			.shared = each_pixel ? 0 : log2_of(block->hsub),
	};
	if (sample->bits != 8) {
		row->shift = 16u - sample->bits - sample->shift % 8;
		row->bits = (uint16_t)(0xffff0000u >> sample->bits);
	}
}

static void fetch(uint16_t *out, const struct sample_row *row, uint32_t x, uint32_t count) {
	const struct sample_row of = *row;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *sample = of.first + (size_t)((x + i) >> of.shared) * of.step;
		if (of.bits == 0) {
			out[i] = (uint16_t)(sample[0] * CODE);
		} else {
			out[i] = (uint16_t)((sample[0] | sample[1] << 8) << of.shift & of.bits);
		}
	}
}

static void yuv_row(const struct gid_format_info *format, const struct to_rgb_matrix *matrix,
		const struct gid_layout *layout, const uint8_t *memory, uint32_t x, uint32_t y,
		uint32_t width, uint32_t *pixels) {
	struct sample_row rows[3];
	for (int kind = 0; kind < 3; kind++) {
		sample_row_init(&rows[kind], format, kind, layout, memory, y);
	}
	struct samples samples;
	for (uint32_t done = 0; done < width; done += CHUNK) {
		uint32_t count = width - done < CHUNK ? width - done : CHUNK;
		fetch(samples.y, &rows[0], x + done, count);
		fetch(samples.u, &rows[1], x + done, count);
		fetch(samples.v, &rows[2], x + done, count);
		convert_samples(matrix, &samples, count, pixels + done);
	}
}

/* --- pixels that are one word, taken apart bit by bit ----------------------------------------- */

static uint32_t take_bits(uint64_t word, const struct gid_format_sample *sample) {
	return (uint32_t)(word >> sample->shift) & ((1u << sample->bits) - 1);
}

/* Of 0 to 1, as 0 to 255; what lies outside, and what is no number, is the nearest of them. */
static uint32_t byte_of_half(uint32_t half) {
	uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
	if (half & 0x8000 || (exponent == 31 && fraction != 0)) {
		return 0;
	}
	float value = exponent == 0 ? ldexpf((float)fraction, -24)
				    : ldexpf((float)(fraction | 1024), (int)exponent - 25);
	return exponent >= 15 ? 255 : (uint32_t)(value * 255 + 0.5f);
}

/* A component as 0 to 255; `missing` where the word has none. */
static uint32_t take_byte(const struct gid_format_info *format, uint64_t word, int component,
		uint32_t missing) {
	const struct gid_format_sample *sample = &format->samples[component];
	if (sample->bits == 0) {
		return missing;
	}
	uint32_t code = take_bits(word, sample), most = (1u << sample->bits) - 1;
	return format->kind == GID_FORMAT_HALF_FLOATS ? byte_of_half(code)
						      : (code * 255 + most / 2) / most;
}

static uint64_t word_at(const uint8_t *row, size_t index, uint32_t bytes) {
	uint64_t word = 0;
	memcpy(&word, row + index * bytes, bytes);
	return word;
}

static uint32_t rgb_of_word(const struct gid_format_info *format, uint64_t word) {
	uint32_t red = take_byte(format, word, 0, 0);
	if (format->kind == GID_FORMAT_GREY) {
		return red * 0x010101u;
	}
	return red << 16 | take_byte(format, word, 1, 0) << 8 | take_byte(format, word, 2, 0);
}

static void word_row(const struct gid_format_info *format, const uint8_t *row, uint32_t x,
		uint32_t width, uint32_t *pixels) {
	uint32_t bytes = format->planes[0].bytes;
	for (uint32_t i = 0; i < width; i++) {
		uint64_t word = word_at(row, x + i, bytes);
		pixels[i] = take_byte(format, word, ALPHA, 255) << 24 | rgb_of_word(format, word);
	}
}

/* Adds the alpha of YUV that has some. */
static void alpha_row(const struct gid_format_info *format, const uint8_t *row, uint32_t x,
		uint32_t width, uint32_t *pixels) {
	uint32_t bytes = format->planes[0].bytes;
	for (uint32_t i = 0; i < width; i++) {
		uint64_t word = word_at(row, x + i, bytes);
		pixels[i] = take_byte(format, word, ALPHA, 255) << 24 | (pixels[i] & 0xffffffu);
	}
}

/* --- all formats ------------------------------------------------------------------------------ */

bool to_rgb_can(uint32_t fourcc) {
	return gid_format_find(fourcc) != NULL;
}

bool to_rgb_is_slow(uint32_t fourcc) {
	const struct gid_format_info *format = gid_format_find(fourcc);
	return format != NULL && to_rgb_pixman(format) == 0 &&
			(format->kind != GID_FORMAT_YUV || format->samples[ALPHA].bits != 0);
}

bool to_rgb_is_yuv(uint32_t fourcc) {
	const struct gid_format_info *format = gid_format_find(fourcc);
	return format != NULL && format->kind == GID_FORMAT_YUV;
}

bool to_rgb_has_alpha(uint32_t fourcc) {
	const struct gid_format_info *format = gid_format_find(fourcc);
	return format != NULL && format->samples[ALPHA].bits != 0;
}

void to_rgb(const struct gid_layout *layout, const void *memory, uint32_t x, uint32_t y,
		uint32_t width, uint32_t height, uint32_t *pixels, size_t stride) {
	const struct gid_format_info *format = gid_format_find(layout->fourcc);
	assert(format != NULL);
	const bool yuv = format->kind == GID_FORMAT_YUV, alpha = format->samples[ALPHA].bits != 0;
	const pixman_format_code_t rgb = to_rgb_pixman(format);
	struct to_rgb_matrix matrix;
	to_rgb_find_matrix(&matrix, &layout->colours);
	for (uint32_t i = 0; i < height; i++) {
		uint32_t *to = (uint32_t *)((uint8_t *)pixels + i * stride);
		const uint8_t *row = (const uint8_t *)memory + layout->planes[0].offset +
				(size_t)(y + i) * layout->planes[0].stride;
		if (yuv) {
			yuv_row(format, &matrix, layout, memory, x, y + i, width, to);
		} else if (rgb != 0) {
			rgb_row(rgb, row, x, width, to);
		} else {
			word_row(format, row, x, width, to);
		}
		if (yuv && alpha) {
			alpha_row(format, row, x, width, to);
		}
	}
}
