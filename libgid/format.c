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

/* What a pixel is, as one little-endian number: of each part the lowest bit, and how many. */
#define WORD(name, meaning, bytes, a, a_bits, b, b_bits, c, c_bits, alpha, alpha_bits)             \
	{                                                                                          \
			.fourcc = DRM_FORMAT_##name,                                               \
			.plane_count = 1,                                                          \
			.planes = {{bytes, 1, 1}},                                                 \
			.kind = GID_FORMAT_##meaning,                                              \
			.samples =                                                                 \
					{                                                          \
							{0, a, a_bits},                            \
							{0, b, b_bits},                            \
							{0, c, c_bits},                            \
							{0, alpha, alpha_bits},                    \
					},                                                         \
	}
/* Two pixels side by side share a block of four samples; y, u and v count samples. */
#define PAIRED(name, bytes, bits, y, u, v)                                                         \
	{                                                                                          \
			.fourcc = DRM_FORMAT_##name,                                               \
			.plane_count = 1,                                                          \
			.planes = {{4 * (bytes), 2, 1}},                                           \
			.kind = GID_FORMAT_YUV,                                                    \
			.samples =                                                                 \
					{                                                          \
							{0, UPPER(y, bytes, bits), bits},          \
							{0, UPPER(u, bytes, bits), bits},          \
							{0, UPPER(v, bytes, bits), bits},          \
					},                                                         \
	}
/* u and v count samples of the second plane. */
#define SEMI_PLANAR(name, bytes, bits, hsub, vsub, u, v)                                           \
	{                                                                                          \
			.fourcc = DRM_FORMAT_##name,                                               \
			.plane_count = 2,                                                          \
			.planes = {{bytes, 1, 1}, {2 * (bytes), hsub, vsub}},                      \
			.kind = GID_FORMAT_YUV,                                                    \
			.samples =                                                                 \
					{                                                          \
							{0, UPPER(0, bytes, bits), bits},          \
							{1, UPPER(u, bytes, bits), bits},          \
							{1, UPPER(v, bytes, bits), bits},          \
					},                                                         \
	}
/* u and v are planes; `shift` is how many bits of each sample are below it. */
#define PLANAR(name, bytes, bits, shift, hsub, vsub, u, v)                                         \
	{                                                                                          \
			.fourcc = DRM_FORMAT_##name,                                               \
			.plane_count = 3,                                                          \
			.planes = {{bytes, 1, 1}, {bytes, hsub, vsub}, {bytes, hsub, vsub}},       \
			.kind = GID_FORMAT_YUV,                                                    \
			.samples = {{0, shift, bits}, {u, shift, bits}, {v, shift, bits}},         \
	}
/* A sample that fills the upper bits of its bytes. */
#define UPPER(index, bytes, bits) (8 * (bytes) * (index) + 8 * (bytes) - (bits))

/*
 * All of what gidway knows about a format: who converts, draws, shows or sends pictures goes by
 * these rows. (What a renderer, a device or GStreamer calls a format is theirs to say.)
 */
