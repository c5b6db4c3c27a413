// SPDX-License-Identifier: MIT
#include "kms_output.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wlr/util/log.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "kms_device.h"
#include "kms_fb.h"
#include "kms_layer.h"
#include "kms_match.h"
#include "kms_mode.h"
#include "kms_request.h"
#include "kms_writeback.h"
#include "versions.h"

/* Any other state would change what is seen in ways that are not checked. */
#define SUPPORTED                                                                                  \
	(WLR_OUTPUT_STATE_BACKEND_OPTIONAL | WLR_OUTPUT_STATE_BUFFER | WLR_OUTPUT_STATE_MODE |     \
			WLR_OUTPUT_STATE_ENABLED)

static const struct wlr_output_impl output_impl;

struct kms_output *kms_output_from_wlr(struct wlr_output *base) {
	struct kms_output *output = wl_container_of(base, output, base);
	return base != NULL && base->impl == &output_impl ? output : NULL;
}

/* --- CRTC and primary plane ------------------------------------------------------------------- */

static struct kms_plane *find_primary(struct kms_objects *objects, const struct kms_crtc *crtc) {
	for (size_t i = 0; i < objects->plane_count; i++) {
		struct kms_plane *plane = &objects->planes[i];
		if (plane->type == DRM_PLANE_TYPE_PRIMARY && plane->output == NULL &&
				(plane->possible_crtcs & (UINT32_C(1) << crtc->index))) {
			return plane;
		}
	}
	return NULL;
}

/* Of the screens that have none, this one comes first. Returns the index or KMS_MATCH_NONE. */
static int choose_crtc(const struct kms_output *output) {
	struct kms_objects *objects = &output->device->objects;
	uint32_t possible[KMS_MATCH_MAX] = {output->connector.possible_crtcs};
	uint32_t free_crtcs = 0;
	size_t count = 1;
	for (size_t i = 0; i < objects->crtc_count; i++) {
		const struct kms_crtc *crtc = &objects->crtcs[i];
		if (crtc->output == NULL && find_primary(objects, crtc) != NULL) {
			free_crtcs |= UINT32_C(1) << crtc->index;
		}
	}
	const struct kms_output *other;
	wl_list_for_each(other, &output->device->outputs, link) {
		if (other != output && other->crtc == NULL && count < KMS_MATCH_MAX) {
			possible[count++] = other->connector.possible_crtcs;
		}
	}
	return kms_match_first(possible, count, free_crtcs);
}

/*
 * Claims a CRTC and its primary plane. Looks for a writeback connector only then, and not with each
 * frame: the kernel would have it wait for a probe of any connector.
 */
static bool output_claim(struct kms_output *output) {
	struct kms_objects *objects = &output->device->objects;
	if (output->crtc != NULL) {
		return true;
	}
	int chosen = choose_crtc(output);
	for (size_t i = 0; i < objects->crtc_count && chosen != KMS_MATCH_NONE; i++) {
		struct kms_crtc *crtc = &objects->crtcs[i];
		if (crtc->index == (uint32_t)chosen) {
			output->crtc = crtc;
			output->primary = find_primary(objects, crtc);
			crtc->output = output;
			output->primary->output = output;
			kms_writeback_find(output->writeback);
		}
	}
	return output->crtc != NULL;
}

static void output_release(struct kms_output *output) {
	if (output->crtc != NULL) {
		output->crtc->output = NULL;
		output->primary->output = NULL;
		output->crtc = NULL;
		output->primary = NULL;
	}
	kms_writeback_forget(output->writeback);
}

/* --- commits ---------------------------------------------------------------------------------- */

static void output_show_none(struct kms_output *output) {
	wlr_buffer_unlock(output->front);
	wlr_buffer_unlock(output->next);
	output->front = output->next = NULL;
	output->flipping = false;
}

static void add_off(struct kms_output *output, struct kms_request *request) {
	const struct kms_crtc *crtc = output->crtc;
	kms_request_set(request, output->connector.id,
			output->connector.properties[KMS_CONNECTOR_CRTC_ID], 0);
	kms_request_set(request, crtc->id, crtc->properties[KMS_CRTC_ACTIVE], 0);
	kms_request_set(request, crtc->id, crtc->properties[KMS_CRTC_MODE_ID], 0);
	kms_request_hide(request, output->primary);
	kms_layers_add_hidden(output, request);
	kms_writeback_add_off(output->writeback, request);
}

/* A connector of this output, or of another one that is on. */
static bool is_ours(const struct kms_output *output, uint32_t connector) {
	const struct kms_output *other;
	wl_list_for_each(other, &output->device->outputs, link) {
		if (other->connector.id == connector) {
			return other == output || other->crtc != NULL;
		}
		if (kms_writeback_has(other->writeback, connector)) {
			return true;
		}
	}
	return false;
}

