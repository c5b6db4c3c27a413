// SPDX-License-Identifier: MIT
/* Formats, and layouts at and past every limit. */
#include <drm_fourcc.h>
#include <errno.h>
#include <gid/gid.h>
#include <string.h>

#include "tap.h"

static void test_formats(void) {
	const struct gid_format_info *info;
	bool found = true, sane = true;
	for (size_t i = 0; (info = gid_format_at(i)) != NULL; i++) {
		found = found && gid_format_find(info->fourcc) == info;
		sane = sane && info->plane_count >= 1 && info->plane_count <= GID_PLANES_MAX;
		for (uint32_t p = 0; p < info->plane_count; p++) {
			const struct gid_format_plane *plane = &info->planes[p];
			sane = sane && plane->bytes > 0 && plane->hsub > 0 && plane->vsub > 0;
		}
	}
	tap_ok(found, "each format is found by its code, once");
	tap_ok(sane, "each has planes with blocks");
	tap_ok(gid_format_find(0) == NULL && gid_format_find(UINT32_MAX) == NULL,
			"unknown codes are not found");
	tap_ok(gid_format_row_bytes(DRM_FORMAT_XRGB8888, 0, 1920) == 7680, "BGRx rows");
	tap_ok(gid_format_row_bytes(DRM_FORMAT_YUYV, 0, 3) == 8, "YUYV of an odd width has a pair");
	tap_ok(gid_format_row_bytes(DRM_FORMAT_NV12, 1, 1919) == 1920, "NV12 chroma, odd width");
	tap_ok(gid_format_rows(DRM_FORMAT_NV12, 1, 1079) == 540, "NV12 chroma, odd height");
	tap_ok(gid_format_row_bytes(DRM_FORMAT_YUV420, 2, 175) == 88, "I420 chroma, odd width");
	tap_ok(gid_format_row_bytes(DRM_FORMAT_P010, 0, 10) == 20, "P010 has two bytes a sample");
	tap_ok(gid_format_row_bytes(DRM_FORMAT_XRGB8888, 1, 10) == 0 &&
					gid_format_rows(DRM_FORMAT_XRGB8888, 1, 10) == 0 &&
					gid_format_rows(1, 0, 10) == 0,
			"no plane, no rows");
	tap_ok(gid_format_row_bytes(DRM_FORMAT_XRGB8888, 0, GID_SIZE_MAX + 1) == 0 &&
					gid_format_rows(DRM_FORMAT_XRGB8888, 0, GID_SIZE_MAX + 1) ==
							0,
			"nor are there any of what is too large");
}

/* What gid_layout_init() makes of each format passes the check exactly. */
static void test_init(void) {
	const struct gid_format_info *info;
	const uint32_t sizes[][2] = {{1, 1}, {175, 143}, {1920, 1080}, {GID_SIZE_MAX, 3}};
	bool fits = true, tight = true;
	for (size_t i = 0; (info = gid_format_at(i)) != NULL; i++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			struct gid_layout layout;
			fits = fits &&
					gid_layout_init(&layout, info->fourcc, sizes[s][0],
							sizes[s][1], 64) == 0 &&
					gid_layout_check(&layout, gid_layout_size(&layout)) == 0;
			uint32_t last = layout.plane_count - 1;
			uint64_t end = layout.planes[last].offset +
					(uint64_t)(gid_format_rows(info->fourcc, last,
								   sizes[s][1]) -
							1) *
							layout.planes[last].stride +
					gid_format_row_bytes(info->fourcc, last, sizes[s][0]);
			tight = tight && gid_layout_check(&layout, end) == 0 &&
					gid_layout_check(&layout, end - 1) == -ERANGE;
		}
	}
	tap_ok(fits, "every format in every size fits its own size");
	tap_ok(tight, "and needs all bytes to the end of its last row");
	struct gid_layout layout = {.width = 7};
	tap_ok(gid_layout_init(&layout, DRM_FORMAT_YUV420, 1920, 1080, 32) == 0 &&
					layout.planes[0].stride == 1920 &&
					layout.planes[1].stride == 960 &&
					layout.planes[1].offset == 1920 * 1080 &&
					layout.planes[2].offset == 1920 * 1080 + 960 * 540 &&
					gid_layout_size(&layout) == 1920 * 1080 * 3 / 2,
			"1080p I420 lies as expected");
	const struct {
		uint32_t fourcc, width, height, align;
		int error;
	} bad[] = {
			{DRM_FORMAT_XRGB8888, 0, 1, 1, -EINVAL},
			{DRM_FORMAT_XRGB8888, 1, 0, 1, -EINVAL},
			{DRM_FORMAT_XRGB8888, GID_SIZE_MAX + 1, 1, 1, -EINVAL},
			{DRM_FORMAT_XRGB8888, 1, GID_SIZE_MAX + 1, 1, -EINVAL},
			{DRM_FORMAT_XRGB8888, 1, 1, 0, -EINVAL},
			{DRM_FORMAT_XRGB8888, 1, 1, 3, -EINVAL},
			{DRM_FORMAT_XRGB8888, 1, 1, 1u << 31, -EINVAL},
			{DRM_FORMAT_YUV444, 1, GID_SIZE_MAX, 1u << 30, -EINVAL},
			{0x12345678, 1, 1, 1, -ENOTSUP},
			{DRM_FORMAT_INVALID, 1, 1, 1, -ENOTSUP},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct gid_layout kept = layout;
		int error = gid_layout_init(
				&layout, bad[i].fourcc, bad[i].width, bad[i].height, bad[i].align);
		tap_ok(error == bad[i].error && memcmp(&layout, &kept, sizeof(kept)) == 0,
				"bad size, alignment or format %zu gives %d and changes "
				"nothing (got %d)",
				i, bad[i].error, error);
	}
}

