// SPDX-License-Identifier: MIT
/* In which order the ways to show a picture in dma-bufs are tried. */
#include "wlroots/shown_formats.h"

#include <drm_fourcc.h>

#include "tap.h"

static const struct gid_colours not_said, bt709 = {.matrix = 1};

static bool are(const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier,
		const struct gid_colours *said, enum shown_way first, enum shown_way second) {
	enum shown_way ways[SHOWN_WAYS];
	shown_formats_get_ways(formats, fourcc, modifier, said, ways);
	return ways[0] == first && ways[1] == second;
}

int main(void) {
	const uint64_t linear = DRM_FORMAT_MOD_LINEAR, tiled = I915_FORMAT_MOD_X_TILED;
	struct shown_formats formats = {0};
	wlr_drm_format_set_add(&formats.drawn, DRM_FORMAT_NV12, linear);
	tap_ok(are(&formats, DRM_FORMAT_NV12, linear, &not_said, SHOWN_DRAWN, SHOWN_NOT),
			"what the driver refuses is drawn");
	tap_ok(are(&formats, DRM_FORMAT_XRGB8888, tiled, &not_said, SHOWN_SAMPLED, SHOWN_NOT),
			"what is no YUV of ours is the renderer's");

	wlr_drm_format_set_add(&formats.sampled, DRM_FORMAT_NV12, linear);
	wlr_drm_format_set_add(&formats.sampled, DRM_FORMAT_NV12, tiled);
	tap_ok(are(&formats, DRM_FORMAT_NV12, linear, &not_said, SHOWN_DRAWN, SHOWN_SAMPLED),
			"what a driver samples is drawn first: so pixels are the same with each");
	tap_ok(are(&formats, DRM_FORMAT_NV12, tiled, &not_said, SHOWN_SAMPLED, SHOWN_NOT),
			"unless only the driver can read it");
	tap_ok(are(&formats, DRM_FORMAT_NV12, linear, &bt709, SHOWN_DRAWN, SHOWN_NOT),
			"other colours are never sampled instead");

	formats.yuv_by_driver = true;
	tap_ok(are(&formats, DRM_FORMAT_NV12, linear, &not_said, SHOWN_SAMPLED, SHOWN_DRAWN),
			"if that is wanted, the driver goes first");
	tap_ok(are(&formats, DRM_FORMAT_NV12, linear, &bt709, SHOWN_DRAWN, SHOWN_NOT),
			"but not for other colours");
	wlr_drm_format_set_finish(&formats.drawn);
	wlr_drm_format_set_finish(&formats.sampled);
	return tap_finish();
}
