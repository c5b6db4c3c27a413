// SPDX-License-Identifier: MIT
#include "picture.h"

#include <drm_fourcc.h>
#include <errno.h>

#include "memory_pages.h"

static uint64_t plane_end(const struct gid_layout *layout, uint32_t plane) {
	if (layout->modifier != DRM_FORMAT_MOD_LINEAR) {
		return (uint64_t)layout->planes[plane].offset + 1; /* only the driver knows more */
	}
	uint64_t rows = gid_format_rows(layout->fourcc, plane, layout->height);
	return layout->planes[plane].offset + (rows - 1) * layout->planes[plane].stride +
			gid_format_row_bytes(layout->fourcc, plane, layout->width);
}

/*
 * How far a renderer may read: it maps whole rows, of which the last one may be longer than its
 * pixels.
 */
static uint64_t rows_end(const struct gid_layout *layout, uint32_t plane) {
	uint64_t rows = gid_format_rows(layout->fourcc, plane, layout->height);
	return layout->planes[plane].offset + rows * layout->planes[plane].stride;
}

/*
 * Reading a missing page would allocate it, charged to the compositor for as long as the owner
 * keeps the file. The range is that of the picture, since a stranger chooses how large the slot is.
 */
static int check_pages(const struct picture *picture, uint32_t plane, const struct gid_slab *slab,
		const struct gid_slab_info *info) {
	const uint64_t begin = picture->layout.planes[plane].offset;
	const uint64_t end = rows_end(&picture->layout, plane);
	const uint32_t slot = gid_slot_of(picture->gids[plane]);
	const char *view = gid_slab_view_untouched(slab, slot);
	if (info->memory != GID_MEMORY_MEMFD) {
		return 0;
	}
	return gid_memory_check_pages(info->fd, info->offset + slot * info->slot_size + begin,
			(end < info->slot_size ? end : info->slot_size) - begin,
			view != NULL ? view + begin : NULL);
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
	return plane_end(&picture->layout, plane) > info.slot_size
			? -ERANGE
			: check_pages(picture, plane, slab, &info);
}
