// SPDX-License-Identifier: MIT
#include "role_plane.h"

#include <drm_fourcc.h>
#include <errno.h>

#include "kms_layer.h"

bool role_plane_is_on(const struct role_plane *plane) {
	return plane->place == ROLE_PLACE_PLANE;
}

void role_plane_offer(struct role_plane *plane, struct kms_output *kms, const struct gid_box *box,
		enum role_place why) {
	if (why != ROLE_PLACE_PLANE) {
		role_plane_finish(plane);
		plane->place = why;
		return;
	}
	if (plane->layer == NULL) {
		plane->layer = kms_layer_create(
				kms, box->x, box->y, (uint32_t)box->width, (uint32_t)box->height);
		plane->place = ROLE_PLACE_MEMORY;
	}
}

void role_plane_settle(struct role_plane *plane) {
	static const enum role_place places[] = {
			[KMS_LAYER_ON_PLANE] = ROLE_PLACE_PLANE,
			[KMS_LAYER_UNPLANNED] = ROLE_PLACE_REFUSED,
			[KMS_LAYER_NO_PLANE] = ROLE_PLACE_NO_PLANE,
			[KMS_LAYER_REFUSED] = ROLE_PLACE_REFUSED,
	};
	if (plane->layer != NULL && plane->layer->place != KMS_LAYER_TAKEN) {
		plane->place = places[plane->layer->place];
		plane->stale = true;
	}
}

void role_plane_leave(struct role_plane *plane, enum role_place why) {
	if (role_plane_is_on(plane)) {
		kms_layer_release_plane(plane->layer, why == ROLE_PLACE_COPIED);
		plane->place = why;
	}
}

void role_plane_finish(struct role_plane *plane) {
	kms_layer_destroy(plane->layer);
	plane->layer = NULL;
	plane->place = ROLE_PLACE_OFF;
}

bool role_plane_shows(const struct role_plane *plane, uint64_t colour) {
	return kms_layer_is_shown(plane->layer) && !kms_layer_is_lent(plane->layer) &&
			plane->colour == colour;
}

int role_plane_copy(struct role_plane *plane, const struct own_picture *picture) {
	size_t stride;
	void *target = kms_layer_begin(plane->layer, &stride);
	if (target == NULL) {
		return -EAGAIN;
	}
	plane->colour = 0; /* until it is known what is shown next */
	struct pixels pixels = own_picture_pixels(picture);
	struct pixel_hashes hashes;
	int ret = pixels_copy(&pixels, target, stride, &hashes);
	if (ret != 0) {
		return ret;
	}
	plane->copies++;
	if (hashes.colour != picture->colour) {
		return -EILSEQ;
	}
	kms_layer_submit(plane->layer);
	plane->colour = hashes.colour;
	plane->stale = false;
	return 0;
}

bool role_plane_is_lent(const struct role_plane *plane) {
	return role_plane_is_on(plane) && kms_layer_is_lent(plane->layer);
}

int role_plane_lend(struct role_plane *plane, struct memory_view *frame, uint64_t colour) {
	struct pixel_hashes hashes = {0};
	size_t stride;
	uint32_t format;
	void *data;
	if (!wlr_buffer_begin_data_ptr_access(&frame->base, WLR_BUFFER_DATA_PTR_ACCESS_READ, &data,
			    &format, &stride)) {
		return -EACCES;
	}
	struct pixels pixels = {
			data, (uint32_t)frame->base.width, (uint32_t)frame->base.height, stride};
	int ret = pixels_hash(&pixels, &hashes, NULL);
	wlr_buffer_end_data_ptr_access(&frame->base);
	if (ret != 0) {
		return ret;
	}
	if (hashes.colour != colour) {
		return -EILSEQ;
	}
	ret = kms_layer_lend(plane->layer, &frame->base, &frame->dmabuf);
	if (ret == 0) {
		plane->lent++;
		plane->colour = colour;
		plane->stale = false;
	}
	return ret;
}

const char *role_place_name(enum role_place place) {
	static const char *const names[] = {
			[ROLE_PLACE_PLANE] = "",
			[ROLE_PLACE_OFF] = "off",
			[ROLE_PLACE_OVERLAP] = "overlap",
			[ROLE_PLACE_OFF_OUTPUT] = "off-output",
			[ROLE_PLACE_MEMORY] = "memory",
			[ROLE_PLACE_NO_PLANE] = "no-plane",
			[ROLE_PLACE_REFUSED] = "refused",
			[ROLE_PLACE_COPIED] = "copied",
			[ROLE_PLACE_DIFFERED] = "differed",
	};
	return names[place];
}
