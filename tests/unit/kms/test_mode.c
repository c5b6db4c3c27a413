// SPDX-License-Identifier: MIT
/* Timings of modes that no screen lists. */
#include <stdlib.h>
#include <string.h>

#include "kms/kms_mode.h"
#include "tap.h"

#define MOST 20000 /* more than a field holds in sums, and less than one alone can */

static bool is_in_order(const drmModeModeInfo *mode) {
	return mode->hdisplay < mode->hsync_start && mode->hsync_start < mode->hsync_end &&
			mode->hsync_end < mode->htotal && mode->vdisplay < mode->vsync_start &&
			mode->vsync_start < mode->vsync_end && mode->vsync_end < mode->vtotal;
}

/* As VESA's own table and `cvt 1920 1080 60` have it. */
static void test_known(void) {
	const drmModeModeInfo known = {
			.clock = 173000,
			.hdisplay = 1920,
			.hsync_start = 2048,
			.hsync_end = 2248,
			.htotal = 2576,
			.vdisplay = 1080,
			.vsync_start = 1083,
			.vsync_end = 1088,
			.vtotal = 1120,
			.vrefresh = 60,
			.flags = DRM_MODE_FLAG_NHSYNC | DRM_MODE_FLAG_PVSYNC,
			.type = DRM_MODE_TYPE_USERDEF,
			.name = "1920x1080",
	};
	drmModeModeInfo mode = {0};
	tap_ok(kms_mode_compute(&mode, 1920, 1080, 60000) &&
					memcmp(&mode, &known, sizeof(mode)) == 0,
			"1920x1080 at 60 Hz is that of VESA");
	tap_ok(kms_mode_compute(&mode, 1920, 1080, 0) && memcmp(&mode, &known, sizeof(mode)) == 0,
			"without a refresh it has 60 Hz");
	tap_ok(kms_mode_refresh_mhz(&mode) == 59963, "and says so: %d mHz",
			(int)kms_mode_refresh_mhz(&mode));
}

static void test_unusual(void) {
	drmModeModeInfo mode = {0};
	tap_ok(kms_mode_compute(&mode, 1921, 719, 50000) && mode.hdisplay == 1921 &&
					mode.vdisplay == 719 && is_in_order(&mode) &&
					abs(kms_mode_refresh_mhz(&mode) - 50000) < 500,
			"a size that is no multiple of a cell: %d mHz",
			(int)kms_mode_refresh_mhz(&mode));
}

static void test_refused(void) {
	const drmModeModeInfo before = {.clock = 1};
	const int32_t wrong[][3] = {{0, 0, 60000}, {-1920, 1080, 60000}, {1920, -1080, 60000},
			{4, 1080, 60000}, {70000, 1080, 60000}, {1920, 70000, 60000},
			{1920, 1080, 1}, {1920, 1080, 2000000}, {1920, 1080, INT32_MAX},
			{65535, 65535, 60000}};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		drmModeModeInfo mode = before;
		tap_ok(!kms_mode_compute(&mode, wrong[i][0], wrong[i][1], wrong[i][2]) &&
						memcmp(&mode, &before, sizeof(mode)) == 0,
				"%dx%d at %d mHz is refused", (int)wrong[i][0], (int)wrong[i][1],
				(int)wrong[i][2]);
	}
}

/* Whatever is asked for is refused, or a mode that a driver can take. */
static void test_any(void) {
	unsigned made = 0, wrong = 0;
	srand(37);
	for (int i = 0; i < 20000; i++) {
		int32_t width = rand() % MOST, height = rand() % MOST;
		drmModeModeInfo mode = {0};
		if (kms_mode_compute(&mode, width, height, rand() % 1000000)) {
			made++;
			wrong += mode.hdisplay != width || mode.vdisplay != height ||
					!is_in_order(&mode) || kms_mode_refresh_mhz(&mode) < 900;
		}
	}
	tap_ok(made > 1000 && wrong == 0, "of 20000, %u were made, %u of them wrong", made, wrong);
}

int main(void) {
	test_known();
	test_unusual();
	test_refused();
	test_any();
	return tap_finish();
}
