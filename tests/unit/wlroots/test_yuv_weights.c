// SPDX-License-Identifier: MIT
/*
 * YUV to red, green and blue, in each format as drm_fourcc.h describes it, against the integers
 * that BT.601 gives for well-known colours.
 */
#include "wlroots/yuv_weights.h"

#include <drm_fourcc.h>
#include <math.h>
#include <string.h>

#include "tap.h"
#include "yuv_matrix.h"

struct colour {
	const char *name;
	int y, u, v;
	float red, green, blue; /* of 255 */
};

/* The colour bars of BT.601-7, table 1 and 2.5.4: 75 % of the range, and both its ends. */
static const struct colour colours[] = {
		{"black", 16, 128, 128, 0, 0, 0},
		{"white", 235, 128, 128, 255, 255, 255},
		{"red", 65, 100, 212, 191, 0, 0},
		{"green", 112, 72, 58, 0, 191, 0},
		{"blue", 35, 212, 114, 0, 0, 191},
		{"yellow", 162, 44, 142, 191, 191, 0},
};

/* What the textures hold, one letter a sample; `bits` in the upper bits of two bytes if above 8. */
static const struct format {
	uint32_t fourcc;
	const char *planes[3];
	int bits;
} formats[] = {
		{DRM_FORMAT_YUYV, {"yu", "yuyv"}, 8},
		{DRM_FORMAT_YVYU, {"yv", "yvyu"}, 8},
		{DRM_FORMAT_UYVY, {"uy", "uyvy"}, 8},
		{DRM_FORMAT_VYUY, {"vy", "vyuy"}, 8},
		{DRM_FORMAT_Y210, {"yu", "yuyv"}, 10},
		{DRM_FORMAT_Y216, {"yu", "yuyv"}, 16},
		{DRM_FORMAT_NV12, {"y", "uv"}, 8},
		{DRM_FORMAT_NV21, {"y", "vu"}, 8},
		{DRM_FORMAT_NV16, {"y", "uv"}, 8},
		{DRM_FORMAT_NV61, {"y", "vu"}, 8},
		{DRM_FORMAT_NV24, {"y", "uv"}, 8},
		{DRM_FORMAT_NV42, {"y", "vu"}, 8},
		{DRM_FORMAT_P010, {"y", "uv"}, 10},
		{DRM_FORMAT_P012, {"y", "uv"}, 12},
		{DRM_FORMAT_P016, {"y", "uv"}, 16},
		{DRM_FORMAT_YUV410, {"y", "u", "v"}, 8},
		{DRM_FORMAT_YVU410, {"y", "v", "u"}, 8},
		{DRM_FORMAT_YUV411, {"y", "u", "v"}, 8},
		{DRM_FORMAT_YVU411, {"y", "v", "u"}, 8},
		{DRM_FORMAT_YUV420, {"y", "u", "v"}, 8},
		{DRM_FORMAT_YVU420, {"y", "v", "u"}, 8},
		{DRM_FORMAT_YUV422, {"y", "u", "v"}, 8},
		{DRM_FORMAT_YVU422, {"y", "v", "u"}, 8},
		{DRM_FORMAT_YUV444, {"y", "u", "v"}, 8},
		{DRM_FORMAT_YVU444, {"y", "v", "u"}, 8},
		{DRM_FORMAT_Q410, {"y", "u", "v"}, 10},
		{DRM_FORMAT_Q401, {"y", "v", "u"}, 10},
};

/* As OpenGL samples it. */
static float sample(const struct format *format, const struct colour *colour, int plane, int i) {
	const char *letters = format->planes[plane];
	if (letters == NULL || strlen(letters) <= (size_t)i) {
		return i == 3; /* opaque */
	}
	char letter = letters[i];
	int code = letter == 'y' ? colour->y : letter == 'u' ? colour->u : colour->v;
	if (format->bits == 8) {
		return (float)code / 255;
	}
	int longer = code << (format->bits - 8);
	return (float)(longer << (16 - format->bits)) / 65535;
}

/* The codes are whole numbers, which 75 % of a range are not. */
static bool is_near(float found, float expected) {
	return fabsf(found * 255 - expected) < 2;
}

static bool has_colour(const struct format *format, const struct colour *colour) {
	struct yuv_weights weights;
	const struct gid_colours not_said = {0};
	yuv_weights_init(&weights, &not_said, gid_format_find(format->fourcc));
	float found[4];
	for (int row = 0; row < 4; row++) {
		found[row] = weights.offset[row];
		for (int i = 0; i < 4 * YUV_TEXTURES_MAX; i++) {
			found[row] += weights.matrices[i / 4][4 * (i % 4) + row] *
					sample(format, colour, i / 4, i % 4);
		}
	}
	return is_near(found[0], colour->red) && is_near(found[1], colour->green) &&
			is_near(found[2], colour->blue) && found[3] == 1;
}

/* BT.709 of full range, by its own equations. */
static void test_other_colours(void) {
	const struct gid_colours said = {.matrix = 1, .range = GID_RANGE_FULL}, nothing = {0};
	struct yuv_weights weights;
	yuv_weights_init(&weights, &said, gid_format_find(DRM_FORMAT_YUV444));
	const int codes[] = {73, 111, 178};
	const int expected[] = {152, 53, 41};
	bool right = true;
	for (int row = 0; row < 3; row++) {
		float found = weights.offset[row];
		for (int plane = 0; plane < 3; plane++) {
			found += weights.matrices[plane][row] * (float)codes[plane] / 255;
		}
		right = right && fabsf(found * 255 - (float)expected[row]) < 1;
	}
	tap_ok(right, "BT.709 of full range");
	tap_ok(!yuv_matrix_is_usual(&said) && yuv_matrix_is_usual(&nothing),
			"which is not what nothing said is");
}

int main(void) {
	test_other_colours();
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		for (size_t j = 0; j < sizeof(colours) / sizeof(colours[0]); j++) {
			tap_ok(has_colour(&formats[i], &colours[j]), "%.4s: %s",
					(const char *)&formats[i].fourcc, colours[j].name);
		}
	}
	return tap_finish();
}
