// SPDX-License-Identifier: MIT
#include "to_rgb.h"

#include <assert.h>
#include <drm_fourcc.h>
#include <math.h>
#include <pixman.h>
#include <stdlib.h>
#include <string.h>

/* --- red, green and blue: pixman's work --------------------------------------------------------
 */

static const struct rgb_format {
	uint32_t fourcc;
	pixman_format_code_t pixman;
} rgb_formats[] = {
		{DRM_FORMAT_XRGB8888, PIXMAN_x8r8g8b8},
		{DRM_FORMAT_ARGB8888, PIXMAN_a8r8g8b8},
		{DRM_FORMAT_XBGR8888, PIXMAN_x8b8g8r8},
		{DRM_FORMAT_ABGR8888, PIXMAN_a8b8g8r8},
		{DRM_FORMAT_RGBX8888, PIXMAN_r8g8b8x8},
		{DRM_FORMAT_RGBA8888, PIXMAN_r8g8b8a8},
		{DRM_FORMAT_BGRX8888, PIXMAN_b8g8r8x8},
		{DRM_FORMAT_BGRA8888, PIXMAN_b8g8r8a8},
		{DRM_FORMAT_RGB888, PIXMAN_r8g8b8},
		{DRM_FORMAT_BGR888, PIXMAN_b8g8r8},
		{DRM_FORMAT_RGB565, PIXMAN_r5g6b5},
		{DRM_FORMAT_BGR565, PIXMAN_b5g6r5},
		{DRM_FORMAT_XRGB1555, PIXMAN_x1r5g5b5},
		{DRM_FORMAT_ARGB1555, PIXMAN_a1r5g5b5},
		{DRM_FORMAT_XBGR1555, PIXMAN_x1b5g5r5},
		{DRM_FORMAT_XRGB4444, PIXMAN_x4r4g4b4},
		{DRM_FORMAT_ARGB4444, PIXMAN_a4r4g4b4},
		{DRM_FORMAT_XRGB2101010, PIXMAN_x2r10g10b10},
		{DRM_FORMAT_ARGB2101010, PIXMAN_a2r10g10b10},
		{DRM_FORMAT_XBGR2101010, PIXMAN_x2b10g10r10},
		{DRM_FORMAT_ABGR2101010, PIXMAN_a2b10g10r10},
};

static const struct rgb_format *find_rgb(uint32_t fourcc) {
	for (size_t i = 0; i < sizeof(rgb_formats) / sizeof(rgb_formats[0]); i++) {
		if (rgb_formats[i].fourcc == fourcc) {
			return &rgb_formats[i];
		}
	}
	return NULL;
}

