// SPDX-License-Identifier: MIT
#include "kms_layer.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wlr/util/log.h>
#include <xf86drmMode.h>

#include "kms_device.h"
#include "kms_plan.h"
#include "kms_request.h"

#define LENT KMS_LAYER_PICTURES /* in place of a picture's index */
#define TEST (DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_ATOMIC_NONBLOCK)

/* --- pictures --------------------------------------------------------------------------------- */

struct kms_layer *kms_layer_create(
		struct kms_output *output, int32_t x, int32_t y, uint32_t width, uint32_t height) {
	struct kms_layer *layer = calloc(1, sizeof(*layer));
	if (layer == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	*layer = (struct kms_layer){
			.output = output,
			.place = KMS_LAYER_UNPLANNED,
			.x = x,
			.y = y,
			.shown = -1,
			.next = -1,
			.written = -1,
			.fence = -1,
	};
	wl_list_insert(output->layers.prev, &layer->link);
	for (int i = 0; i < KMS_LAYER_PICTURES; i++) {
		int ret = kms_dumb_init(&layer->pictures[i], output->device->fd, width, height);
		if (ret != 0) {
			kms_layer_destroy(layer);
			errno = -ret;
			return NULL;
		}
	}
	return layer;
}

static void set_lent(struct wlr_buffer **place, struct wlr_buffer *buffer) {
	struct wlr_buffer *before = *place;
	*place = buffer != NULL ? wlr_buffer_lock(buffer) : NULL;
	wlr_buffer_unlock(before);
}

/* It has no picture, on the screen or for the next commit. */
static void layer_show_none(struct kms_layer *layer) {
	layer->shown = layer->next = -1;
	set_lent(&layer->lent_next, NULL);
	set_lent(&layer->lent_shown, NULL);
	set_lent(&layer->lent_before, NULL);
}

void kms_layer_destroy(struct kms_layer *layer) {
	if (layer == NULL) {
		return;
	}
	layer_show_none(layer);
	set_lent(&layer->lent_written, NULL);
	if (layer->fence >= 0) {
		close(layer->fence);
	}
	wl_list_remove(&layer->link);
	for (int i = 0; i < KMS_LAYER_PICTURES; i++) {
		kms_dumb_finish(&layer->pictures[i]);
	}
	free(layer);
}

/* The picture that the device does not read. */
static int free_picture(const struct kms_layer *layer) {
	int i = 0;
	while (i == layer->shown || i == layer->written) {
		i++;
	}
	return i;
}

void *kms_layer_begin(struct kms_layer *layer, size_t *stride) {
	if (layer->output == NULL || layer->output->flipping) {
		return NULL;
	}
	struct kms_dumb *picture = &layer->pictures[free_picture(layer)];
	/*
	 * Until kms_layer_submit() the next commit shows what is on the screen: this one may be
	 * half written.
	 */
	layer->next = layer->shown;
	set_lent(&layer->lent_next, layer->lent_shown);
	*stride = picture->stride;
	return picture->data;
}

void kms_layer_submit(struct kms_layer *layer) {
	layer->next = free_picture(layer);
	set_lent(&layer->lent_next, NULL);
}

static bool has_news(const struct kms_layer *layer) {
	return layer->next != layer->shown || layer->lent_next != layer->lent_shown;
}

bool kms_layer_is_shown(const struct kms_layer *layer) {
	return layer->plane != NULL && layer->next >= 0 && !has_news(layer);
}

bool kms_layer_is_lent(const struct kms_layer *layer) {
	return layer->next == LENT;
}

/* The framebuffer that the next commit shows; 0: none. */
static uint32_t layer_fb(const struct kms_layer *layer) {
	struct kms_device *device = layer->output->device;
	if (layer->next == LENT) {
		return kms_fb_of_buffer(&device->fbs, device->fd, layer->lent_next);
	}
	return layer->next >= 0 ? layer->pictures[layer->next].id : 0;
}

/* --- planes ----------------------------------------------------------------------------------- */

static uint64_t zpos_above(
		const struct kms_output *output, const struct kms_plane *plane, size_t i) {
	uint64_t wanted = output->primary->zpos + 1 + i;
	return wanted < plane->zpos_max ? wanted : plane->zpos_max;
}

static void add_layer(struct kms_request *request, const struct kms_output *output,
		const struct kms_layer *layer, const struct kms_plane *plane, size_t i,
		uint32_t fb) {
	const struct kms_dumb *size = &layer->pictures[0];
	kms_request_show(request, plane, output->crtc->id, fb, layer->x, layer->y, size->width,
			size->height);
	if (plane->has_zpos && !plane->zpos_is_fixed) {
		kms_request_set(request, plane->id, plane->properties[KMS_PLANE_ZPOS],
				zpos_above(output, plane, i));
	}
}

/* Without IN_FENCE_FD the commit fails, and the plane shows no lent buffer. */
static void add_fence(struct kms_request *request, const struct kms_layer *layer) {
	kms_request_set(request, layer->plane->id, layer->plane->properties[KMS_PLANE_IN_FENCE_FD],
			(uint64_t)layer->fence);
}

static size_t index_of(const struct kms_layer *layer) {
	const struct kms_layer *other;
	size_t i = 0;
	wl_list_for_each(other, &layer->output->layers, link) {
		if (other == layer) {
			break;
		}
		i++;
	}
	return i;
}

int kms_layer_lend(struct kms_layer *layer, struct wlr_buffer *buffer,
		const struct wlr_dmabuf_attributes *dmabuf) {
	struct kms_output *output = layer->output;
	if (output == NULL || output->flipping) {
		return -EAGAIN;
	}
	struct kms_device *device = output->device;
	if (layer->fence < 0) {
		layer->fence = kms_dumb_get_fence(&layer->pictures[0]);
	}
	if (layer->fence < 0) {
		return layer->fence;
	}
	uint32_t fb = kms_fb_of_dmabuf(&device->fbs, device->fd, buffer, dmabuf);
	if (fb == 0) {
		return -errno;
	}
	struct kms_request *request = &device->request;
	kms_request_begin(request);
	add_layer(request, output, layer, layer->plane, index_of(layer), fb);
	add_fence(request, layer);
	int error = kms_request_commit(request, device->fd, TEST, NULL);
	if (error == 0) {
		layer->next = LENT;
		set_lent(&layer->lent_next, buffer);
	}
	return error;
}

/* An overlay plane for the output's CRTC, above the primary plane, which no other output has. */
static bool is_usable(const struct kms_output *output, const struct kms_plane *plane) {
	uint64_t primary = output->primary->has_zpos ? output->primary->zpos : 0;
	bool above = !plane->has_zpos || !output->primary->has_zpos ||
			(plane->zpos_is_fixed ? plane->zpos : plane->zpos_max) > primary;
	return plane->type == DRM_PLANE_TYPE_OVERLAY && above &&
			(plane->output == NULL || plane->output == output) &&
			(plane->possible_crtcs & (UINT32_C(1) << output->crtc->index)) &&
			wlr_drm_format_set_get(&plane->formats, DRM_FORMAT_XRGB8888) != NULL;
}

#define PLANES_MAX 64
#define LAYERS_MAX 64

struct plan {
	struct kms_output *output;
	struct kms_plane *planes[PLANES_MAX];
	size_t plane_count;
	struct kms_layer *layers[LAYERS_MAX];
	size_t layer_count;
};

static bool plan_is_taken(void *data, const int *choice, size_t layers) {
	struct plan *plan = data;
	struct kms_request *request = &plan->output->device->request;
	kms_request_begin(request);
	for (size_t plane = 0; plane < plan->plane_count; plane++) {
		size_t i = 0;
		while (i < layers && choice[i] != (int)plane) {
			i++;
		}
		if (i < layers) {
			add_layer(request, plan->output, plan->layers[i], plan->planes[plane], i,
					plan->layers[i]->pictures[0].id);
		} else {
			kms_request_hide(request, plan->planes[plane]);
		}
	}
	return kms_request_commit(request, plan->output->device->fd, TEST, NULL) == 0;
}

void kms_layers_plan(struct kms_output *output) {
	struct kms_objects *objects = &output->device->objects;
	struct plan plan = {.output = output};
	for (size_t i = 0; i < objects->plane_count && plan.plane_count < PLANES_MAX; i++) {
		if (is_usable(output, &objects->planes[i])) {
			plan.planes[plan.plane_count++] = &objects->planes[i];
		}
	}
	struct kms_layer *layer;
	wl_list_for_each(layer, &output->layers, link) {
		if (layer->place != KMS_LAYER_TAKEN && plan.layer_count < LAYERS_MAX) {
			plan.layers[plan.layer_count++] = layer;
		}
	}
	int choice[LAYERS_MAX];
	kms_plan_choose(choice, plan.layer_count, plan.plane_count, plan_is_taken, &plan);
	for (size_t i = 0; i < plan.layer_count; i++) {
		layer = plan.layers[i];
		layer->plane = choice[i] >= 0 ? plan.planes[choice[i]] : NULL;
		layer->place = choice[i] >= 0			? KMS_LAYER_ON_PLANE
				: choice[i] == KMS_PLAN_REFUSED ? KMS_LAYER_REFUSED
								: KMS_LAYER_NO_PLANE;
		if (layer->plane != NULL) {
			layer->plane->output = output;
		}
	}
}

bool kms_layers_have_plane(const struct kms_output *output) {
	const struct kms_layer *layer;
	wl_list_for_each(layer, &output->layers, link) {
		if (layer->plane != NULL) {
			return true;
		}
	}
	return false;
}

bool kms_layers_have_news(const struct kms_output *output) {
	const struct kms_layer *layer;
	wl_list_for_each(layer, &output->layers, link) {
		if (layer->plane != NULL && has_news(layer)) {
			return true;
		}
	}
	return false;
}

void kms_layer_release_plane(struct kms_layer *layer, bool may_return) {
	if (layer->next == LENT) {
		layer->next = -1;
		set_lent(&layer->lent_next, NULL);
	}
	layer->plane = NULL;
	layer->place = may_return ? KMS_LAYER_UNPLANNED : KMS_LAYER_TAKEN;
}

/* --- commits ---------------------------------------------------------------------------------- */

static bool is_overlay_of(const struct kms_plane *plane, const struct kms_output *output) {
	return plane->output == output && plane != output->primary;
}

void kms_layers_add_hidden(struct kms_output *output, struct kms_request *request) {
	struct kms_objects *objects = &output->device->objects;
	for (size_t i = 0; i < objects->plane_count; i++) {
		if (is_overlay_of(&objects->planes[i], output)) {
			kms_request_hide(request, &objects->planes[i]);
		}
	}
}

/* Sets each plane once: libdrm does not specify what a property means that is set twice. */
static void add_plane(struct kms_output *output, struct kms_request *request,
		const struct kms_plane *plane) {
	const struct kms_layer *layer;
	size_t i = 0;
	wl_list_for_each(layer, &output->layers, link) {
		uint32_t fb = layer->plane == plane ? layer_fb(layer) : 0;
		if (fb != 0) {
			add_layer(request, output, layer, plane, i, fb);
			if (layer->next == LENT) {
				add_fence(request, layer);
			}
			return;
		}
		i++;
	}
	kms_request_hide(request, plane);
}

void kms_layers_add(struct kms_output *output, struct kms_request *request) {
	struct kms_objects *objects = &output->device->objects;
	for (size_t i = 0; i < objects->plane_count; i++) {
		if (is_overlay_of(&objects->planes[i], output)) {
			add_plane(output, request, &objects->planes[i]);
		}
	}
}

void kms_layers_sent(struct kms_output *output) {
	kms_layers_release(output);
	struct kms_layer *layer;
	wl_list_for_each(layer, &output->layers, link) {
		layer->shown = layer->next;
		/* The replaced buffer is on the screen until the flip. */
		set_lent(&layer->lent_before, layer->lent_shown);
		set_lent(&layer->lent_shown, layer->lent_next);
		if (layer->plane != NULL) {
			layer->plane->output = output;
		}
	}
}

void kms_layers_turned_off(struct kms_output *output) {
	struct kms_layer *layer;
	kms_layers_release(output);
	wl_list_for_each(layer, &output->layers, link) {
		layer_show_none(layer);
		kms_layer_release_plane(layer, layer->place != KMS_LAYER_TAKEN);
	}
}

void kms_layers_flipped(struct kms_output *output) {
	struct kms_layer *layer, *next;
	wl_list_for_each_safe(layer, next, &output->layers, link) {
		set_lent(&layer->lent_before, NULL);
	}
}

void kms_layers_hold(struct kms_output *output) {
	struct kms_layer *layer;
	wl_list_for_each(layer, &output->layers, link) {
		if (layer->plane != NULL) {
			layer->written = layer->shown;
			set_lent(&layer->lent_written, layer->lent_shown);
		}
	}
}

void kms_layers_let_go(struct kms_output *output) {
	struct kms_layer *layer;
	wl_list_for_each(layer, &output->layers, link) {
		layer->written = -1;
		set_lent(&layer->lent_written, NULL);
	}
}

void kms_layers_release(struct kms_output *output) {
	struct kms_objects *objects = &output->device->objects;
	for (size_t i = 0; i < objects->plane_count; i++) {
		if (is_overlay_of(&objects->planes[i], output)) {
			objects->planes[i].output = NULL;
		}
	}
}

void kms_layers_forget_output(struct kms_output *output) {
	struct kms_layer *layer, *next;
	kms_layers_release(output);
	wl_list_for_each_safe(layer, next, &output->layers, link) {
		wl_list_remove(&layer->link);
		wl_list_init(&layer->link);
		layer->output = NULL;
		layer->plane = NULL;
	}
}
