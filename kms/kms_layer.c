// SPDX-License-Identifier: MIT
#include "kms_layer.h"

#include "kms_device.h"
#include "kms_plan.h"
#include "kms_request.h"
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wlr/util/log.h>

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
	};
	wl_list_insert(output->layers.prev, &layer->link);
	for (int i = 0; i < 2; i++) {
		int ret = kms_dumb_init(&layer->pictures[i], output->device->fd, width, height);
		if (ret != 0) {
			kms_layer_destroy(layer);
			errno = -ret;
			return NULL;
		}
	}
	return layer;
}

void kms_layer_destroy(struct kms_layer *layer) {
	if (layer == NULL) {
		return;
	}
	wl_list_remove(&layer->link);
	for (int i = 0; i < 2; i++) {
		kms_dumb_finish(&layer->pictures[i]);
	}
	free(layer);
}

void *kms_layer_begin(struct kms_layer *layer, size_t *stride) {
	if (layer->output == NULL || layer->output->flipping) {
		return NULL;
	}
	struct kms_dumb *picture = &layer->pictures[layer->shown == 0];
	layer->next = layer->shown; /* until it is submitted: the other one may be half written */
	*stride = picture->stride;
	return picture->data;
}

void kms_layer_submit(struct kms_layer *layer) {
	layer->next = layer->shown == 0;
}

bool kms_layer_is_shown(const struct kms_layer *layer) {
	return layer->plane != NULL && layer->next == layer->shown;
}

const struct kms_dumb *kms_layer_picture(const struct kms_layer *layer) {
	return layer->next >= 0 ? &layer->pictures[layer->next] : NULL;
}

/* --- planes ----------------------------------------------------------------------------------- */

static uint64_t zpos_above(
		const struct kms_output *output, const struct kms_plane *plane, size_t i) {
	uint64_t wanted = output->primary->zpos + 1 + i;
	return wanted < plane->zpos_max ? wanted : plane->zpos_max;
}

static void add_layer(struct kms_request *request, const struct kms_output *output,
		const struct kms_layer *layer, const struct kms_plane *plane, size_t i,
		const struct kms_dumb *picture) {
	kms_request_show(request, plane, output->crtc->id, picture->id, layer->x, layer->y,
			picture->width, picture->height);
	if (plane->has_zpos && !plane->zpos_is_fixed) {
		kms_request_set(request, plane->id, plane->properties[KMS_PLANE_ZPOS],
				zpos_above(output, plane, i));
	}
}

/* Overlays that others do not have, and that lie above the primary plane. */
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
	struct kms_request request;
	kms_request_init(&request);
	for (size_t plane = 0; plane < plan->plane_count; plane++) {
		size_t i = 0;
		while (i < layers && choice[i] != (int)plane) {
			i++;
		}
		if (i < layers) {
			add_layer(&request, plan->output, plan->layers[i], plan->planes[plane], i,
					&plan->layers[i]->pictures[0]);
		} else {
			kms_request_hide(&request, plan->planes[plane]);
		}
	}
	uint32_t flags = DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_ATOMIC_NONBLOCK;
	int error = kms_request_commit(&request, plan->output->device->fd, flags, NULL);
	kms_request_finish(&request);
	return error == 0;
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
		if (layer->plane != NULL && layer->next != layer->shown) {
			return true;
		}
	}
	return false;
}

void kms_layer_leave_plane(struct kms_layer *layer, bool may_return) {
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

/* Each plane once: what libdrm makes of a property that is set twice is not said. */
static void add_plane(struct kms_output *output, struct kms_request *request,
		const struct kms_plane *plane) {
	const struct kms_layer *layer;
	size_t i = 0;
	wl_list_for_each(layer, &output->layers, link) {
		const struct kms_dumb *picture = kms_layer_picture(layer);
		if (layer->plane == plane && picture != NULL) {
			add_layer(request, output, layer, plane, i, picture);
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
		if (layer->plane != NULL) {
			layer->plane->output = output;
		}
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
