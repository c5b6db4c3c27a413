// SPDX-License-Identifier: MIT
#include "plain_memory.h"

#include <drm_fourcc.h>
#include <stdlib.h>
#include <wlr/interfaces/wlr_buffer.h>
#include <wlr/render/drm_format_set.h>
#include <wlr/util/log.h>

#include "versions.h"

struct plain_memory {
	struct wlr_buffer base;
	uint32_t format;
	uint32_t *data;
};

static void handle_destroy(struct wlr_buffer *base) {
	struct plain_memory *memory = wl_container_of(base, memory, base);
	wlr_buffer_finish(base);
	free(memory->data);
	free(memory);
}

static bool handle_begin_access(struct wlr_buffer *base, uint32_t flags, void **data,
		uint32_t *format, size_t *stride) {
	const struct plain_memory *memory = wl_container_of(base, memory, base);
	*data = memory->data;
	*format = memory->format;
	*stride = (size_t)base->width * sizeof(*memory->data);
	return true;
}

static void handle_end_access(struct wlr_buffer *base) {
}

static const struct wlr_buffer_impl buffer_impl = {
		.destroy = handle_destroy,
		.begin_data_ptr_access = handle_begin_access,
		.end_data_ptr_access = handle_end_access,
};

static struct wlr_buffer *create_buffer(struct wlr_allocator *allocator, int width, int height,
		const struct wlr_drm_format *format) {
	if (format->format != DRM_FORMAT_XRGB8888 && format->format != DRM_FORMAT_ARGB8888) {
		wlr_log(WLR_ERROR, "only XRGB8888 and ARGB8888 can be drawn to");
		return NULL;
	}
	struct plain_memory *memory = calloc(1, sizeof(*memory));
	if (memory == NULL) {
		return NULL;
	}
	memory->format = format->format;
	memory->data = calloc((size_t)width * (size_t)height, sizeof(*memory->data));
	if (memory->data == NULL) {
		free(memory);
		return NULL;
	}
	wlr_buffer_init(&memory->base, &buffer_impl, width, height);
	return &memory->base;
}

static void destroy(struct wlr_allocator *allocator) {
	free(allocator);
}

static const struct wlr_allocator_interface allocator_impl = {
		.create_buffer = create_buffer,
		.destroy = destroy,
};

struct wlr_allocator *plain_memory_allocator_create(void) {
	struct wlr_allocator *allocator = calloc(1, sizeof(*allocator));
	if (allocator != NULL) {
		wlr_allocator_init(allocator, &allocator_impl, WLR_BUFFER_CAP_DATA_PTR);
	}
	return allocator;
}
