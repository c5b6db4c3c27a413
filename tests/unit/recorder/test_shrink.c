// SPDX-License-Identifier: MIT
/* Small pictures: their size, their colours, and layouts of strangers. */
#include "shrink.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static uint32_t row[SHRINK_SOURCE_MAX];

static bool fits(int32_t width, int32_t height, uint32_t wanted_width, uint32_t wanted_height) {
	const struct gid_box seen = {.width = width, .height = height};
	uint32_t small_width = 320, small_height = 240;
	shrink_size(&seen, &small_width, &small_height);
	return small_width == wanted_width && small_height == wanted_height;
}

static void test_sizes(void) {
	tap_ok(fits(1920, 1080, 320, 180), "a wide picture is as wide as it may be");
	tap_ok(fits(1080, 1920, 135, 240), "a high one is as high");
	tap_ok(fits(640, 480, 320, 240), "one of 4:3 is both");
	tap_ok(fits(100, 50, 100, 50), "a small one stays as it is");
	tap_ok(fits(16384, 1, 320, 1) && fits(1, 16384, 1, 240), "no side gets lost");
}

static void test_colours(void) {
	struct gid_layout layout;
	uint8_t rgb[2 * 2 * 3];
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 8, 8, 1);
	uint32_t *pixels = calloc(8 * 8, sizeof(*pixels));
	/* Quarters of one colour, the first one in stripes of two. */
	for (uint32_t i = 0; i < 64; i++) {
		static const uint32_t colours[] = {0, 0xff00ff00, 0xff0000ff, 0xffffffff};
		uint32_t quarter = (i % 8 >= 4) + 2 * (i / 8 >= 4);
		pixels[i] = quarter == 0 ? (i & 2 ? 0xffc80000 : 0xff640000) : colours[quarter];
	}
	const struct gid_box seen = {.width = 8, .height = 8};
	shrink(&layout, pixels, &seen, 2, 2, row, rgb);
	static const uint8_t wanted[] = {150, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
	tap_ok(memcmp(rgb, wanted, sizeof(wanted)) == 0, "each is the mean of its part");
	const struct gid_box corner = {.x = 6, .y = 6, .width = 2, .height = 2};
	shrink(&layout, pixels, &corner, 1, 1, row, rgb);
	tap_ok(rgb[0] == 255 && rgb[1] == 255 && rgb[2] == 255, "of what is seen alone");
	free(pixels);
}

static int check(const struct gid_layout *layout, uint64_t slot, struct gid_box crop) {
	struct gid_box seen;
	return shrink_check(layout, slot, &crop, &seen);
}

static void test_strangers(void) {
	struct gid_layout layout, odd;
	const struct gid_box all = {0};
	gid_layout_init(&layout, DRM_FORMAT_NV12, 64, 32, 1);
	uint64_t size = gid_layout_size(&layout);
	tap_ok(check(&layout, size, all) == 0, "one that is right");
	tap_ok(check(&layout, size - 1, all) < 0, "not one beyond its slot");
	tap_ok(check(&layout, size, (struct gid_box){.x = 60, .width = 8, .height = 8}) == -EINVAL,
			"nor a crop beyond the picture");
	odd = layout;
	odd.modifier = DRM_FORMAT_MOD_LINEAR + 1;
	tap_ok(check(&odd, size, all) == -ENOTSUP, "nor what is no rows");
	odd = layout;
	odd.fourcc = 0x12345678;
	tap_ok(check(&odd, size, all) == -ENOTSUP, "nor an unknown format");
	if (gid_layout_init(&odd, DRM_FORMAT_R8, SHRINK_SOURCE_MAX + 1, 1, 1) == 0) {
		tap_ok(check(&odd, UINT64_MAX, all) == -EMSGSIZE, "nor one that is too wide");
	}
}

int main(void) {
	test_sizes();
	test_colours();
	test_strangers();
	return tap_finish();
}
