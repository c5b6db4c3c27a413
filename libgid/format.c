// SPDX-License-Identifier: MIT
/** The pixel formats that gidway can lay out, by the definitions of drm_fourcc.h. */
#include <drm_fourcc.h>

#include <gid/gid.h>

/*
 * The decoders' own formats of more than 8 bits, in the lowest bits of each sample. Younger (Linux
 * 6.16) than the headers of libdrm may be.
 */
#ifndef DRM_FORMAT_S010
#define DRM_FORMAT_S010 fourcc_code('S', '0', '1', '0')
#define DRM_FORMAT_S210 fourcc_code('S', '2', '1', '0')
#define DRM_FORMAT_S410 fourcc_code('S', '4', '1', '0')
#define DRM_FORMAT_S012 fourcc_code('S', '0', '1', '2')
#define DRM_FORMAT_S212 fourcc_code('S', '2', '1', '2')
#define DRM_FORMAT_S412 fourcc_code('S', '4', '1', '2')
#define DRM_FORMAT_S016 fourcc_code('S', '0', '1', '6')
#define DRM_FORMAT_S216 fourcc_code('S', '2', '1', '6')
#define DRM_FORMAT_S416 fourcc_code('S', '4', '1', '6')
#endif

/* Planes are { bytes of a sample block, pixels it covers across, and down }. */
#define PACKED(name, bytes)                                                                        \
	{                                                                                          \
		DRM_FORMAT_##name, 1, { { bytes, 1, 1 } }                                          \
	}
/* Two pixels side by side share a block. */
#define PAIRED(name, bytes)                                                                        \
	{                                                                                          \
		DRM_FORMAT_##name, 1, { { bytes, 2, 1 } }                                          \
	}
#define SEMI_PLANAR(name, bytes, hsub, vsub)                                                       \
	{                                                                                          \
		DRM_FORMAT_##name, 2, {                                                            \
			{bytes, 1, 1}, {                                                           \
				2 * (bytes), hsub, vsub                                            \
			}                                                                          \
		}                                                                                  \
	}
#define PLANAR(name, bytes, hsub, vsub)                                                            \
	{                                                                                          \
		DRM_FORMAT_##name, 3, {                                                            \
			{bytes, 1, 1}, {bytes, hsub, vsub}, {                                      \
				bytes, hsub, vsub                                                  \
			}                                                                          \
		}                                                                                  \
	}

static const struct gid_format_info formats[] = {
		PACKED(XRGB8888, 4),
		PACKED(ARGB8888, 4),
		PACKED(XBGR8888, 4),
		PACKED(ABGR8888, 4),
		PACKED(RGBX8888, 4),
		PACKED(RGBA8888, 4),
		PACKED(BGRX8888, 4),
		PACKED(BGRA8888, 4),
		PACKED(RGB888, 3),
		PACKED(BGR888, 3),
		PACKED(RGB565, 2),
		PACKED(BGR565, 2),
		PACKED(XRGB1555, 2),
		PACKED(XBGR1555, 2),
		PACKED(ARGB1555, 2),
		PACKED(XRGB4444, 2),
		PACKED(ARGB4444, 2),
		PACKED(XRGB2101010, 4),
		PACKED(ARGB2101010, 4),
		PACKED(XBGR2101010, 4),
		PACKED(ABGR2101010, 4),
		PACKED(RGBX1010102, 4),
		PACKED(RGBA1010102, 4),
		PACKED(BGRX1010102, 4),
		PACKED(BGRA1010102, 4),
		PACKED(XRGB16161616, 8),
		PACKED(ARGB16161616, 8),
		PACKED(XBGR16161616, 8),
		PACKED(ABGR16161616, 8),
		PACKED(XRGB16161616F, 8),
		PACKED(ARGB16161616F, 8),
		PACKED(XBGR16161616F, 8),
		PACKED(ABGR16161616F, 8),
		PACKED(R8, 1),
		PACKED(R16, 2),
		PACKED(GR88, 2),
		PACKED(AYUV, 4),
		PACKED(XYUV8888, 4),
		PACKED(VUY888, 3),
		PACKED(Y410, 4),
		PACKED(Y412, 8),
		PACKED(Y416, 8),
		PAIRED(YUYV, 4),
		PAIRED(YVYU, 4),
		PAIRED(UYVY, 4),
		PAIRED(VYUY, 4),
		PAIRED(Y210, 8),
		PAIRED(Y212, 8),
		PAIRED(Y216, 8),
		SEMI_PLANAR(NV12, 1, 2, 2),
		SEMI_PLANAR(NV21, 1, 2, 2),
		SEMI_PLANAR(NV16, 1, 2, 1),
		SEMI_PLANAR(NV61, 1, 2, 1),
		SEMI_PLANAR(NV24, 1, 1, 1),
		SEMI_PLANAR(NV42, 1, 1, 1),
		SEMI_PLANAR(P010, 2, 2, 2),
		SEMI_PLANAR(P012, 2, 2, 2),
		SEMI_PLANAR(P016, 2, 2, 2),
		PLANAR(YUV410, 1, 4, 4),
		PLANAR(YVU410, 1, 4, 4),
		PLANAR(YUV411, 1, 4, 1),
		PLANAR(YVU411, 1, 4, 1),
		PLANAR(YUV420, 1, 2, 2),
		PLANAR(YVU420, 1, 2, 2),
		PLANAR(YUV422, 1, 2, 1),
		PLANAR(YVU422, 1, 2, 1),
		PLANAR(YUV444, 1, 1, 1),
		PLANAR(YVU444, 1, 1, 1),
		PLANAR(Q410, 2, 1, 1),
		PLANAR(Q401, 2, 1, 1),
		PLANAR(S010, 2, 2, 2),
		PLANAR(S210, 2, 2, 1),
		PLANAR(S410, 2, 1, 1),
		PLANAR(S012, 2, 2, 2),
		PLANAR(S212, 2, 2, 1),
		PLANAR(S412, 2, 1, 1),
		PLANAR(S016, 2, 2, 2),
		PLANAR(S216, 2, 2, 1),
		PLANAR(S416, 2, 1, 1),
};

const struct gid_format_info *gid_format_at(size_t index) {
	return index < sizeof(formats) / sizeof(formats[0]) ? &formats[index] : NULL;
}

const struct gid_format_info *gid_format_find(uint32_t fourcc) {
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].fourcc == fourcc) {
			return &formats[i];
		}
	}
	return NULL;
}

static const struct gid_format_plane *find_plane(uint32_t fourcc, uint32_t plane) {
	const struct gid_format_info *info = gid_format_find(fourcc);
	return info != NULL && plane < info->plane_count ? &info->planes[plane] : NULL;
}

static uint32_t divide_up(uint32_t value, uint32_t by) {
	return value / by + (value % by != 0);
}

uint32_t gid_format_row_bytes(uint32_t fourcc, uint32_t plane, uint32_t width) {
	const struct gid_format_plane *info = find_plane(fourcc, plane);
	if (info == NULL || width > GID_SIZE_MAX) {
		return 0;
	}
	return divide_up(width, info->hsub) * info->bytes;
}

uint32_t gid_format_rows(uint32_t fourcc, uint32_t plane, uint32_t height) {
	const struct gid_format_plane *info = find_plane(fourcc, plane);
	if (info == NULL || height > GID_SIZE_MAX) {
		return 0;
	}
	return divide_up(height, info->vsub);
}
