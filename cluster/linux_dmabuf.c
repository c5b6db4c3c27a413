// SPDX-License-Identifier: MIT
#include "linux_dmabuf.h"

#include <wlr/types/wlr_linux_dmabuf_v1.h>

#include "sampled_formats.h"

static void tranche_keep(struct wlr_linux_dmabuf_feedback_v1_tranche *tranche,
		const struct wlr_drm_format_set *formats) {
	struct wlr_drm_format_set kept = {0};
	wlr_drm_format_set_intersect(&kept, &tranche->formats, formats);
	wlr_drm_format_set_finish(&tranche->formats);
	tranche->formats = kept;
}

bool linux_dmabuf_offer(struct wl_display *wayland, struct wlr_renderer *renderer) {
	const struct wlr_linux_dmabuf_feedback_v1_init_options options = {
			.main_renderer = renderer,
	};
	struct wlr_linux_dmabuf_feedback_v1 feedback;
	if (wlr_renderer_get_texture_formats(renderer, WLR_BUFFER_CAP_DMABUF) == NULL ||
			wlr_renderer_get_drm_fd(renderer) < 0) {
		return true;
	}
	if (!wlr_linux_dmabuf_feedback_v1_init_with_options(&feedback, &options)) {
		return false;
	}
	struct wlr_drm_format_set sampled;
	sampled_formats_find(&sampled, renderer);
	struct wlr_linux_dmabuf_feedback_v1_tranche *tranche;
	wl_array_for_each(tranche, &feedback.tranches) {
		tranche_keep(tranche, &sampled);
	}
	bool made = wlr_linux_dmabuf_v1_create(wayland, 4, &feedback) != NULL;
	wlr_drm_format_set_finish(&sampled);
	wlr_linux_dmabuf_feedback_v1_finish(&feedback);
	return made;
}
