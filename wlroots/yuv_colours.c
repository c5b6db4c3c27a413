// SPDX-License-Identifier: MIT
#include "yuv_colours.h"

#include <drm_fourcc.h>

const struct yuv_colours yuv_bt601_narrow = {
		.red = 0.299f,
		.blue = 0.114f,
		.black = 16,
		.luma_range = 219,
		.neutral = 128,
		.chroma_range = 224,
};

/* The parts of luma by MatrixCoefficients of H.273; others are taken for BT.601. */
static const struct {
	uint8_t matrix;
	float red, blue;
} matrices[] = {
		{1, 0.2126f, 0.0722f}, /* BT.709 */
		{4, 0.30f, 0.11f},     /* FCC */
		{7, 0.212f, 0.087f},   /* SMPTE 240M */
		{9, 0.2627f, 0.0593f}, /* BT.2020 */
};

struct yuv_colours yuv_colours_of(const struct gid_colours *said) {
	struct yuv_colours colours = yuv_bt601_narrow;
	for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++) {
		if (matrices[i].matrix == said->matrix) {
			colours.red = matrices[i].red;
			colours.blue = matrices[i].blue;
		}
	}
	if (said->range == GID_RANGE_FULL) {
		colours.black = 0;
		colours.luma_range = colours.chroma_range = 255;
	}
	return colours;
}

bool yuv_colours_are_usual(const struct yuv_colours *colours) {
	return colours->red == yuv_bt601_narrow.red && colours->blue == yuv_bt601_narrow.blue &&
			colours->black == yuv_bt601_narrow.black;
}

/* The columns of the matrix. */
enum sample { LUMA, SECOND_RED, SECOND_GREEN, THIRD };

/* Red difference (V) before blue difference (U). */
static bool is_swapped(uint32_t fourcc) {
	switch (fourcc) {
	case DRM_FORMAT_NV21:
	case DRM_FORMAT_NV61:
	case DRM_FORMAT_NV42:
	case DRM_FORMAT_YVU410:
	case DRM_FORMAT_YVU411:
	case DRM_FORMAT_YVU420:
	case DRM_FORMAT_YVU422:
	case DRM_FORMAT_YVU444:
	case DRM_FORMAT_Q401:
		return true;
	default:
		return false;
	}
}

static void weights_set(struct yuv_weights *weights, enum sample sample, float red, float green,
		float blue, float scale, float zero) {
	const float parts[] = {red, green, blue};
	for (int i = 0; i < 3; i++) {
		weights->matrix[4 * sample + i] = parts[i] * scale;
		weights->offset[i] -= parts[i] * zero;
	}
}

/*
 * The equations are BT.601-7's, 2.5: R = Y + 2 (1 - red) V, B = Y + 2 (1 - blue) U, and G from
 * Y = red R + green G + blue B; Y from 0 to 1, U and V from -0.5 to 0.5.
 */
void yuv_weights_init(
		struct yuv_weights *weights, const struct yuv_colours *colours, uint32_t fourcc) {
	const struct gid_format_info *info = gid_format_find(fourcc);
	*weights = (struct yuv_weights){.offset = {0, 0, 0, 1}};
	/* Longer codes lie in the upper bits of two bytes: 65535 is 1, and 256 is 1 of 8 bits. */
	float codes = info->planes[0].bytes == 1 ? 255.0f : 65535.0f / 256;
	enum sample last = info->plane_count == 3 ? THIRD : SECOND_GREEN;
	bool swapped = is_swapped(fourcc);
	enum sample u = swapped ? last : SECOND_RED, v = swapped ? SECOND_RED : last;
	float red = 2 * (1 - colours->red), blue = 2 * (1 - colours->blue);
	float green = 1 - colours->red - colours->blue;
	float luma = codes / colours->luma_range, black = colours->black / colours->luma_range;
	float chroma = codes / colours->chroma_range;
	float neutral = colours->neutral / colours->chroma_range;
	weights_set(weights, LUMA, 1, 1, 1, luma, black);
	weights_set(weights, u, 0, -blue * colours->blue / green, blue, chroma, neutral);
	weights_set(weights, v, red, -red * colours->red / green, 0, chroma, neutral);
}
