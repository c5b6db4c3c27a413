// SPDX-License-Identifier: MIT
#include "memory_view.h"

#include <gid/domain.h>
#include <wlr/render/drm_format_set.h>
#include <wlr/render/wlr_texture.h>

#include "versions.h"
#include "yuv.h"

static void handle_destroy(struct wlr_buffer *buffer) {
	struct memory_view *view = wl_container_of(buffer, view, base);
	wlr_buffer_finish(buffer);
	yuv_picture_destroy(view->yuv);
	view->destroyed(view);
}

/*
 * The renderer requests the dma-bufs when it is about to sample them, at a commit of the client. It
 * requests them again while it draws into them: then they are not stale any more.
 */
static bool handle_get_dmabuf(struct wlr_buffer *buffer, struct wlr_dmabuf_attributes *dmabuf) {
	struct memory_view *view = wl_container_of(buffer, view, base);
	*dmabuf = view->dmabuf;
	if (view->sampled && view->stale) {
		view->stale = false;
		view->stale = !yuv_picture_draw(view->yuv, buffer);
	}
	return view->sampled && !view->stale;
}

static bool handle_begin_access(struct wlr_buffer *buffer, uint32_t flags, void **data,
		uint32_t *format, size_t *stride) {
	struct memory_view *view = wl_container_of(buffer, view, base);
	if (view->data == NULL || (flags & WLR_BUFFER_DATA_PTR_ACCESS_WRITE)) {
		return false;
	}
	/* Does not wait for a device that still draws: the surface keeps the picture it has. */
	if (view->dmabuf.n_planes > 0 && gid_dmabuf_begin_read(view->dmabuf.fd[0]) != 0) {
		return false;
	}
	*data = (void *)view->data; /* only for reading, as `flags` say */
	*format = view->fourcc;
	*stride = view->stride;
	return true;
}

static void handle_end_access(struct wlr_buffer *buffer) {
	const struct memory_view *view = wl_container_of(buffer, view, base);
	if (view->dmabuf.n_planes > 0) {
		gid_dmabuf_end_read(view->dmabuf.fd[0]);
	}
}

static const struct wlr_buffer_impl memory_view_impl = {
		.destroy = handle_destroy,
		.get_dmabuf = handle_get_dmabuf,
		.begin_data_ptr_access = handle_begin_access,
		.end_data_ptr_access = handle_end_access,
};

void memory_view_init(struct memory_view *view, const void *data, uint32_t fourcc, uint32_t width,
		uint32_t height, size_t stride, void (*destroyed)(struct memory_view *view)) {
	*view = (struct memory_view){
			.data = data,
			.fourcc = fourcc,
			.stride = stride,
			.destroyed = destroyed,
	};
	wlr_buffer_init(&view->base, &memory_view_impl, (int)width, (int)height);
}

bool memory_view_set_dmabuf(struct memory_view *view, const struct wlr_dmabuf_attributes *dmabuf,
		struct wlr_renderer *renderer) {
	const struct wlr_drm_format_set *formats =
			wlr_renderer_get_texture_formats(renderer, WLR_BUFFER_CAP_DMABUF);
	view->dmabuf = *dmabuf;
	view->sampled = formats != NULL &&
			wlr_drm_format_set_has(formats, dmabuf->format, dmabuf->modifier);
	if (view->sampled) {
		/*
		 * A driver may refuse what its formats promise, such as memory of another device.
		 */
		struct wlr_texture *texture = wlr_texture_from_buffer(renderer, &view->base);
		view->sampled = texture != NULL;
		wlr_texture_destroy(texture);
	}
	return view->sampled;
}

bool memory_view_set_yuv(struct memory_view *view, const struct wlr_dmabuf_attributes *planes,
		const struct gid_colours *colours, struct yuv *yuv, struct wlr_renderer *renderer) {
	struct wlr_dmabuf_attributes drawn;
	view->yuv = yuv_picture_create(yuv, planes, colours);
	if (view->yuv == NULL) {
		return false;
	}
	memory_view_set_stale(view);
	if (!yuv_picture_get_drawn(view->yuv, &drawn) ||
			!memory_view_set_dmabuf(view, &drawn, renderer)) {
		memory_view_forget_dmabuf(view);
		return false;
	}
	return true;
}

void memory_view_set_stale(struct memory_view *view) {
	view->stale = view->yuv != NULL;
}

void memory_view_forget_dmabuf(struct memory_view *view) {
	yuv_picture_destroy(view->yuv);
	view->yuv = NULL;
	view->stale = false;
	view->dmabuf = (struct wlr_dmabuf_attributes){0};
	view->sampled = false;
}
