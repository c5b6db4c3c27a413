// SPDX-License-Identifier: MIT
#include "view.h"

#include <wlr/version.h>

#define WLROOTS_VERSION (WLR_VERSION_MAJOR * 1000 + WLR_VERSION_MINOR)

static void handle_destroy(struct wlr_buffer *buffer) {
	struct view *view = wl_container_of(buffer, view, base);
#if WLROOTS_VERSION >= 19
	wlr_buffer_finish(buffer);
#endif
	view->destroyed(view);
}

static bool handle_begin_access(
	struct wlr_buffer *buffer, uint32_t flags, void **data, uint32_t *format, size_t *stride) {
	struct view *view = wl_container_of(buffer, view, base);
	if (view->data == NULL || (flags & WLR_BUFFER_DATA_PTR_ACCESS_WRITE)) {
		return false;
	}
	*data = (void *)view->data; /* to be read only, as `flags` say */
	*format = view->fourcc;
	*stride = view->stride;
	return true;
}

static void handle_end_access(struct wlr_buffer *buffer) {
}

static const struct wlr_buffer_impl view_impl = {
	.destroy = handle_destroy,
	.begin_data_ptr_access = handle_begin_access,
	.end_data_ptr_access = handle_end_access,
};

void view_init(struct view *view, const void *data, uint32_t fourcc, uint32_t width,
	uint32_t height, size_t stride, void (*destroyed)(struct view *view)) {
	*view = (struct view){
		.data = data,
		.fourcc = fourcc,
		.stride = stride,
		.destroyed = destroyed,
	};
	wlr_buffer_init(&view->base, &view_impl, (int)width, (int)height);
}

bool view_is_instance(const struct wlr_buffer *buffer) {
	return buffer->impl == &view_impl;
}
