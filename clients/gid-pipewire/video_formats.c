// SPDX-License-Identifier: MIT
#include "video_formats.h"

#include <drm_fourcc.h>
#include <stddef.h>

/* DRM names the channels of a little-endian word from its top, PipeWire in the order of bytes. */
static const struct format_row {
	uint32_t fourcc;
	enum spa_video_format format;
	/* As what browsers know it, by WebRTC: four bytes only with an alpha. 0: not at all. */
	uint32_t browsers;
} formats[] = {
		{DRM_FORMAT_XRGB8888, SPA_VIDEO_FORMAT_BGRx, DRM_FORMAT_ARGB8888},
		{DRM_FORMAT_ARGB8888, SPA_VIDEO_FORMAT_BGRA, DRM_FORMAT_ARGB8888},
		{DRM_FORMAT_XBGR8888, SPA_VIDEO_FORMAT_RGBx, DRM_FORMAT_ABGR8888},
		{DRM_FORMAT_ABGR8888, SPA_VIDEO_FORMAT_RGBA, DRM_FORMAT_ABGR8888},
		{DRM_FORMAT_RGBX8888, SPA_VIDEO_FORMAT_xBGR, 0},
		{DRM_FORMAT_RGBA8888, SPA_VIDEO_FORMAT_ABGR, 0},
		{DRM_FORMAT_BGRX8888, SPA_VIDEO_FORMAT_xRGB, DRM_FORMAT_BGRA8888},
		{DRM_FORMAT_BGRA8888, SPA_VIDEO_FORMAT_ARGB, DRM_FORMAT_BGRA8888},
		{DRM_FORMAT_RGB888, SPA_VIDEO_FORMAT_BGR, DRM_FORMAT_RGB888},
		{DRM_FORMAT_BGR888, SPA_VIDEO_FORMAT_RGB, DRM_FORMAT_BGR888},
		{DRM_FORMAT_RGB565, SPA_VIDEO_FORMAT_RGB16, DRM_FORMAT_RGB565},
		{DRM_FORMAT_XRGB2101010, SPA_VIDEO_FORMAT_xRGB_210LE, 0},
		{DRM_FORMAT_ARGB2101010, SPA_VIDEO_FORMAT_ARGB_210LE, 0},
		{DRM_FORMAT_XBGR2101010, SPA_VIDEO_FORMAT_xBGR_210LE, 0},
		{DRM_FORMAT_ABGR2101010, SPA_VIDEO_FORMAT_ABGR_210LE, 0},
		{DRM_FORMAT_R8, SPA_VIDEO_FORMAT_GRAY8, 0},
		{DRM_FORMAT_NV12, SPA_VIDEO_FORMAT_NV12, DRM_FORMAT_NV12},
		{DRM_FORMAT_NV21, SPA_VIDEO_FORMAT_NV21, 0},
		{DRM_FORMAT_NV16, SPA_VIDEO_FORMAT_NV16, 0},
		{DRM_FORMAT_NV61, SPA_VIDEO_FORMAT_NV61, 0},
		{DRM_FORMAT_NV24, SPA_VIDEO_FORMAT_NV24, 0},
		{DRM_FORMAT_YUV420, SPA_VIDEO_FORMAT_I420, DRM_FORMAT_YUV420},
		{DRM_FORMAT_YVU420, SPA_VIDEO_FORMAT_YV12, 0},
		{DRM_FORMAT_YUV422, SPA_VIDEO_FORMAT_Y42B, 0},
		{DRM_FORMAT_YUV444, SPA_VIDEO_FORMAT_Y444, 0},
		{DRM_FORMAT_YUV411, SPA_VIDEO_FORMAT_Y41B, 0},
		{DRM_FORMAT_YUV410, SPA_VIDEO_FORMAT_YUV9, 0},
		{DRM_FORMAT_YVU410, SPA_VIDEO_FORMAT_YVU9, 0},
		{DRM_FORMAT_YUYV, SPA_VIDEO_FORMAT_YUY2, DRM_FORMAT_YUYV},
		{DRM_FORMAT_YVYU, SPA_VIDEO_FORMAT_YVYU, 0},
		{DRM_FORMAT_UYVY, SPA_VIDEO_FORMAT_UYVY, DRM_FORMAT_UYVY},
		{DRM_FORMAT_VYUY, SPA_VIDEO_FORMAT_VYUY, 0},
		{DRM_FORMAT_P010, SPA_VIDEO_FORMAT_P010_10LE, 0},
};

static const struct format_row *find_row(uint32_t fourcc) {
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].fourcc == fourcc) {
			return &formats[i];
		}
	}
	return NULL;
}

enum spa_video_format video_format_of(uint32_t fourcc) {
	const struct format_row *row = find_row(fourcc);
	return row != NULL ? row->format : SPA_VIDEO_FORMAT_UNKNOWN;
}

uint32_t video_browsers_format_of(uint32_t fourcc) {
	const struct format_row *row = find_row(fourcc);
	return row != NULL ? row->browsers : 0;
}

enum spa_video_color_range video_range_of(const struct gid_colours *colours) {
	switch (colours->range) {
	case GID_RANGE_FULL:
		return SPA_VIDEO_COLOR_RANGE_0_255;
	case GID_RANGE_LIMITED:
		return SPA_VIDEO_COLOR_RANGE_16_235;
	default:
		return SPA_VIDEO_COLOR_RANGE_UNKNOWN;
	}
}

enum spa_video_color_matrix video_matrix_of(const struct gid_colours *colours) {
	switch (colours->matrix) {
	case GID_COLOUR_RGB:
		return SPA_VIDEO_COLOR_MATRIX_RGB;
	case GID_MATRIX_FCC:
		return SPA_VIDEO_COLOR_MATRIX_FCC;
	case GID_MATRIX_BT709:
		return SPA_VIDEO_COLOR_MATRIX_BT709;
	case GID_MATRIX_BT470BG:
	case GID_MATRIX_BT601:
		return SPA_VIDEO_COLOR_MATRIX_BT601;
	case GID_MATRIX_SMPTE240M:
		return SPA_VIDEO_COLOR_MATRIX_SMPTE240M;
	case GID_MATRIX_BT2020:
		return SPA_VIDEO_COLOR_MATRIX_BT2020;
	default:
		return SPA_VIDEO_COLOR_MATRIX_UNKNOWN;
	}
}