/*
 * Turns off everything else: whoever had the device before may have left planes that would be seen,
 * or hold a CRTC or connector that we need. It is part of the commit that shows our own.
 */
static void add_rest_off(struct kms_output *output, struct kms_request *request) {
	struct kms_device *device = output->device;
	struct kms_objects *objects = &device->objects;
	drmModeRes *list = drmModeGetResources(device->fd);
	for (int i = 0; list != NULL && i < list->count_connectors; i++) {
		struct kms_connector connector;
		uint32_t id = list->connectors[i];
		if (!is_ours(output, id) && kms_connector_read(&connector, device->fd, id) == 0) {
			kms_request_set(request, id, connector.properties[KMS_CONNECTOR_CRTC_ID],
					0);
		}
	}
	drmModeFreeResources(list);
	for (size_t i = 0; i < objects->plane_count; i++) {
		if (objects->planes[i].output == NULL) {
			kms_request_hide(request, &objects->planes[i]);
		}
	}
	for (size_t i = 0; i < objects->crtc_count; i++) {
		const struct kms_crtc *crtc = &objects->crtcs[i];
		if (crtc->output == NULL) {
			kms_request_set(request, crtc->id, crtc->properties[KMS_CRTC_ACTIVE], 0);
			kms_request_set(request, crtc->id, crtc->properties[KMS_CRTC_MODE_ID], 0);
		}
	}
}

static void add_mode(struct kms_output *output, struct kms_request *request, uint32_t blob) {
	const struct kms_crtc *crtc = output->crtc;
	const uint32_t *properties = crtc->properties;
	kms_request_set(request, output->connector.id,
			output->connector.properties[KMS_CONNECTOR_CRTC_ID], crtc->id);
	kms_request_set(request, crtc->id, properties[KMS_CRTC_MODE_ID], blob);
	kms_request_set(request, crtc->id, properties[KMS_CRTC_ACTIVE], 1);
	kms_request_set_optional(request, output->connector.id,
			output->connector.properties[KMS_CONNECTOR_LINK_STATUS],
			DRM_MODE_LINK_STATUS_GOOD);
	/* No colour correction: the output shows what the planes have. */
	kms_request_set_optional(request, crtc->id, properties[KMS_CRTC_GAMMA_LUT], 0);
	kms_request_set_optional(request, crtc->id, properties[KMS_CRTC_DEGAMMA_LUT], 0);
	kms_request_set_optional(request, crtc->id, properties[KMS_CRTC_CTM], 0);
	kms_request_set_optional(request, crtc->id, properties[KMS_CRTC_VRR_ENABLED], 0);
	kms_writeback_add_link(output->writeback, request);
	add_rest_off(output, request);
}

struct change {
	bool on, sets_mode;
	drmModeModeInfo mode;
	struct wlr_buffer *buffer; /* on the primary plane afterwards */
};

/* What `state` sets, or else what is on the screen, into `mode`. Returns 0 or -errno. */
static int output_read_mode(const struct kms_output *output, const struct wlr_output_state *state,
		drmModeModeInfo *mode) {
	if (!(state->committed & WLR_OUTPUT_STATE_MODE)) {
		*mode = output->mode;
	} else if (state->mode_type == WLR_OUTPUT_STATE_MODE_FIXED) {
		const struct kms_mode *listed = wl_container_of(state->mode, listed, base);
		*mode = listed->info;
	} else if (!kms_mode_compute(mode, state->custom_mode.width, state->custom_mode.height,
				   state->custom_mode.refresh)) {
		return -ERANGE;
	}
	return mode->hdisplay != 0 ? 0 : -EINVAL;
}

/* Returns 0, 1: nothing changes, or -errno. */
static int output_read_state(struct kms_output *output, const struct wlr_output_state *state,
		struct change *change) {
	struct wlr_output *base = &output->base;
	if ((state->committed & ~(uint32_t)SUPPORTED) != 0 || state->tearing_page_flip) {
		return -ENOTSUP;
	}
	bool on = state->committed & WLR_OUTPUT_STATE_ENABLED ? state->enabled : base->enabled;
	uint32_t relevant =
			WLR_OUTPUT_STATE_ENABLED | WLR_OUTPUT_STATE_MODE | WLR_OUTPUT_STATE_BUFFER;
	if ((state->committed & relevant) == 0 && !(on && output->stale)) {
		return 1;
	}
	*change = (struct change){.on = on, .buffer = output->front};
	if (state->committed & WLR_OUTPUT_STATE_BUFFER) {
		change->buffer = state->buffer;
	}
	if (!on) {
		return base->enabled ? 0 : 1;
	}
	if (change->buffer == NULL) {
		return -EINVAL;
	}
	int ret = output_read_mode(output, state, &change->mode);
	change->sets_mode = output->stale || !base->enabled ||
			memcmp(&change->mode, &output->mode, sizeof(output->mode)) != 0;
	return ret;
}

