// SPDX-License-Identifier: MIT
/** wl_shm's format codes: those of DRM, but for the two that are older. */
#ifndef GID_CONVERT_SHM_FORMAT_H
#define GID_CONVERT_SHM_FORMAT_H

#include <drm_fourcc.h>
#include <stdint.h>

/* WL_SHM_FORMAT_*, which the client's and the server's headers both define. */
#define SHM_FORMAT_ARGB8888 0u
#define SHM_FORMAT_XRGB8888 1u

static inline uint32_t shm_format_to_fourcc(uint32_t format) {
	switch (format) {
	case SHM_FORMAT_ARGB8888:
		return DRM_FORMAT_ARGB8888;
	case SHM_FORMAT_XRGB8888:
		return DRM_FORMAT_XRGB8888;
	default:
		return format;
	}
}

static inline uint32_t shm_format_from_fourcc(uint32_t fourcc) {
	switch (fourcc) {
	case DRM_FORMAT_ARGB8888:
		return SHM_FORMAT_ARGB8888;
	case DRM_FORMAT_XRGB8888:
		return SHM_FORMAT_XRGB8888;
	default:
		return fourcc;
	}
}

#endif