/* clang-format off */
static const struct gid_format_info formats[] = {
	/*   name          kind     bytes  red     green   blue    alpha */
	WORD(XRGB8888, RGB, 4, 16, 8, 8, 8, 0, 8, 0, 0),
	WORD(ARGB8888, RGB, 4, 16, 8, 8, 8, 0, 8, 24, 8),
	WORD(XBGR8888, RGB, 4, 0, 8, 8, 8, 16, 8, 0, 0),
	WORD(ABGR8888, RGB, 4, 0, 8, 8, 8, 16, 8, 24, 8),
	WORD(RGBX8888, RGB, 4, 24, 8, 16, 8, 8, 8, 0, 0),
	WORD(RGBA8888, RGB, 4, 24, 8, 16, 8, 8, 8, 0, 8),
	WORD(BGRX8888, RGB, 4, 8, 8, 16, 8, 24, 8, 0, 0),
	WORD(BGRA8888, RGB, 4, 8, 8, 16, 8, 24, 8, 0, 8),
	WORD(RGB888, RGB, 3, 16, 8, 8, 8, 0, 8, 0, 0),
	WORD(BGR888, RGB, 3, 0, 8, 8, 8, 16, 8, 0, 0),
	WORD(RGB565, RGB, 2, 11, 5, 5, 6, 0, 5, 0, 0),
	WORD(BGR565, RGB, 2, 0, 5, 5, 6, 11, 5, 0, 0),
	WORD(XRGB1555, RGB, 2, 10, 5, 5, 5, 0, 5, 0, 0),
	WORD(XBGR1555, RGB, 2, 0, 5, 5, 5, 10, 5, 0, 0),
	WORD(ARGB1555, RGB, 2, 10, 5, 5, 5, 0, 5, 15, 1),
	WORD(XRGB4444, RGB, 2, 8, 4, 4, 4, 0, 4, 0, 0),
	WORD(ARGB4444, RGB, 2, 8, 4, 4, 4, 0, 4, 12, 4),
	WORD(XRGB2101010, RGB, 4, 20, 10, 10, 10, 0, 10, 0, 0),
	WORD(ARGB2101010, RGB, 4, 20, 10, 10, 10, 0, 10, 30, 2),
	WORD(XBGR2101010, RGB, 4, 0, 10, 10, 10, 20, 10, 0, 0),
	WORD(ABGR2101010, RGB, 4, 0, 10, 10, 10, 20, 10, 30, 2),
	WORD(RGBX1010102, RGB, 4, 22, 10, 12, 10, 2, 10, 0, 0),
	WORD(RGBA1010102, RGB, 4, 22, 10, 12, 10, 2, 10, 0, 2),
	WORD(BGRX1010102, RGB, 4, 2, 10, 12, 10, 22, 10, 0, 0),
	WORD(BGRA1010102, RGB, 4, 2, 10, 12, 10, 22, 10, 0, 2),
	WORD(XRGB16161616, RGB, 8, 32, 16, 16, 16, 0, 16, 0, 0),
	WORD(ARGB16161616, RGB, 8, 32, 16, 16, 16, 0, 16, 48, 16),
	WORD(XBGR16161616, RGB, 8, 0, 16, 16, 16, 32, 16, 0, 0),
	WORD(ABGR16161616, RGB, 8, 0, 16, 16, 16, 32, 16, 48, 16),
	WORD(XRGB16161616F, HALF_FLOATS, 8, 32, 16, 16, 16, 0, 16, 0, 0),
	WORD(ARGB16161616F, HALF_FLOATS, 8, 32, 16, 16, 16, 0, 16, 48, 16),
	WORD(XBGR16161616F, HALF_FLOATS, 8, 0, 16, 16, 16, 32, 16, 0, 0),
	WORD(ABGR16161616F, HALF_FLOATS, 8, 0, 16, 16, 16, 32, 16, 48, 16),
	WORD(R8, GREY, 1, 0, 8, 0, 0, 0, 0, 0, 0),
	WORD(R16, GREY, 2, 0, 16, 0, 0, 0, 0, 0, 0),
	WORD(GR88, RGB, 2, 0, 8, 8, 8, 0, 0, 0, 0),
	/*   name   kind bytes  Y      U      V       alpha */
	WORD(AYUV, YUV, 4, 16, 8, 8, 8, 0, 8, 24, 8),
	WORD(XYUV8888, YUV, 4, 16, 8, 8, 8, 0, 8, 0, 0),
	WORD(VUY888, YUV, 3, 16, 8, 8, 8, 0, 8, 0, 0),
	WORD(Y410, YUV, 4, 10, 10, 0, 10, 20, 10, 30, 2),
	WORD(Y412, YUV, 8, 20, 12, 4, 12, 36, 12, 52, 12),
	WORD(Y416, YUV, 8, 16, 16, 0, 16, 32, 16, 48, 16),
	/*     name, bytes, bits, Y, U, V */
	PAIRED(YUYV, 1, 8, 0, 1, 3),
	PAIRED(YVYU, 1, 8, 0, 3, 1),
	PAIRED(UYVY, 1, 8, 1, 0, 2),
	PAIRED(VYUY, 1, 8, 1, 2, 0),
	PAIRED(Y210, 2, 10, 0, 1, 3),
	PAIRED(Y212, 2, 12, 0, 1, 3),
	PAIRED(Y216, 2, 16, 0, 1, 3),
	/*          name, bytes, bits, pixels of a block, U, V */
	SEMI_PLANAR(NV12, 1, 8, 2, 2, 0, 1),
	SEMI_PLANAR(NV21, 1, 8, 2, 2, 1, 0),
	SEMI_PLANAR(NV16, 1, 8, 2, 1, 0, 1),
	SEMI_PLANAR(NV61, 1, 8, 2, 1, 1, 0),
	SEMI_PLANAR(NV24, 1, 8, 1, 1, 0, 1),
	SEMI_PLANAR(NV42, 1, 8, 1, 1, 1, 0),
	SEMI_PLANAR(P010, 2, 10, 2, 2, 0, 1),
	SEMI_PLANAR(P012, 2, 12, 2, 2, 0, 1),
	SEMI_PLANAR(P016, 2, 16, 2, 2, 0, 1),
	/*     name, bytes, bits, bits below, pixels of a block, U, V */
	PLANAR(YUV410, 1, 8, 0, 4, 4, 1, 2),
	PLANAR(YVU410, 1, 8, 0, 4, 4, 2, 1),
	PLANAR(YUV411, 1, 8, 0, 4, 1, 1, 2),
	PLANAR(YVU411, 1, 8, 0, 4, 1, 2, 1),
	PLANAR(YUV420, 1, 8, 0, 2, 2, 1, 2),
	PLANAR(YVU420, 1, 8, 0, 2, 2, 2, 1),
	PLANAR(YUV422, 1, 8, 0, 2, 1, 1, 2),
	PLANAR(YVU422, 1, 8, 0, 2, 1, 2, 1),
	PLANAR(YUV444, 1, 8, 0, 1, 1, 1, 2),
	PLANAR(YVU444, 1, 8, 0, 1, 1, 2, 1),
	PLANAR(Q410, 2, 10, 6, 1, 1, 1, 2),
	PLANAR(Q401, 2, 10, 6, 1, 1, 2, 1),
	PLANAR(S010, 2, 10, 0, 2, 2, 1, 2),
	PLANAR(S210, 2, 10, 0, 2, 1, 1, 2),
	PLANAR(S410, 2, 10, 0, 1, 1, 1, 2),
	PLANAR(S012, 2, 12, 0, 2, 2, 1, 2),
	PLANAR(S212, 2, 12, 0, 2, 1, 1, 2),
	PLANAR(S412, 2, 12, 0, 1, 1, 1, 2),
	PLANAR(S016, 2, 16, 0, 2, 2, 1, 2),
	PLANAR(S216, 2, 16, 0, 2, 1, 1, 2),
	PLANAR(S416, 2, 16, 0, 1, 1, 1, 2),
};
/* clang-format on */

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
