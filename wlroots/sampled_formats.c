// SPDX-License-Identifier: MIT
#include "sampled_formats.h"

#include <drm_fourcc.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wlr/util/log.h>

#include "dmabuf_create.h"
#include "memory_view.h"

#define SIZE 64u	  /* in pixels, both ways */
#define STRIDE_ALIGN 64u  /* in bytes */
#define MEMORY (1u << 18) /* enough for a picture of any format: 8 bytes a pixel, 4 planes */

struct trial {
	struct wlr_renderer *renderer;
	struct wlr_drm_format_set *found;
	int fd; /* of the dma-buf */
	bool any_taken;
	char refused[256]; /* for the log */
};

static void handle_view_destroyed(struct memory_view *view) {
}

/* Only the driver knows the layouts of other modifiers. */
static bool is_plain(uint64_t modifier) {
	return modifier == DRM_FORMAT_MOD_LINEAR || modifier == DRM_FORMAT_MOD_INVALID;
}

static bool try_import(const struct trial *trial, uint32_t fourcc, uint64_t modifier) {
	struct gid_layout layout;
	if (gid_layout_init(&layout, fourcc, SIZE, SIZE, STRIDE_ALIGN) != 0 ||
			gid_layout_size(&layout) > MEMORY) {
		return false;
	}
	struct wlr_dmabuf_attributes dmabuf = {
			.width = SIZE,
			.height = SIZE,
			.format = fourcc,
			.modifier = modifier,
			.n_planes = (int)layout.plane_count,
	};
	for (uint32_t i = 0; i < layout.plane_count; i++) {
		dmabuf.fd[i] = trial->fd;
		dmabuf.offset[i] = layout.planes[i].offset;
		dmabuf.stride[i] = layout.planes[i].stride;
	}
	struct memory_view view;
	memory_view_init(&view, NULL, fourcc, SIZE, SIZE, layout.planes[0].stride,
			handle_view_destroyed);
	bool taken = memory_view_set_dmabuf(&view, &dmabuf, trial->renderer);
	wlr_buffer_drop(&view.base);
	return taken;
}

static void trial_note_refusal(struct trial *trial, uint32_t fourcc) {
	const uint32_t letters = htole32(fourcc);
	size_t length = strlen(trial->refused);
	snprintf(trial->refused + length, sizeof(trial->refused) - length, " %.4s",
			(const char *)&letters);
}

static bool has_modifier(const struct wlr_drm_format *format, uint64_t modifier) {
	for (size_t i = 0; i < format->len; i++) {
		if (format->modifiers[i] == modifier) {
			return true;
		}
	}
	return false;
}

/*
 * One import for each format, as drivers log each refusal. An import without modifier would have
 * the same result.
 */
static bool trial_passes(struct trial *trial, const struct wlr_drm_format *format) {
	bool linear = has_modifier(format, DRM_FORMAT_MOD_LINEAR);
	if (gid_format_find(format->format) == NULL ||
			(!linear && !has_modifier(format, DRM_FORMAT_MOD_INVALID))) {
		return true;
	}
	bool taken = try_import(trial, format->format,
			linear ? DRM_FORMAT_MOD_LINEAR : DRM_FORMAT_MOD_INVALID);
	if (!taken) {
		trial_note_refusal(trial, format->format);
	}
	trial->any_taken = trial->any_taken || taken;
	return taken;
}

static void trial_run(struct trial *trial, const struct wlr_drm_format *format) {
	bool passes = trial_passes(trial, format);
	for (size_t i = 0; i < format->len; i++) {
		if (passes || !is_plain(format->modifiers[i])) {
			wlr_drm_format_set_add(trial->found, format->format, format->modifiers[i]);
		}
	}
}

void sampled_formats_find(struct wlr_drm_format_set *found, struct wlr_renderer *renderer) {
	*found = (struct wlr_drm_format_set){0};
	const struct wlr_drm_format_set *said =
			wlr_renderer_get_texture_formats(renderer, WLR_BUFFER_CAP_DMABUF);
	if (said == NULL) {
		return;
	}
	struct trial trial = {.renderer = renderer,
			.found = found,
			.fd = dmabuf_create_filled(MEMORY, 0)};
	if (trial.fd < 0) {
		wlr_drm_format_set_union(found, said, said);
		return;
	}
	wlr_log(WLR_INFO,
			"gid: probing which formats the renderer samples from dma-bufs; ignore "
			"errors of its driver up to the next line that begins with 'gid:'");
	for (size_t i = 0; i < said->len; i++) {
		trial_run(&trial, &said->formats[i]);
	}
	close(trial.fd);
	if (!trial.any_taken) { /* the renderer does not import this memory at all */
		wlr_drm_format_set_finish(found);
		wlr_drm_format_set_union(found, said, said);
	}
	wlr_log(WLR_INFO, "gid: formats that it offers and refuses:%s",
			trial.any_taken && trial.refused[0] != '\0' ? trial.refused : " none");
}
