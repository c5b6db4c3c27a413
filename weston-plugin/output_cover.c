// SPDX-License-Identifier: MIT
#include "output_cover.h"

#include <drm_fourcc.h>
#include <gid/domain.h>
#include <math.h>

#include "libweston_exports.h"
#include "weston_buffer.h"

static pixman_region_overlap_t overlap(
		pixman_region32_t *region, const struct weston_output *output) {
	pixman_box32_t all = *pixman_region32_extents(&output->region);
	return pixman_region32_contains_rectangle(region, &all);
}

/*
 * Returns the topmost view on the output, even if others below it are visible. Weston lists views
 * from the top to the bottom.
 */
static struct weston_view *find_highest(const struct weston_output *output) {
	struct weston_view *view;
	wl_list_for_each(view, &output->compositor->view_list, link) {
		if ((view->output_mask & (1u << output->id)) != 0 &&
				overlap(&view->transform.boundingbox, output) !=
						PIXMAN_REGION_OUT) {
			return view;
		}
	}
	return NULL;
}

static bool is_whole(double value) {
	return value == nearbyint(value) && fabs(value) <= GID_SIZE_MAX;
}

/*
 * Finds the part of the buffer that the output shows. Returns whether it shows that pixel by pixel.
 * Evaluates the matrix at three points, as its struct differs between versions of libweston.
 */
static bool find_crop(const struct weston_view *view, const struct weston_output *output,
		struct gid_box *crop) {
	struct weston_matrix matrix;
	const double far = 4096;
	weston_view_buffer_to_output_matrix(view, output, &matrix);
	struct weston_coord origin = weston_matrix_transform_coord(&matrix, weston_coord(0, 0));
	struct weston_coord right = weston_matrix_transform_coord(&matrix, weston_coord(far, 0));
	struct weston_coord down = weston_matrix_transform_coord(&matrix, weston_coord(0, far));
	if (!is_whole(origin.x) || !is_whole(origin.y) || right.x - origin.x != far ||
			right.y != origin.y || down.x != origin.x || down.y - origin.y != far) {
		return false;
	}
	*crop = (struct gid_box){(int32_t)-origin.x, (int32_t)-origin.y,
			output->current_mode->width, output->current_mode->height};
	return true;
}

/* Finds the memory of its buffer. Returns NULL, or why it cannot be lent. */
static const char *find_memory(const struct weston_surface *surface,
		const struct gid_domain *domain, struct output_cover *cover) {
	struct weston_buffer *buffer = surface->buffer_ref.buffer;
	struct buffer_memory memory;
	if (buffer == NULL || buffer->resource == NULL || buffer->type != WESTON_BUFFER_SHM ||
			buffer->busy_count == 0 || !buffer_get_memory(buffer->resource, &memory)) {
		return "its buffer is not made of gids";
	}
	if (memory.slab == NULL || !gid_slab_is_current(memory.slab, memory.gid)) {
		return "its memory is not there";
	}
	struct gid_slab_info info;
	gid_slab_get_info(memory.slab, &info);
	if (!buffer_memory_can_be_lent(&memory, domain) || info.memory == GID_MEMORY_DMABUF) {
		return "its memory cannot be lent";
	}
	if (memory.layout->fourcc != DRM_FORMAT_XRGB8888 ||
			info.layout.fourcc != DRM_FORMAT_XRGB8888) {
		return "it is not XRGB8888";
	}
	if (!gid_box_is_within(cover->crop, info.layout.width, info.layout.height)) {
		return "it leaves its buffer";
	}
	cover->buffer = buffer;
	cover->gid = memory.gid;
	cover->slab = memory.slab;
	return NULL;
}

const char *output_cover_find(struct weston_output *output, const struct gid_domain *domain,
		struct output_cover *cover) {
	struct weston_view *view = find_highest(output);
	if (view == NULL) {
		return "nothing is there";
	}
	const struct weston_surface *surface = view->surface;
	if (overlap(&view->transform.opaque, output) != PIXMAN_REGION_IN || !surface->is_opaque ||
			view->geometry.scissor_enabled) {
		return "the highest window does not cover it, or lets something through";
	}
	if (surface->resource == NULL || surface->desired_protection != WESTON_HDCP_DISABLE) {
		return "the highest window is nobody's, or protected";
	}
	if (!find_crop(view, output, &cover->crop)) {
		return "the highest window is scaled or turned";
	}
	cover->client = wl_resource_get_client(surface->resource);
	return find_memory(surface, domain, cover);
}
