// SPDX-License-Identifier: MIT
/**
 * Layouts: where the rows of a picture lie in its slot. Total over any bytes from a peer. And where
 * a box of the picture is seen.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <gid/stream.h>
#include <string.h>

/*
 * Consumers' own interfaces take strides as int32_t (wl_shm, pixman, GStreamer), so a greater one,
 * which only a plane of one row could have, would be read as a negative number there.
 */
#define STRIDE_MAX ((uint32_t)INT32_MAX)

static bool size_is_valid(uint32_t width, uint32_t height) {
	return width >= 1 && width <= GID_SIZE_MAX && height >= 1 && height <= GID_SIZE_MAX;
}

int gid_layout_init(struct gid_layout *layout, uint32_t fourcc, uint32_t width, uint32_t height,
		uint32_t stride_align) {
	const struct gid_format_info *info = gid_format_find(fourcc);
	if (info == NULL) {
		return -ENOTSUP;
	}
	if (!size_is_valid(width, height) || stride_align == 0 ||
			(stride_align & (stride_align - 1)) != 0) {
		return -EINVAL;
	}
	struct gid_layout made = {
			.fourcc = fourcc,
			.modifier = DRM_FORMAT_MOD_LINEAR,
			.width = width,
			.height = height,
			.plane_count = info->plane_count,
	};
	uint64_t end = 0;
	for (uint32_t i = 0; i < info->plane_count; i++) {
		uint64_t row = gid_format_row_bytes(fourcc, i, width);
		uint64_t stride = (row + stride_align - 1) & ~((uint64_t)stride_align - 1);
		if (stride > STRIDE_MAX || end > UINT32_MAX) {
			return -EINVAL;
		}
		made.planes[i].offset = (uint32_t)end;
		made.planes[i].stride = (uint32_t)stride;
		end += stride * gid_format_rows(fourcc, i, height);
	}
	*layout = made;
	return 0;
}

/* Sizes, planes and strides by themselves, without regard to a slot. */
static int check_shape(const struct gid_layout *layout) {
	const struct gid_format_info *info = gid_format_find(layout->fourcc);
	if (info == NULL) {
		return -ENOTSUP;
	}
	if (!size_is_valid(layout->width, layout->height) || layout->reserved != 0 ||
			layout->colours.matrix > GID_COLOUR_MATRIX_MAX ||
			layout->colours.range > GID_RANGE_LIMITED) {
		return -EINVAL;
	}
	if (layout->modifier != DRM_FORMAT_MOD_LINEAR) {
		/* Compression may add planes; only the driver knows what a stride means. */
		bool planes_fit = layout->plane_count >= 1 && layout->plane_count <= GID_PLANES_MAX;
		return planes_fit ? 0 : -EINVAL;
	}
	if (layout->plane_count != info->plane_count) {
		return -EINVAL;
	}
	for (uint32_t i = 0; i < info->plane_count; i++) {
		uint32_t stride = layout->planes[i].stride;
		uint32_t row = gid_format_row_bytes(layout->fourcc, i, layout->width);
		if (stride < row || stride > STRIDE_MAX) {
			return -EINVAL;
		}
	}
	return 0;
}

/* Where the plane's pixels end, in a slot. At most 2^32 + 2^14 * 2^31: does not overflow. */
static uint64_t plane_end(const struct gid_layout *layout, uint32_t plane) {
	uint64_t rows = gid_format_rows(layout->fourcc, plane, layout->height);
	return layout->planes[plane].offset + (rows - 1) * layout->planes[plane].stride +
			gid_format_row_bytes(layout->fourcc, plane, layout->width);
}

int gid_layout_check(const struct gid_layout *layout, uint64_t slot_size) {
	int error = check_shape(layout);
	if (error < 0) {
		return error;
	}
	for (uint32_t i = 0; i < layout->plane_count; i++) {
		bool linear = layout->modifier == DRM_FORMAT_MOD_LINEAR;
		uint64_t end = linear ? plane_end(layout, i)
				      : (uint64_t)layout->planes[i].offset + 1;
		if (end > slot_size) {
			return -ERANGE;
		}
	}
	return 0;
}

uint64_t gid_layout_size(const struct gid_layout *layout) {
	if (check_shape(layout) < 0 || layout->modifier != DRM_FORMAT_MOD_LINEAR) {
		return 0;
	}
	uint64_t size = 0;
	for (uint32_t i = 0; i < layout->plane_count; i++) {
		uint64_t rows = gid_format_rows(layout->fourcc, i, layout->height);
		uint64_t end = layout->planes[i].offset + rows * layout->planes[i].stride;
		size = end > size ? end : size;
	}
	return size;
}

/* --- boxes ------------------------------------------------------------------------------------ */

/* The values of enum wl_output_transform: quarter turns, and from 4 on mirrored as well. */
#define ACROSS 1u /* the bit of those that swap width and height */

static bool mirrors_x(uint32_t transform) {
	return transform == 2 || transform == 3 || transform == 4 || transform == 7;
}

static bool mirrors_y(uint32_t transform) {
	return transform == 1 || transform == 2 || transform == 6 || transform == 7;
}

/* In 64 bits, for a box may lie anywhere. */
static int32_t mirror(uint32_t all, int32_t start, int32_t length) {
	return (int32_t)((int64_t)all - start - length);
}

static void mirror_box(struct gid_box *box, uint32_t width, uint32_t height, uint32_t transform) {
	if (mirrors_x(transform)) {
		box->x = mirror(width, box->x, box->width);
	}
	if (mirrors_y(transform)) {
		box->y = mirror(height, box->y, box->height);
	}
}

static void swap_axes(struct gid_box *box, uint32_t transform) {
	if (transform & ACROSS) {
		*box = (struct gid_box){box->y, box->x, box->height, box->width};
	}
}

struct gid_box gid_box_turn(
		struct gid_box box, uint32_t width, uint32_t height, uint32_t transform) {
	mirror_box(&box, width, height, transform);
	swap_axes(&box, transform);
	return box;
}

struct gid_box gid_box_turn_back(
		struct gid_box box, uint32_t width, uint32_t height, uint32_t transform) {
	swap_axes(&box, transform);
	mirror_box(&box, width, height, transform);
	return box;
}

bool gid_box_is_within(struct gid_box box, uint32_t width, uint32_t height) {
	return box.x >= 0 && box.y >= 0 && box.width >= 0 && box.height >= 0 &&
			(int64_t)box.x + box.width <= width &&
			(int64_t)box.y + box.height <= height;
}

bool gid_box_get_seen(struct gid_box crop, uint32_t width, uint32_t height, struct gid_box *seen) {
	bool is_whole = crop.width == 0 || crop.height == 0;
	*seen = is_whole ? (struct gid_box){0, 0, (int32_t)width, (int32_t)height} : crop;
	return gid_box_is_within(*seen, width, height);
}
