// SPDX-License-Identifier: MIT
#include "picture.h"

#include <drm_fourcc.h>
#include <errno.h>

static uint64_t plane_end(const struct gid_layout *layout, uint32_t plane) {
	if (layout->modifier != DRM_FORMAT_MOD_LINEAR) {
		return (uint64_t)layout->planes[plane].offset + 1; /* only the driver knows more */
	}
	uint64_t rows = gid_format_rows(layout->fourcc, plane, layout->height);
	return layout->planes[plane].offset + (rows - 1) * layout->planes[plane].stride +
			gid_format_row_bytes(layout->fourcc, plane, layout->width);
}

int picture_check_plane(
		const struct picture *picture, uint32_t plane, const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	gid_id gid = picture->gids[plane];
	if (info.revoked || gid_slot_of(gid) >= info.slot_count ||
			!gid_slab_is_current(slab, gid)) {
		return -ENOENT;
	}
	return plane_end(&picture->layout, plane) > info.slot_size ? -ERANGE : 0;
}
