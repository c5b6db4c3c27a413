// SPDX-License-Identifier: MIT
#include "converter.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <to_rgb.h>

#include "gid-buffer-v1-client-protocol.h"

#define STRIDE_ALIGN 64

static void handle_release(void *data, struct wl_buffer *wl_buffer) {
	struct converted *converted = data;
	struct converter *converter = converted->converter;
	gid_slab_give(converter->slab, converted->slot);
	converter->freed(converter->data);
}

static const struct wl_buffer_listener buffer_listener = {.release = handle_release};

void converter_init(struct converter *converter, const struct wayland *wayland,
		struct gid_domain *domain) {
	*converter = (struct converter){.wayland = wayland, .domain = domain};
}

static void converter_drop_buffers(struct converter *converter) {
	for (uint32_t i = 0; converter->slab != NULL && i < CONVERTER_SLOTS; i++) {
		wl_buffer_destroy(converter->buffers[i].wl_buffer);
		gid_slab_give(converter->slab, i);
	}
}

void converter_finish(struct converter *converter) {
	converter_drop_buffers(converter);
	gid_slab_destroy(converter->slab, false);
	converter->slab = NULL;
}

static void converter_make_buffer(struct converter *converter, uint32_t slot) {
	const struct gid_layout *layout = &converter->layout;
	struct converted *converted = &converter->buffers[slot];
	gid_id gid = gid_slab_gid(converter->slab, slot);
	struct gid_buffer_params_v1 *params =
			gid_buffer_manager_v1_create_params(converter->wayland->gid_buffers);
	gid_buffer_params_v1_add(params, (uint32_t)(gid >> 32), (uint32_t)gid, 0,
			layout->planes[0].offset, layout->planes[0].stride, 0, 0);
	*converted = (struct converted){
			.converter = converter,
			.slot = slot,
			.wl_buffer = gid_buffer_params_v1_create_immed(params,
					(int32_t)layout->width, (int32_t)layout->height,
					layout->fourcc),
	};
	wl_buffer_add_listener(converted->wl_buffer, &buffer_listener, converted);
	gid_buffer_params_v1_destroy(params);
}

/* Creates the wl_buffers by which the compositor maps the slab. */
static void converter_make_buffers(struct converter *converter) {
	converter->number = gid_slab_of(gid_slab_gid(converter->slab, 0));
	for (uint32_t slot = 0; slot < CONVERTER_SLOTS; slot++) {
		converter_make_buffer(converter, slot);
	}
}

/* gidd may have taken the memory back, or moved it. */
static int converter_renew(struct converter *converter) {
	if (gid_slab_renew(converter->slab) < 0) {
		return -EBUSY;
	}
	if (gid_slab_of(gid_slab_gid(converter->slab, 0)) != converter->number) {
		converter_drop_buffers(converter);
		converter_make_buffers(converter);
	}
	return 0;
}

/*
 * Provides memory of this size, with or without alpha. The old buffers stay on the screen until the
 * next commit.
 */
static int converter_make_room(struct converter *converter, const struct gid_layout *picture) {
	uint32_t fourcc = to_rgb_has_alpha(picture->fourcc) ? DRM_FORMAT_ARGB8888
							    : DRM_FORMAT_XRGB8888;
	const struct gid_layout *layout = &converter->layout;
	if (converter->slab != NULL && layout->fourcc == fourcc &&
			layout->width == picture->width && layout->height == picture->height) {
		return converter_renew(converter);
	}
	converter_finish(converter);
	int error = gid_layout_init(
			&converter->layout, fourcc, picture->width, picture->height, STRIDE_ALIGN);
	if (error == 0) {
		error = gid_slab_create(converter->domain, &converter->layout, 0, CONVERTER_SLOTS,
				NULL, &converter->slab);
	}
	if (error == 0) {
		converter_make_buffers(converter);
	}
	return error;
}

bool converter_can(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return to_rgb_can(info.layout.fourcc) && info.layout.modifier == DRM_FORMAT_MOD_LINEAR &&
			gid_layout_check(&info.layout, info.slot_size) == 0;
}

int converter_convert(struct converter *converter, const struct gid_slab *slab, gid_id gid,
		struct wl_buffer **buffer) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	const struct gid_layout *layout = &info.layout;
	bool is_dmabuf = info.memory == GID_MEMORY_DMABUF;
	const void *picture = gid_slab_view(slab, gid_slot_of(gid));
	int ret = picture != NULL ? converter_make_room(converter, layout) : -ESTALE;
	if (ret != 0) {
		return ret;
	}
	int slot = gid_slab_take(converter->slab);
	if (slot < 0) {
		return slot;
	}
	if (is_dmabuf && gid_dmabuf_begin_read(info.fd) != 0) {
		ret = -EBUSY;
		goto error_slot;
	}
	uint8_t *memory = gid_slab_data(converter->slab, (uint32_t)slot);
	size_t stride = converter->layout.planes[0].stride;
	to_rgb(layout, picture, 0, 0, layout->width, layout->height,
			(uint32_t *)(memory + converter->layout.planes[0].offset), stride);
	if (is_dmabuf) {
		gid_dmabuf_end_read(info.fd);
	}
	if (!gid_slab_is_current(slab, gid)) {
		ret = -ESTALE;
		goto error_slot;
	}
	converter->frames++;
	converter->bytes += (uint64_t)layout->width * layout->height * 4;
	*buffer = converter->buffers[slot].wl_buffer;
	return 0;

error_slot:
	gid_slab_give(converter->slab, (uint32_t)slot);
	return ret;
}
