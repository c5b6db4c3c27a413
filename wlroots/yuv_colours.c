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

/* Red difference (V) before blue difference (U). */
static bool is_swapped(uint32_t fourcc) {
	switch (fourcc) {
	case DRM_FORMAT_YVYU:
	case DRM_FORMAT_VYUY:
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

bool yuv_is_paired(uint32_t fourcc) {
	const struct gid_format_info *info = gid_format_find(fourcc);
	return info != NULL && info->plane_count == 1 && info->planes[0].hsub == 2;
}

/* Where samples come from. */
struct place {
	int texture;
	int colour; /* 0 to 3: red to alpha */
};

struct places {
	struct place y, u, v;
};

static struct places places_of(const struct gid_format_info *info) {
	struct places places = {.y = {0, 0}, .u = {1, 0}, .v = {2, 0}};
	if (yuv_is_paired(info->fourcc)) {
		int chroma_first =
				info->fourcc == DRM_FORMAT_UYVY || info->fourcc == DRM_FORMAT_VYUY;
		places.y.colour = chroma_first;
		places.u = (struct place){1, !chroma_first};
		places.v = (struct place){1, 2 + !chroma_first};
	} else if (info->plane_count == 2) {
		places.v = (struct place){1, 1};
	}
	if (is_swapped(info->fourcc)) {
		struct place u = places.u;
		places.u = places.v;
		places.v = u;
	}
	return places;
}

static void weights_set(struct yuv_weights *weights, struct place place, float red, float green,
		float blue, float scale, float zero) {
	const float parts[] = {red, green, blue};
	for (int i = 0; i < 3; i++) {
		weights->matrices[place.texture][4 * place.colour + i] = parts[i] * scale;
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
	const struct places places = places_of(info);
	*weights = (struct yuv_weights){.offset = {0, 0, 0, 1}};
	/* Longer codes lie in the upper bits of two bytes: 65535 is 1, and 256 is 1 of 8 bits. */
	bool bytes = info->planes[0].bytes == (yuv_is_paired(fourcc) ? 4 : 1);
	float codes = bytes ? 255.0f : 65535.0f / 256;
	float red = 2 * (1 - colours->red), blue = 2 * (1 - colours->blue);
	float green = 1 - colours->red - colours->blue;
	float luma = codes / colours->luma_range, black = colours->black / colours->luma_range;
	float chroma = codes / colours->chroma_range;
	float neutral = colours->neutral / colours->chroma_range;
	weights_set(weights, places.y, 1, 1, 1, luma, black);
	weights_set(weights, places.u, 0, -blue * colours->blue / green, blue, chroma, neutral);
	weights_set(weights, places.v, red, -red * colours->red / green, 0, chroma, neutral);
}