static void test_check(void) {
	struct gid_layout good;
	gid_layout_init(&good, DRM_FORMAT_NV12, 64, 48, 64);
	const uint64_t size = 64 * 48 * 3 / 2;
	tap_ok(gid_layout_check(&good, size) == 0, "a plain NV12 fits");
	tap_ok(gid_layout_check(&good, 0) == -ERANGE, "nothing holds no picture");

	struct gid_layout layout = good;
	layout.planes[1].stride = 63;
	tap_ok(gid_layout_check(&layout, UINT64_MAX) == -EINVAL, "a stride less than a row");
	layout.planes[1].stride = 0;
	tap_ok(gid_layout_check(&layout, UINT64_MAX) == -EINVAL, "no stride");
	layout.planes[1].stride = (uint32_t)INT32_MAX + 1;
	tap_ok(gid_layout_check(&layout, UINT64_MAX) == -EINVAL,
			"a stride that int32_t cannot hold");
	layout = good;
	layout.planes[1].offset = UINT32_MAX;
	layout.planes[1].stride = INT32_MAX;
	layout.height = GID_SIZE_MAX;
	layout.planes[0].stride = INT32_MAX;
	tap_ok(gid_layout_check(&layout, size) == -ERANGE, "the greatest numbers do not wrap");
	layout = good;
	layout.planes[1].offset += 1;
	tap_ok(gid_layout_check(&layout, size) == -ERANGE, "an offset one too far");
	for (uint32_t count = 0; count < 7; count++) {
		layout = good;
		layout.plane_count = count;
		tap_ok(gid_layout_check(&layout, size) == (count == 2 ? 0 : -EINVAL),
				"NV12 with %u planes", count);
	}
	layout = good;
	layout.plane_count = UINT32_MAX;
	tap_ok(gid_layout_check(&layout, size) == -EINVAL && gid_layout_size(&layout) == 0,
			"the greatest plane count reads nothing");
	layout = good;
	layout.width = 0;
	tap_ok(gid_layout_check(&layout, size) == -EINVAL, "no width");
	layout.width = GID_SIZE_MAX + 1;
	tap_ok(gid_layout_check(&layout, size) == -EINVAL, "too wide");
	layout = good;
	layout.colours = (struct gid_colours){255, 255, GID_COLOUR_MATRIX_MAX, GID_RANGE_LIMITED};
	tap_ok(gid_layout_check(&layout, size) == 0, "the greatest numbers of colours");
	layout.colours.matrix++;
	tap_ok(gid_layout_check(&layout, size) == -EINVAL, "a matrix beyond the wire");
	layout = good;
	layout.colours.range = GID_RANGE_LIMITED + 1;
	tap_ok(gid_layout_check(&layout, size) == -EINVAL, "a range that there is not");
	layout = good;
	layout.fourcc = 0;
	tap_ok(gid_layout_check(&layout, size) == -ENOTSUP, "no format");
	layout = good;
	layout.reserved = 1;
	tap_ok(gid_layout_check(&layout, size) == -EINVAL, "something that is not known yet");
}

static void test_modifier(void) {
	struct gid_layout layout;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 64, 64, 64);
	layout.modifier = I915_FORMAT_MOD_Y_TILED_CCS;
	layout.plane_count = 2; /* the second one tells how the first is compressed */
	layout.planes[1].offset = 16384;
	layout.planes[1].stride = 128;
	tap_ok(gid_layout_check(&layout, 20480) == 0, "a modifier may bring a plane");
	tap_ok(gid_layout_check(&layout, 16384) == -ERANGE, "which must begin inside");
	tap_ok(gid_layout_size(&layout) == 0, "nobody but the driver knows its size");
	layout.plane_count = 5;
	tap_ok(gid_layout_check(&layout, 20480) == -EINVAL, "but there are at most four");
	layout.plane_count = 0;
	tap_ok(gid_layout_check(&layout, 20480) == -EINVAL, "and one at least");
}

int main(void) {
	test_formats();
	test_init();
	test_check();
	test_modifier();
	return tap_finish();
}
