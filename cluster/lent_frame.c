// SPDX-License-Identifier: MIT
#include "lent_frame.h"

#include <drm_fourcc.h>
#include <stdlib.h>
#include <wayland-server-protocol.h>

#include "examiner.h"

bool lent_frame_is_possible(const struct gid_frame *frame, const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.memory == GID_MEMORY_DMABUF && examiner_is_words(&info.layout) &&
			info.offset == 0 && info.layout.planes[0].offset == 0 &&
			gid_slot_of(frame->gid) == 0 && frame->crop.x == 0 && frame->crop.y == 0 &&
			frame->transform == WL_OUTPUT_TRANSFORM_NORMAL;
}

static void handle_destroyed(struct memory_view *view) {
	struct lent_frame *lent = wl_container_of(view, lent, view);
	if (lent->consumer != NULL) {
		gid_consumer_release(lent->consumer, &lent->frame);
	}
	wl_list_remove(&lent->link);
	gid_slab_unref(lent->slab);
	free(lent);
}

struct lent_frame *lent_frame_create(struct wl_list *list, struct gid_consumer *consumer,
		const struct gid_frame *frame, struct gid_slab *slab, uint32_t width,
		uint32_t height) {
	struct gid_slab_info info;
	struct lent_frame *lent = calloc(1, sizeof(*lent));
	if (lent == NULL) {
		return NULL;
	}
	gid_slab_get_info(slab, &info);
	uint32_t stride = info.layout.planes[0].stride;
	memory_view_init(&lent->view, gid_slab_view_untouched(slab, 0), DRM_FORMAT_XRGB8888, width,
			height, stride, handle_destroyed);
	lent->view.dmabuf = (struct wlr_dmabuf_attributes){
			.width = (int32_t)width,
			.height = (int32_t)height,
			.format = DRM_FORMAT_XRGB8888,
			.modifier = DRM_FORMAT_MOD_LINEAR,
			.n_planes = 1,
			.stride = {stride},
			.fd = {info.fd},
	};
	lent->consumer = consumer;
	lent->slab = gid_slab_ref(slab);
	lent->frame = *frame;
	wl_list_insert(list, &lent->link);
	return lent;
}

void lent_frame_drop(struct lent_frame *lent) {
	if (lent != NULL) {
		wlr_buffer_drop(&lent->view.base);
	}
}

void lent_frame_forget_consumer(struct wl_list *list) {
	struct lent_frame *lent, *next;
	wl_list_for_each_safe(lent, next, list, link) {
		lent->consumer = NULL;
		wl_list_remove(&lent->link);
		wl_list_init(&lent->link);
	}
}