static int output_add(struct kms_output *output, const struct change *change,
		struct kms_request *request, uint32_t blob, bool test) {
	if (!change->on) {
		add_off(output, request);
		return 0;
	}
	uint32_t fb = kms_fb_of_buffer(&output->device->fbs, output->device->fd, change->buffer);
	if (fb == 0) {
		return -errno;
	}
	if (change->sets_mode) {
		add_mode(output, request, blob);
	} else if (!test) {
		kms_writeback_add(output->writeback, request);
	}
	kms_request_show(request, output->primary, output->crtc->id, fb, 0, 0,
			change->mode.hdisplay, change->mode.vdisplay);
	kms_layers_add(output, request);
	return 0;
}

static int output_send_once(struct kms_output *output, const struct change *change, bool test) {
	struct kms_device *device = output->device;
	struct kms_request *request = &device->request;
	uint32_t blob = 0, flags = test ? DRM_MODE_ATOMIC_TEST_ONLY : 0;
	int ret = 0;
	if (change->sets_mode) {
		ret = drmModeCreatePropertyBlob(
				device->fd, &change->mode, sizeof(change->mode), &blob);
	}
	flags |= change->sets_mode || !change->on ? DRM_MODE_ATOMIC_ALLOW_MODESET
						  : DRM_MODE_ATOMIC_NONBLOCK;
	if (change->on && !test) {
		flags |= DRM_MODE_PAGE_FLIP_EVENT;
	}
	kms_request_begin(request);
	if (ret == 0) {
		ret = output_add(output, change, request, blob, test);
	}
	if (ret == 0) {
		ret = kms_request_commit(request, device->fd, flags, device);
	}
	if (blob != 0) {
		/* The kernel keeps the blobs that a commit uses. */
		drmModeDestroyPropertyBlob(device->fd, blob);
	}
	return ret;
}

/*
 * Where a commit with a writeback is refused, tries once without: the check must not keep a picture
 * from the screen.
 */
static int output_send(struct kms_output *output, const struct change *change, bool test) {
	int ret = output_send_once(output, change, test);
	if (ret == 0 || ret == -EBUSY || !change->on ||
			!kms_writeback_set_aside(output->writeback, change->sets_mode)) {
		return ret;
	}
	int without = output_send_once(output, change, test);
	kms_writeback_take_back(output->writeback, without == 0);
	return without == 0 ? 0 : ret;
}

static void output_sent(struct kms_output *output, const struct change *change) {
	if (!change->on) {
		kms_layers_turned_off(output);
		output_release(output);
		output_show_none(output);
		return;
	}
	wlr_buffer_lock(change->buffer);
	wlr_buffer_unlock(output->next);
	output->next = change->buffer;
	output->flipping = true;
	output->flip_commit = output->base.commit_seq + 1;
	output->stale = false;
	output->mode = change->mode;
	kms_layers_sent(output);
	kms_writeback_sent(output->writeback, change->sets_mode, change->mode.hdisplay,
			change->mode.vdisplay);
}

static bool output_apply(
		struct kms_output *output, const struct wlr_output_state *state, bool test) {
	struct change change = {0};
	int ret = output_read_state(output, state, &change);
	if (ret == 1) {
		return true;
	}
	if (ret == 0 && !output->device->session->active) {
		ret = -EACCES;
	}
	if (ret == 0 && output->flipping && !change.sets_mode && !test && change.on) {
		ret = -EBUSY;
	}
	if (ret == 0 && !output_claim(output)) {
		ret = -ENOSPC;
	}
	if (ret == 0) {
		ret = output_send(output, &change, test);
	}
	if (ret == 0 && !test) {
		output_sent(output, &change);
	}
	if ((ret != 0 || test) && !output->base.enabled) {
		output_release(output); /* others may need what it does not use */
	}
	if (!test) {
		output->error = ret;
	}
	if (ret != 0) {
		wlr_log(test ? WLR_DEBUG : WLR_ERROR, "output %s refuses a %s: %s",
				output->base.name, test ? "test" : "frame", strerror(-ret));
	}
	return ret == 0;
}

static bool output_commit(struct wlr_output *base, const struct wlr_output_state *state) {
	return output_apply(kms_output_from_wlr(base), state, false);
}

static bool output_test(struct wlr_output *base, const struct wlr_output_state *state) {
	return output_apply(kms_output_from_wlr(base), state, true);
}

