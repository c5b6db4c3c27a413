// SPDX-License-Identifier: MIT
/** Pictures whose alpha says nothing, as those of a whole output: the format without it. */
#ifndef GID_CONVERT_OPAQUE_FORMAT_H
#define GID_CONVERT_OPAQUE_FORMAT_H

#include <drm_fourcc.h>
#include <stddef.h>
#include <stdint.h>

/* The format in which the alpha of `fourcc` is not there; others stay what they are. */
static inline uint32_t format_without_alpha(uint32_t fourcc) {
	static const uint32_t pairs[][2] = {
			{DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888},
			{DRM_FORMAT_ABGR8888, DRM_FORMAT_XBGR8888},
			{DRM_FORMAT_BGRA8888, DRM_FORMAT_BGRX8888},
			{DRM_FORMAT_RGBA8888, DRM_FORMAT_RGBX8888},
			{DRM_FORMAT_ARGB2101010, DRM_FORMAT_XRGB2101010},
			{DRM_FORMAT_ABGR2101010, DRM_FORMAT_XBGR2101010},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (pairs[i][0] == fourcc) {
			return pairs[i][1];
		}
	}
	return fourcc;
}

#endif
