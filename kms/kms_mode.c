// SPDX-License-Identifier: MIT
#include "kms_mode.h"

#include <libdisplay-info/cvt.h>
#include <math.h>
#include <stdio.h>

#define DEFAULT_HZ 60
#define MIN_HZ 1
#define SIZE_MIN 8 /* CVT counts in cells of 8 pixels */

int32_t kms_mode_refresh_mhz(const drmModeModeInfo *info) {
	uint64_t total = (uint64_t)info->htotal * info->vtotal;
	uint64_t mhz = (uint64_t)info->clock * 1000000u; /* the clock is in kHz */
	if (total == 0) {
		return 0;
	}
	mhz = (mhz + total / 2) / total;
	mhz = info->flags & DRM_MODE_FLAG_INTERLACE ? mhz * 2 : mhz;
	mhz = info->flags & DRM_MODE_FLAG_DBLSCAN ? mhz / 2 : mhz;
	return (int32_t)(info->vscan > 1 ? mhz / info->vscan : mhz);
}

bool kms_mode_compute(drmModeModeInfo *info, int32_t width, int32_t height, int32_t refresh_mhz) {
	double hz = refresh_mhz > 0 ? refresh_mhz / 1000.0 : DEFAULT_HZ;
	if (width < SIZE_MIN || height < SIZE_MIN || width > UINT16_MAX || height > UINT16_MAX ||
			hz < MIN_HZ) {
		return false;
	}
	const struct di_cvt_options options = {
			.red_blank_ver = DI_CVT_REDUCED_BLANKING_NONE,
			.h_pixels = width,
			.v_lines = height,
			.ip_freq_rqd = hz,
	};
	struct di_cvt_timing timing;
	di_cvt_compute(&timing, &options);
	double hsync_start = width + timing.h_front_porch;
	double hsync_end = hsync_start + timing.h_sync;
	double htotal = hsync_end + timing.h_back_porch;
	double vsync_start = height + timing.v_front_porch;
	double vsync_end = vsync_start + timing.v_sync;
	double vtotal = vsync_end + timing.v_back_porch;
	double khz = timing.act_pixel_freq * 1000;
	/* Nothing of the formula's is a number for refreshes that have no time for a line. */
	bool fits = width < hsync_start && hsync_start < hsync_end && hsync_end < htotal &&
			htotal <= UINT16_MAX && height < vsync_start && vsync_start < vsync_end &&
			vsync_end < vtotal && vtotal <= UINT16_MAX && khz >= 1 && khz <= INT32_MAX;
	if (!fits) {
		return false;
	}
	*info = (drmModeModeInfo){
			.clock = (uint32_t)lround(khz),
			.hdisplay = (uint16_t)width,
			.hsync_start = (uint16_t)hsync_start,
			.hsync_end = (uint16_t)hsync_end,
			.htotal = (uint16_t)htotal,
			.vdisplay = (uint16_t)height,
			.vsync_start = (uint16_t)vsync_start,
			.vsync_end = (uint16_t)vsync_end,
			.vtotal = (uint16_t)vtotal,
			.vrefresh = (uint32_t)lround(timing.act_frame_rate),
			.flags = DRM_MODE_FLAG_NHSYNC | DRM_MODE_FLAG_PVSYNC,
			.type = DRM_MODE_TYPE_USERDEF,
	};
	snprintf(info->name, sizeof(info->name), "%dx%d", width, height);
	return true;
}