void kms_output_flipped(struct kms_output *output, unsigned sequence, const struct timespec *when) {
	if (!output->flipping) {
		return; /* a mode set made the flip void */
	}
	struct timespec time = *when;
	output->flipping = false;
	if (output->next != NULL) {
		wlr_buffer_unlock(output->front);
		output->front = output->next;
		output->next = NULL;
	}
	kms_layers_flipped(output);
	struct wlr_output_event_present event = {
			.commit_seq = output->flip_commit,
			.presented = true,
			.seq = sequence,
			.refresh = output->base.refresh > 0
					? (int)(1000000000000ll / output->base.refresh)
					: 0,
			.flags = WLR_OUTPUT_PRESENT_VSYNC | WLR_OUTPUT_PRESENT_HW_CLOCK |
					WLR_OUTPUT_PRESENT_HW_COMPLETION,
	};
	set_presented_at(&event, &time);
	wlr_output_send_present(&output->base, &event);
	if (output->device->session->active) {
		wlr_output_send_frame(&output->base);
	}
}

void kms_output_restore(struct kms_output *output) {
	if (!output->base.enabled) {
		return;
	}
	output->stale = true;
	/* A pending flip has come, or never will. */
	output->flipping = false;
	output->base.frame_pending = false;
	wlr_output_update_needs_frame(&output->base);
	wlr_output_schedule_frame(&output->base);
}

void kms_output_link_lost(struct kms_output *output) {
	wlr_log(WLR_ERROR, "output %s has lost its link: setting its mode again",
			output->base.name);
	output->stale = true;
	wlr_output_update_needs_frame(&output->base);
}

/* --- the output ------------------------------------------------------------------------------- */

static const struct wlr_drm_format_set *output_get_primary_formats(
		struct wlr_output *base, uint32_t buffer_caps) {
	struct kms_output *output = kms_output_from_wlr(base);
	if (!(buffer_caps & WLR_BUFFER_CAP_DMABUF) || !output_claim(output)) {
		return NULL;
	}
	const struct wlr_drm_format_set *formats = &output->primary->formats;
	if (!base->enabled) {
		output_release(output);
	}
	return formats;
}

static void output_destroy(struct wlr_output *base) {
	struct kms_output *output = kms_output_from_wlr(base);
	struct change off = {.on = false};
	wlr_output_finish(base);
	if (output->crtc != NULL && base->enabled && output->device->session->active) {
		output_send(output, &off, false);
	}
	kms_layers_forget_output(output);
	output_release(output);
	output_show_none(output);
	struct kms_mode *mode, *next;
	wl_list_for_each_safe(mode, next, &base->modes, base.link) {
		wl_list_remove(&mode->base.link);
		free(mode);
	}
	wl_list_remove(&output->link);
	kms_writeback_destroy(output->writeback);
	free(output);
}

static const struct wlr_output_impl output_impl = {
		.destroy = output_destroy,
		.test = output_test,
		.commit = output_commit,
		.get_primary_formats = output_get_primary_formats,
};

static void output_add_modes(struct kms_output *output, const drmModeConnector *connector) {
	for (int i = 0; i < connector->count_modes; i++) {
		struct kms_mode *mode = calloc(1, sizeof(*mode));
		if (mode == NULL) {
			return; /* the modes so far can be used */
		}
		mode->info = connector->modes[i];
		mode->base.width = mode->info.hdisplay;
		mode->base.height = mode->info.vdisplay;
		mode->base.refresh = kms_mode_refresh_mhz(&mode->info);
		mode->base.preferred = mode->info.type & DRM_MODE_TYPE_PREFERRED;
		wl_list_insert(output->base.modes.prev, &mode->base.link);
	}
}

struct kms_output *kms_output_create(struct kms_device *device, const drmModeConnector *connector,
		const struct kms_connector *properties) {
	struct kms_output *output = calloc(1, sizeof(*output));
	struct kms_writeback *writeback = output != NULL ? kms_writeback_create(output) : NULL;
	if (writeback == NULL) {
		free(output);
		return NULL;
	}
	output->writeback = writeback;
	output->device = device;
	output->connector = *properties;
	wl_list_init(&output->layers);
	struct wlr_output_state state;
	wlr_output_state_init(&state);
	wlr_output_state_set_enabled(&state, false);
	wlr_output_init(&output->base, &device->base, &output_impl, device->loop, &state);
	wlr_output_state_finish(&state);
	const char *type = drmModeGetConnectorTypeName(connector->connector_type);
	char name[64];
	snprintf(name, sizeof(name), "%s-%u", type != NULL ? type : "Unknown",
			connector->connector_type_id);
	wlr_output_set_name(&output->base, name);
	output->base.phys_width = (int32_t)connector->mmWidth;
	output->base.phys_height = (int32_t)connector->mmHeight;
	output_add_modes(output, connector);
	wl_list_insert(device->outputs.prev, &output->link);
	return output;
}