/* pixman reads words of four bytes: a row that does not begin with one is moved first. */
static void rgb_row(const struct rgb_format *format, const uint8_t *row, uint32_t x, uint32_t width,
		uint32_t *pixels) {
	uint32_t bytes = PIXMAN_FORMAT_BPP(format->pixman) / 8;
	uint32_t words[1024];
	uint32_t most = sizeof(words) / bytes;
	for (uint32_t done = 0; done < width; done += most) {
		uint32_t count = width - done < most ? width - done : most;
		memcpy(words, row + (size_t)(x + done) * bytes, (size_t)count * bytes);
		pixman_image_t *from = pixman_image_create_bits_no_clear(
				format->pixman, (int)count, 1, words, sizeof(words));
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

/* --- YUV ----------------------------------------------------------------------------------------
 */

/* Where one kind of sample is: in which plane, at which byte of its block. */
struct place {
	uint8_t plane, byte;
};

/* Decoders' own formats; the headers of libdrm may be older (see libgid/format.c). */
#define PLANAR(a, b, c, d, shift) {fourcc_code(a, b, c, d), {0, 0}, {1, 0}, {2, 0}, 2, 2, shift}

/* Samples of more than 8 bits lie in two bytes. */
static const struct yuv_format {
	uint32_t fourcc;
	struct place y, u, v;
	uint8_t size;	/* bytes of a sample */
	uint8_t y_step; /* bytes from one pixel's luma to the next's */
	uint8_t shift;	/* bits above the sample, which are 0 */
} yuv_formats[] = {
		{DRM_FORMAT_NV12, {0, 0}, {1, 0}, {1, 1}, 1, 1, 0},
		{DRM_FORMAT_NV21, {0, 0}, {1, 1}, {1, 0}, 1, 1, 0},
		{DRM_FORMAT_NV16, {0, 0}, {1, 0}, {1, 1}, 1, 1, 0},
		{DRM_FORMAT_NV61, {0, 0}, {1, 1}, {1, 0}, 1, 1, 0},
		{DRM_FORMAT_NV24, {0, 0}, {1, 0}, {1, 1}, 1, 1, 0},
		{DRM_FORMAT_NV42, {0, 0}, {1, 1}, {1, 0}, 1, 1, 0},
		{DRM_FORMAT_P010, {0, 0}, {1, 0}, {1, 2}, 2, 2, 0},
		{DRM_FORMAT_P012, {0, 0}, {1, 0}, {1, 2}, 2, 2, 0},
		{DRM_FORMAT_P016, {0, 0}, {1, 0}, {1, 2}, 2, 2, 0},
		{DRM_FORMAT_YUV410, {0, 0}, {1, 0}, {2, 0}, 1, 1, 0},
		{DRM_FORMAT_YVU410, {0, 0}, {2, 0}, {1, 0}, 1, 1, 0},
		{DRM_FORMAT_YUV411, {0, 0}, {1, 0}, {2, 0}, 1, 1, 0},
		{DRM_FORMAT_YVU411, {0, 0}, {2, 0}, {1, 0}, 1, 1, 0},
		{DRM_FORMAT_YUV420, {0, 0}, {1, 0}, {2, 0}, 1, 1, 0},
		{DRM_FORMAT_YVU420, {0, 0}, {2, 0}, {1, 0}, 1, 1, 0},
		{DRM_FORMAT_YUV422, {0, 0}, {1, 0}, {2, 0}, 1, 1, 0},
		{DRM_FORMAT_YVU422, {0, 0}, {2, 0}, {1, 0}, 1, 1, 0},
		{DRM_FORMAT_YUV444, {0, 0}, {1, 0}, {2, 0}, 1, 1, 0},
		{DRM_FORMAT_YVU444, {0, 0}, {2, 0}, {1, 0}, 1, 1, 0},
		{DRM_FORMAT_YUYV, {0, 0}, {0, 1}, {0, 3}, 1, 2, 0},
		{DRM_FORMAT_YVYU, {0, 0}, {0, 3}, {0, 1}, 1, 2, 0},
		{DRM_FORMAT_UYVY, {0, 1}, {0, 0}, {0, 2}, 1, 2, 0},
		{DRM_FORMAT_VYUY, {0, 1}, {0, 2}, {0, 0}, 1, 2, 0},
		{DRM_FORMAT_Q410, {0, 0}, {1, 0}, {2, 0}, 2, 2, 0},
		{DRM_FORMAT_Q401, {0, 0}, {2, 0}, {1, 0}, 2, 2, 0},
		{DRM_FORMAT_Y210, {0, 0}, {0, 2}, {0, 6}, 2, 4, 0},
		{DRM_FORMAT_Y212, {0, 0}, {0, 2}, {0, 6}, 2, 4, 0},
		{DRM_FORMAT_Y216, {0, 0}, {0, 2}, {0, 6}, 2, 4, 0},
		{DRM_FORMAT_XYUV8888, {0, 2}, {0, 1}, {0, 0}, 1, 4, 0},
		{DRM_FORMAT_VUY888, {0, 2}, {0, 1}, {0, 0}, 1, 3, 0},
		PLANAR('S', '0', '1', '0', 6),
		PLANAR('S', '2', '1', '0', 6),
		PLANAR('S', '4', '1', '0', 6),
		PLANAR('S', '0', '1', '2', 4),
		PLANAR('S', '2', '1', '2', 4),
		PLANAR('S', '4', '1', '2', 4),
		PLANAR('S', '0', '1', '6', 0),
		PLANAR('S', '2', '1', '6', 0),
		PLANAR('S', '4', '1', '6', 0),
};

static const struct yuv_format *find_yuv(uint32_t fourcc) {
	for (size_t i = 0; i < sizeof(yuv_formats) / sizeof(yuv_formats[0]); i++) {
		if (yuv_formats[i].fourcc == fourcc) {
			return &yuv_formats[i];
		}
	}
	return NULL;
}

/* Samples count in 1/256 of a code of 8 bits, factors in 1/4096: products and sums fit 32 bits. */
#define CODE 256
#define ONE 4096
#define SHIFT 20 /* of both */
#define CHUNK 512

static int32_t factor(double value) {
	return (int32_t)(value * ONE + 0.5);
}

/*
 * Of luma, by MatrixCoefficients of H.273: the parts of red and blue. All factors follow from
 * these. Limited range has 219 steps of luma above 16, and 224 of colour around 128.
 */
void to_rgb_find_matrix(struct to_rgb_matrix *matrix, const struct gid_colours *colours) {
	double red = 0.299, blue = 0.114; /* 5 and 6: BT.601 */
	switch (colours->matrix) {
	case 1: /* BT.709 */
		red = 0.2126;
		blue = 0.0722;
		break;
	case 4: /* FCC */
		red = 0.30;
		blue = 0.11;
		break;
	case 7: /* SMPTE 240M */
		red = 0.212;
		blue = 0.087;
		break;
	case 9: /* BT.2020 */
		red = 0.2627;
		blue = 0.0593;
		break;
	}
	bool full = colours->range == GID_RANGE_FULL;
	double green = 1 - red - blue;
	double luma = full ? 1.0 : 255.0 / 219.0, chroma = full ? 1.0 : 255.0 / 224.0;
	*matrix = (struct to_rgb_matrix){
			.y_offset = full ? 0 : 16 * CODE,
			.y = factor(luma),
			.red_v = factor(2 * (1 - red) * chroma),
			.green_u = factor(2 * (1 - blue) * blue / green * chroma),
			.green_v = factor(2 * (1 - red) * red / green * chroma),
			.blue_u = factor(2 * (1 - blue) * chroma),
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

/* A sample each `step` bytes, which counts for 1 << `shared` pixels. */
static void fetch(uint16_t *out, const struct yuv_format *format, const uint8_t *row, uint32_t step,
		uint32_t shared, uint32_t x, uint32_t count) {
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *sample = row + (size_t)((x + i) >> shared) * step;
		if (format->size == 1) {
			out[i] = (uint16_t)(sample[0] * CODE);
		} else {
			out[i] = (uint16_t)((sample[0] | sample[1] << 8) << format->shift);
		}
	}
}

static uint32_t log2_of(uint32_t subsampling) {
	return subsampling == 4 ? 2 : subsampling == 2 ? 1 : 0;
}

static void yuv_row(const struct yuv_format *format, const struct to_rgb_matrix *matrix,
		const struct gid_layout *layout, const uint8_t *memory, uint32_t x, uint32_t y,
		uint32_t width, uint32_t *pixels) {
	const struct gid_format_info *info = gid_format_find(layout->fourcc);
	const struct place *places[] = {&format->y, &format->u, &format->v};
	const uint8_t *rows[3];
	for (int i = 0; i < 3; i++) {
		const struct gid_plane *plane = &layout->planes[places[i]->plane];
		rows[i] = memory + plane->offset + places[i]->byte +
				(size_t)(y / info->planes[places[i]->plane].vsub) * plane->stride;
	}
	const struct gid_format_plane *colour = &info->planes[format->u.plane];
	struct samples samples;
	for (uint32_t done = 0; done < width; done += CHUNK) {
		uint32_t count = width - done < CHUNK ? width - done : CHUNK;
		fetch(samples.y, format, rows[0], format->y_step, 0, x + done, count);
		fetch(samples.u, format, rows[1], colour->bytes, log2_of(colour->hsub), x + done,
				count);
		fetch(samples.v, format, rows[2], colour->bytes, log2_of(colour->hsub), x + done,
				count);
		convert_samples(matrix, &samples, count, pixels + done);
	}
}

/* --- pixels that are one word, taken apart bit by bit ------------------------------------------
 */

/* Where a component lies in the word, from its lowest bit on; no bits: the word has none. */
struct bits {
	uint8_t shift, count;
};

enum words { WORDS_RGB, WORDS_HALF_FLOATS, WORDS_GREY, WORDS_YUV };

static const struct word_format {
	uint32_t fourcc;
	enum words words;
	struct bits parts[3]; /* red, green and blue, or Y, U and V */
	struct bits alpha;
} word_formats[] = {
		{DRM_FORMAT_RGBX1010102, WORDS_RGB, {{22, 10}, {12, 10}, {2, 10}}, {0}},
		{DRM_FORMAT_RGBA1010102, WORDS_RGB, {{22, 10}, {12, 10}, {2, 10}}, {0, 2}},
		{DRM_FORMAT_BGRX1010102, WORDS_RGB, {{2, 10}, {12, 10}, {22, 10}}, {0}},
		{DRM_FORMAT_BGRA1010102, WORDS_RGB, {{2, 10}, {12, 10}, {22, 10}}, {0, 2}},
		{DRM_FORMAT_XRGB16161616, WORDS_RGB, {{32, 16}, {16, 16}, {0, 16}}, {0}},
		{DRM_FORMAT_ARGB16161616, WORDS_RGB, {{32, 16}, {16, 16}, {0, 16}}, {48, 16}},
		{DRM_FORMAT_XBGR16161616, WORDS_RGB, {{0, 16}, {16, 16}, {32, 16}}, {0}},
		{DRM_FORMAT_ABGR16161616, WORDS_RGB, {{0, 16}, {16, 16}, {32, 16}}, {48, 16}},
		{DRM_FORMAT_XRGB16161616F, WORDS_HALF_FLOATS, {{32, 16}, {16, 16}, {0, 16}}, {0}},
		{DRM_FORMAT_ARGB16161616F, WORDS_HALF_FLOATS, {{32, 16}, {16, 16}, {0, 16}},
				{48, 16}},
		{DRM_FORMAT_XBGR16161616F, WORDS_HALF_FLOATS, {{0, 16}, {16, 16}, {32, 16}}, {0}},
		{DRM_FORMAT_ABGR16161616F, WORDS_HALF_FLOATS, {{0, 16}, {16, 16}, {32, 16}},
				{48, 16}},
		{DRM_FORMAT_R8, WORDS_GREY, {{0, 8}}, {0}},
		{DRM_FORMAT_R16, WORDS_GREY, {{0, 16}}, {0}},
		{DRM_FORMAT_GR88, WORDS_RGB, {{0, 8}, {8, 8}}, {0}},
		{DRM_FORMAT_AYUV, WORDS_YUV, {{16, 8}, {8, 8}, {0, 8}}, {24, 8}},
		{DRM_FORMAT_Y410, WORDS_YUV, {{10, 10}, {0, 10}, {20, 10}}, {30, 2}},
		{DRM_FORMAT_Y412, WORDS_YUV, {{20, 12}, {4, 12}, {36, 12}}, {52, 12}},
		{DRM_FORMAT_Y416, WORDS_YUV, {{16, 16}, {0, 16}, {32, 16}}, {48, 16}},
};

static const struct word_format *find_word(uint32_t fourcc) {
	for (size_t i = 0; i < sizeof(word_formats) / sizeof(word_formats[0]); i++) {
		if (word_formats[i].fourcc == fourcc) {
			return &word_formats[i];
		}
	}
	return NULL;
}

static uint32_t take_bits(uint64_t word, struct bits bits) {
	return (uint32_t)(word >> bits.shift) & ((1u << bits.count) - 1);
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
static uint32_t take_byte(const struct word_format *format, uint64_t word, struct bits bits,
		uint32_t missing) {
	if (bits.count == 0) {
		return missing;
	}
	uint32_t code = take_bits(word, bits), most = (1u << bits.count) - 1;
	return format->words == WORDS_HALF_FLOATS ? byte_of_half(code)
						  : (code * 255 + most / 2) / most;
}

/* A sample in 1/256 of a code of 8 bits. */
static uint16_t take_sample(uint64_t word, struct bits bits) {
	return (uint16_t)(take_bits(word, bits) << (16 - bits.count));
}

static uint64_t word_at(const uint8_t *row, size_t index, uint32_t bytes) {
	uint64_t word = 0;
	memcpy(&word, row + index * bytes, bytes);
	return word;
}

static void yuv_words(const struct word_format *format, const struct to_rgb_matrix *matrix,
		const uint8_t *row, uint32_t bytes, uint32_t width, uint32_t *pixels) {
	struct samples samples;
	for (uint32_t done = 0; done < width; done += CHUNK) {
		uint32_t count = width - done < CHUNK ? width - done : CHUNK;
		for (uint32_t i = 0; i < count; i++) {
			uint64_t word = word_at(row, done + i, bytes);
			samples.y[i] = take_sample(word, format->parts[0]);
			samples.u[i] = take_sample(word, format->parts[1]);
			samples.v[i] = take_sample(word, format->parts[2]);
		}
		convert_samples(matrix, &samples, count, pixels + done);
	}
}

static uint32_t rgb_of_word(const struct word_format *format, uint64_t word) {
	uint32_t red = take_byte(format, word, format->parts[0], 0);
	if (format->words == WORDS_GREY) {
		return red * 0x010101u;
	}
	return red << 16 | take_byte(format, word, format->parts[1], 0) << 8 |
			take_byte(format, word, format->parts[2], 0);
}

static void word_row(const struct word_format *format, const struct to_rgb_matrix *matrix,
		const uint8_t *row, uint32_t x, uint32_t width, uint32_t *pixels) {
	uint32_t bytes = gid_format_find(format->fourcc)->planes[0].bytes;
	bool yuv = format->words == WORDS_YUV;
	row += (size_t)x * bytes;
	if (yuv) {
		yuv_words(format, matrix, row, bytes, width, pixels);
	}
	for (uint32_t i = 0; i < width; i++) {
		uint64_t word = word_at(row, i, bytes);
		uint32_t colour = yuv ? pixels[i] & 0xffffffu : rgb_of_word(format, word);
		pixels[i] = take_byte(format, word, format->alpha, 255) << 24 | colour;
	}
}

/* --- all ----------------------------------------------------------------------------------------
 */

bool to_rgb_can(uint32_t fourcc) {
	return find_rgb(fourcc) != NULL || find_yuv(fourcc) != NULL || find_word(fourcc) != NULL;
}

bool to_rgb_is_slow(uint32_t fourcc) {
	return find_word(fourcc) != NULL;
}

bool to_rgb_is_yuv(uint32_t fourcc) {
	const struct word_format *word = find_word(fourcc);
	return find_yuv(fourcc) != NULL || (word != NULL && word->words == WORDS_YUV);
}

bool to_rgb_has_alpha(uint32_t fourcc) {
	const struct rgb_format *format = find_rgb(fourcc);
	const struct word_format *word = find_word(fourcc);
	return (format != NULL && PIXMAN_FORMAT_A(format->pixman) != 0) ||
			(word != NULL && word->alpha.count != 0);
}

void to_rgb(const struct gid_layout *layout, const void *memory, uint32_t x, uint32_t y,
		uint32_t width, uint32_t height, uint32_t *pixels, size_t stride) {
	const struct yuv_format *yuv = find_yuv(layout->fourcc);
	const struct rgb_format *rgb = find_rgb(layout->fourcc);
	const struct word_format *word = find_word(layout->fourcc);
	struct to_rgb_matrix matrix;
	assert(yuv != NULL || rgb != NULL || word != NULL);
	to_rgb_find_matrix(&matrix, &layout->colours);
	for (uint32_t i = 0; i < height; i++) {
		uint32_t *to = (uint32_t *)((uint8_t *)pixels + i * stride);
		const uint8_t *row = (const uint8_t *)memory + layout->planes[0].offset +
				(size_t)(y + i) * layout->planes[0].stride;
		if (yuv != NULL) {
			yuv_row(yuv, &matrix, layout, memory, x, y + i, width, to);
		} else if (rgb != NULL) {
			rgb_row(rgb, row, x, width, to);
		} else {
			word_row(word, &matrix, row, x, width, to);
		}
	}
}
