// SPDX-License-Identifier: MIT
#include "shown_formats.h"

#include <drm_fourcc.h>

#include "gid-buffer-v1-protocol.h"
#include "manager.h"
#include "sampled_formats.h"
#include "yuv_formats.h"
#include "yuv_matrix.h"

void shown_formats_init(
		struct shown_formats *formats, struct wlr_renderer *renderer, struct yuv *yuv) {
	formats->renderer = renderer;
	sampled_formats_find(&formats->sampled, renderer);
	yuv_formats_find(&formats->drawn, yuv, renderer);
}

void shown_formats_finish(struct shown_formats *formats) {
	wlr_drm_format_set_finish(&formats->sampled);
	wlr_drm_format_set_finish(&formats->drawn);
}

static const struct wlr_drm_format_set *formats_of_memory(const struct shown_formats *formats) {
	return wlr_renderer_get_texture_formats(formats->renderer, WLR_BUFFER_CAP_DATA_PTR);
}

bool shown_formats_are_read(const struct shown_formats *formats, uint32_t fourcc) {
	const struct wlr_drm_format_set *of_memory = formats_of_memory(formats);
	const struct gid_format_info *info = gid_format_find(fourcc);
	return info != NULL && info->plane_count == 1 && of_memory != NULL &&
			wlr_drm_format_set_get(of_memory, fourcc) != NULL;
}

bool shown_formats_are_of_dmabufs(
		const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier) {
	return wlr_drm_format_set_has(&formats->sampled, fourcc, modifier) ||
			wlr_drm_format_set_has(&formats->drawn, fourcc, modifier);
}

bool shown_formats_have(const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier) {
	return (modifier == DRM_FORMAT_MOD_LINEAR && shown_formats_are_read(formats, fourcc)) ||
			shown_formats_are_of_dmabufs(formats, fourcc, modifier);
}

void shown_formats_get_ways(const struct shown_formats *formats, uint32_t fourcc, uint64_t modifier,
		const struct gid_colours *colours, enum shown_way ways[SHOWN_WAYS]) {
	bool drawn = wlr_drm_format_set_has(&formats->drawn, fourcc, modifier);
	bool sampled_right = wlr_drm_format_set_has(&formats->sampled, fourcc, modifier) &&
			yuv_matrix_is_usual(colours);
	ways[0] = drawn ? SHOWN_DRAWN : SHOWN_SAMPLED;
	ways[1] = drawn && sampled_right ? SHOWN_SAMPLED : SHOWN_NOT;
	if (formats->yuv_by_driver && ways[1] == SHOWN_SAMPLED) {
		ways[0] = SHOWN_SAMPLED;
		ways[1] = SHOWN_DRAWN;
	}
}

static void send_formats_of_memory(
		const struct shown_formats *formats, struct wl_resource *feedback) {
	const struct wlr_drm_format_set *of_memory = formats_of_memory(formats);
	for (size_t i = 0; of_memory != NULL && i < of_memory->len; i++) {
		uint32_t fourcc = of_memory->formats[i].format;
		if (shown_formats_are_read(formats, fourcc)) {
			manager_send_format(feedback, fourcc, DRM_FORMAT_MOD_LINEAR,
					GID_BUFFER_FEEDBACK_V1_MEMORY_SHARED |
							GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF);
		}
	}
}

/* Formats that are only shown from dma-bufs. */
static void send_formats_of_dmabufs(const struct shown_formats *formats,
		const struct wlr_drm_format *format, struct wl_resource *feedback) {
	for (size_t i = 0; i < format->len && gid_format_find(format->format) != NULL; i++) {
		uint64_t modifier = format->modifiers[i];
		if (modifier != DRM_FORMAT_MOD_LINEAR ||
				!shown_formats_are_read(formats, format->format)) {
			manager_send_format(feedback, format->format, modifier,
					GID_BUFFER_FEEDBACK_V1_MEMORY_DMABUF);
		}
	}
}

void shown_formats_send(const struct shown_formats *formats, struct wl_resource *feedback) {
	struct wlr_drm_format_set of_dmabufs = {0};
	wlr_drm_format_set_union(&of_dmabufs, &formats->sampled, &formats->drawn);
	send_formats_of_memory(formats, feedback);
	for (size_t i = 0; i < of_dmabufs.len; i++) {
		send_formats_of_dmabufs(formats, &of_dmabufs.formats[i], feedback);
	}
	wlr_drm_format_set_finish(&of_dmabufs);
}
