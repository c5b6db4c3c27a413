// SPDX-License-Identifier: MIT
/** From memory to a wl_buffer: of which kind, and over which part of the slab. */
#include "buffer_state.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <unistd.h>

static int buffer_check_planes(const struct buffer *buffer) {
	int error = 0;
	for (uint32_t i = 0; i < buffer->picture.layout.plane_count && error == 0; i++) {
		error = picture_check_plane(&buffer->picture, i, buffer->planes[i].slab);
	}
	return error;
}

static uint64_t slot_start(const struct gid_slab_info *info, gid_id gid) {
	return info->offset + gid_slot_of(gid) * info->slot_size;
}

/*
 * A genuine dma-buf buffer. -ENOTSUP: the memory is of another kind, or the renderer does not take
 * it.
 */
static int buffer_make_of_dmabufs(struct buffer *buffer, uint32_t id) {
	const struct gid_layout *layout = &buffer->picture.layout;
	if (!hidden_client_has_dmabuf_format(
		    buffer->module->hidden, layout->fourcc, layout->modifier)) {
		return -ENOTSUP;
	}
	struct hidden_client_dmabuf dmabuf = {
		.width = (int32_t)layout->width,
		.height = (int32_t)layout->height,
		.fourcc = layout->fourcc,
		.modifier = layout->modifier,
		.plane_count = layout->plane_count,
	};
	for (uint32_t i = 0; i < layout->plane_count; i++) {
		struct gid_slab_info info;
		gid_slab_get_info(buffer->planes[i].slab, &info);
		uint64_t offset =
			slot_start(&info, buffer->picture.gids[i]) + layout->planes[i].offset;
		if (info.memory != GID_MEMORY_DMABUF || offset > UINT32_MAX) {
			return -ENOTSUP;
		}
		dmabuf.planes[i].fd = info.fd;
		dmabuf.planes[i].offset = (uint32_t)offset;
		dmabuf.planes[i].stride = layout->planes[i].stride;
	}
	struct wl_resource *resource = hidden_client_create_dmabuf_buffer(
		buffer->module->hidden, buffer->client, id, &dmabuf);
	if (!resource) {
		return -ENOTSUP;
	}
	buffer_set_resource(buffer, resource);
	return 0;
}

/* Whether a wl_shm buffer can show the layout. pixman reads words of four bytes. */
static bool layout_fits_shm(
	const struct module *module, const struct gid_layout *layout, uint64_t offset) {
	return layout->plane_count == 1 && layout->modifier == DRM_FORMAT_MOD_LINEAR &&
		offset % 4 == 0 && layout->planes[0].stride % 4 == 0 &&
		hidden_client_has_shm_format(module->hidden, layout->fourcc);
}

static size_t offset_in_page(uint64_t offset) {
	return offset & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

/* A wl_shm buffer, blank. `offset` is where the picture will begin in its file. */
static int buffer_make_pool(struct buffer *buffer, uint32_t id, uint64_t offset) {
	const struct gid_layout *layout = &buffer->picture.layout;
	uint32_t fourcc = layout->fourcc, stride = layout->planes[0].stride;
	size_t lead = offset_in_page(offset);
	buffer->pool_fits = layout_fits_shm(buffer->module, layout, offset);
	if (!buffer->pool_fits) {
		fourcc = DRM_FORMAT_XRGB8888;
		stride = layout->width * 4;
		lead = 0;
	}
	struct wl_resource *resource = pool_create_buffer(&buffer->pool, buffer->module->hidden,
		buffer->client, id, fourcc, (int32_t)layout->width, (int32_t)layout->height,
		(int32_t)stride, lead);
	if (!resource) {
		return -ENOMEM;
	}
	buffer_set_resource(buffer, resource);
	return 0;
}

/* Shows the memory in the wl_shm buffer, which is made where there is none. */
static int buffer_map(struct buffer *buffer, uint32_t id) {
	const struct gid_layout *layout = &buffer->picture.layout;
	struct gid_slab_info info;
	gid_slab_get_info(buffer->planes[0].slab, &info);
	uint64_t start = slot_start(&info, buffer->picture.gids[0]);
	uint64_t offset = start + layout->planes[0].offset;
	bool existed = buffer->resource != NULL;
	if (!existed) {
		if (!layout_fits_shm(buffer->module, layout, offset)) {
			return -ENOTSUP;
		}
		int error = buffer_make_pool(buffer, id, offset);
		if (error != 0) {
			return error;
		}
	}
	if (!buffer->pool_fits) {
		return -ENOTSUP;
	}
	int error = pool_map(&buffer->pool, info.fd, offset, start + info.slot_size - offset);
	if (error != 0 && !existed && id == 0) {
		buffer_destroy_resource(buffer);
	}
	return error;
}

int buffer_show(struct buffer *buffer, uint32_t id) {
	int error = buffer_check_planes(buffer);
	if (error != 0) {
		return error;
	}
	if (!buffer->resource && buffer_make_of_dmabufs(buffer, id) == 0) {
		return 0;
	}
	return buffer_map(buffer, id);
}

int buffer_make_blank(struct buffer *buffer, uint32_t id) {
	return buffer_make_pool(buffer, id, buffer->picture.layout.planes[0].offset);
}
