// SPDX-License-Identifier: MIT
#include "colours.h"

#include <drm_fourcc.h>
#include <string.h>

/* Where the samples of a row are: of the pixel x, at `base[step * (x >> shift)]`. */
struct samples {
	const uint8_t *base;
	uint32_t step, shift;
};

struct row {
	struct samples y, u, v;
};

/* Formats whose samples have 8 bits, in planes; or two pixels side by side in four bytes. */
struct format {
	uint32_t fourcc;
	uint8_t u_plane, v_plane, u_byte, v_byte, y_byte;
};

static const struct format formats[] = {
		{DRM_FORMAT_NV12, 1, 1, 0, 1, 0},
		{DRM_FORMAT_NV21, 1, 1, 1, 0, 0},
		{DRM_FORMAT_NV16, 1, 1, 0, 1, 0},
		{DRM_FORMAT_NV61, 1, 1, 1, 0, 0},
		{DRM_FORMAT_NV24, 1, 1, 0, 1, 0},
		{DRM_FORMAT_NV42, 1, 1, 1, 0, 0},
		{DRM_FORMAT_YUV420, 1, 2, 0, 0, 0},
		{DRM_FORMAT_YVU420, 2, 1, 0, 0, 0},
		{DRM_FORMAT_YUV422, 1, 2, 0, 0, 0},
		{DRM_FORMAT_YVU422, 2, 1, 0, 0, 0},
		{DRM_FORMAT_YUV444, 1, 2, 0, 0, 0},
		{DRM_FORMAT_YVU444, 2, 1, 0, 0, 0},
		{DRM_FORMAT_YUYV, 0, 0, 1, 3, 0},
		{DRM_FORMAT_YVYU, 0, 0, 3, 1, 0},
		{DRM_FORMAT_UYVY, 0, 0, 0, 2, 1},
		{DRM_FORMAT_VYUY, 0, 0, 2, 0, 1},
};

static const struct format *find_format(uint32_t fourcc) {
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].fourcc == fourcc) {
			return &formats[i];
		}
	}
	return NULL;
}

bool colours_convert(uint32_t fourcc) {
	return find_format(fourcc) != NULL;
}

/*
 * The standards give the weights of red and blue in the luma; all factors follow from these. The
 * limited range has 219 steps of luma above 16, and 224 of colour around 128.
 */
void colours_init(struct colours *colours, uint32_t encoding, uint32_t range) {
	const double red = encoding == ENGINE_BT709 ? 0.2126 : 0.299;
	const double blue = encoding == ENGINE_BT709 ? 0.0722 : 0.114;
	const double green = 1 - red - blue;
	const double luma = range == ENGINE_FULL ? 1.0 : 255.0 / 219.0;
	const double chroma = range == ENGINE_FULL ? 1.0 : 255.0 / 224.0;
	const double one = 65536;
	*colours = (struct colours){
			.y_offset = range == ENGINE_FULL ? 0 : 16,
			.y_factor = (int32_t)(luma * one + 0.5),
			.red_v = (int32_t)(2 * (1 - red) * chroma * one + 0.5),
			.blue_u = (int32_t)(2 * (1 - blue) * chroma * one + 0.5),
			.green_u = (int32_t)(2 * (1 - blue) * blue / green * chroma * one + 0.5),
			.green_v = (int32_t)(2 * (1 - red) * red / green * chroma * one + 0.5),
	};
}

static const uint8_t *plane_row(
		const struct picture *picture, uint32_t plane, uint32_t y, uint32_t vsub) {
	const struct gid_plane *of = &picture->layout.planes[plane];
	return picture->memory + of->offset + (size_t)(y / vsub) * of->stride;
}

static struct row find_row(const struct picture *picture, uint32_t y) {
	const struct format *format = find_format(picture->layout.fourcc);
	const struct gid_format_info *info = gid_format_find(picture->layout.fourcc);
	if (format->u_plane == 0) {
		const uint8_t *base = plane_row(picture, 0, y, 1);
		return (struct row){
				.y = {base + format->y_byte, 2, 0},
				.u = {base + format->u_byte, 4, 1},
				.v = {base + format->v_byte, 4, 1},
		};
	}
	const struct gid_format_plane *u = &info->planes[format->u_plane];
	const struct gid_format_plane *v = &info->planes[format->v_plane];
	return (struct row){
			.y = {plane_row(picture, 0, y, 1), 1, 0},
			.u = {plane_row(picture, format->u_plane, y, u->vsub) + format->u_byte,
					u->bytes, u->hsub == 2},
			.v = {plane_row(picture, format->v_plane, y, v->vsub) + format->v_byte,
					v->bytes, v->hsub == 2},
	};
}

static uint32_t clamp(int32_t value) {
	value >>= 16;
	return (uint32_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

void colours_row(const struct colours *colours, const struct picture *picture, uint32_t x,
		uint32_t y, uint32_t width, uint32_t *pixels) {
	const struct row row = find_row(picture, y);
	const struct colours of = *colours;
	const uint8_t *luma = row.y.base, *blue = row.u.base, *red = row.v.base;
	const uint32_t luma_step = row.y.step, step = row.u.step, shift = row.u.shift;
	for (uint32_t i = 0; i < width; i++) {
		uint32_t at = x + i, sample = step * (at >> shift);
		int32_t value = (luma[luma_step * at] - of.y_offset) * of.y_factor + 32768;
		int32_t u = blue[sample] - 128, v = red[sample] - 128;
		pixels[i] = 0xff000000 | clamp(value + of.red_v * v) << 16 |
				clamp(value - of.green_u * u - of.green_v * v) << 8 |
				clamp(value + of.blue_u * u);
	}
}

/* --- alpha ------------------------------------------------------------------------------------ */

/* By how many bits the parts of a pixel are shifted. */
struct alpha_format {
	uint32_t fourcc;
	uint8_t alpha, red, green, blue;
};

static const struct alpha_format alpha_formats[] = {
		{DRM_FORMAT_ARGB8888, 24, 16, 8, 0},
		{DRM_FORMAT_ABGR8888, 24, 0, 8, 16},
		{DRM_FORMAT_BGRA8888, 0, 8, 16, 24},
		{DRM_FORMAT_RGBA8888, 0, 24, 16, 8},
};

static const struct alpha_format *find_alpha_format(uint32_t fourcc) {
	for (size_t i = 0; i < sizeof(alpha_formats) / sizeof(alpha_formats[0]); i++) {
		if (alpha_formats[i].fourcc == fourcc) {
			return &alpha_formats[i];
		}
	}
	return NULL;
}

bool colours_multiply(uint32_t fourcc) {
	return find_alpha_format(fourcc) != NULL;
}

static uint32_t multiply(uint32_t value, uint32_t alpha) {
	return ((value & 0xff) * alpha + 127) / 255;
}

void colours_multiply_row(const struct picture *picture, uint32_t x, uint32_t y, uint32_t width,
		uint32_t *pixels) {
	const struct alpha_format of = *find_alpha_format(picture->layout.fourcc);
	const uint8_t *row = plane_row(picture, 0, y, 1) + (size_t)x * 4;
	for (uint32_t i = 0; i < width; i++) {
		uint32_t pixel;
		memcpy(&pixel, row + (size_t)i * 4, sizeof(pixel)); /* once: it may change */
		uint32_t alpha = pixel >> of.alpha & 0xff;
		pixels[i] = alpha << 24 | multiply(pixel >> of.red, alpha) << 16 |
				multiply(pixel >> of.green, alpha) << 8 |
				multiply(pixel >> of.blue, alpha);
	}
}
