// SPDX-License-Identifier: MIT
/* Formats with and without alpha: the table says which belong together. */
#include "opaque_format.h"

#include <drm_fourcc.h>

#include "tap.h"

int main(void) {
	const struct gid_format_info *info;
	bool kept = true, same = true;
	for (size_t i = 0; (info = gid_format_at(i)) != NULL; i++) {
		const struct gid_format_info *found =
				gid_format_find(format_without_alpha(info->fourcc));
		kept = kept && (info->samples[3].bits > 0 || found == info);
		same = same && found->planes[0].bytes == info->planes[0].bytes &&
				found->samples[0].shift == info->samples[0].shift &&
				found->samples[2].shift == info->samples[2].shift;
	}
	tap_ok(kept, "a format without alpha stays what it is");
	tap_ok(same, "and none has its red and blue, or Y and V, elsewhere without alpha");
	tap_ok(format_without_alpha(DRM_FORMAT_ARGB8888) == DRM_FORMAT_XRGB8888 &&
					format_without_alpha(DRM_FORMAT_RGBA8888) ==
							DRM_FORMAT_RGBX8888 &&
					format_without_alpha(DRM_FORMAT_ABGR2101010) ==
							DRM_FORMAT_XBGR2101010 &&
					format_without_alpha(DRM_FORMAT_ABGR16161616F) ==
							DRM_FORMAT_XBGR16161616F &&
					format_without_alpha(DRM_FORMAT_AYUV) ==
							DRM_FORMAT_XYUV8888,
			"one with alpha becomes its like");
	tap_ok(format_without_alpha(DRM_FORMAT_Y410) == DRM_FORMAT_Y410 &&
					format_without_alpha(0) == 0,
			"what has none stays what it is");
	return tap_finish();
}
