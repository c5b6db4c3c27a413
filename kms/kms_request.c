// SPDX-License-Identifier: MIT
#include "kms_request.h"

#include <errno.h>
#include <string.h>
#include <xf86drm.h>

#include "kms_objects.h"

#define OPAQUE 0xffff /* of the property "alpha" */

void kms_request_begin(struct kms_request *request) {
	request->count = 0;
	request->error = 0;
}

/* The first setting that does not come before this one. */
static size_t find_place(const struct kms_request *request, uint32_t object, uint32_t property) {
	size_t at = 0;
	for (size_t i = 0; i < request->count; i++) {
		const struct kms_setting *setting = &request->settings[i];
		bool before = setting->object < object ||
				(setting->object == object && setting->property < property);
		at = before ? i + 1 : at;
	}
	return at;
}

void kms_request_set(
		struct kms_request *request, uint32_t object, uint32_t property, uint64_t value) {
	if (request->error != 0) {
		return;
	}
	size_t at = find_place(request, object, property);
	struct kms_setting *setting = &request->settings[at];
	bool is_there = at < request->count && setting->object == object &&
			setting->property == property;
	if (property == 0 || (!is_there && request->count == KMS_SETTINGS_MAX)) {
		request->error = property == 0 ? -ENOTSUP : -E2BIG;
		return;
	}
	if (!is_there) {
		memmove(setting + 1, setting, (request->count - at) * sizeof(*setting));
		request->count++;
	}
	*setting = (struct kms_setting){object, property, value};
}

void kms_request_set_optional(
		struct kms_request *request, uint32_t object, uint32_t property, uint64_t value) {
	if (property != 0) {
		kms_request_set(request, object, property, value);
	}
}

void kms_request_show(struct kms_request *request, const struct kms_plane *plane, uint32_t crtc,
		uint32_t fb, int32_t x, int32_t y, uint32_t width, uint32_t height) {
	const uint32_t *properties = plane->properties;
	kms_request_set(request, plane->id, properties[KMS_PLANE_FB_ID], fb);
	kms_request_set(request, plane->id, properties[KMS_PLANE_CRTC_ID], crtc);
	/* The part of the picture is in 1/65536 of a pixel. */
	kms_request_set(request, plane->id, properties[KMS_PLANE_SRC_X], 0);
	kms_request_set(request, plane->id, properties[KMS_PLANE_SRC_Y], 0);
	kms_request_set(request, plane->id, properties[KMS_PLANE_SRC_W], (uint64_t)width << 16);
	kms_request_set(request, plane->id, properties[KMS_PLANE_SRC_H], (uint64_t)height << 16);
	kms_request_set(request, plane->id, properties[KMS_PLANE_CRTC_X], (uint64_t)x);
	kms_request_set(request, plane->id, properties[KMS_PLANE_CRTC_Y], (uint64_t)y);
	kms_request_set(request, plane->id, properties[KMS_PLANE_CRTC_W], width);
	kms_request_set(request, plane->id, properties[KMS_PLANE_CRTC_H], height);
	/* Whoever had the device before may have left other values. */
	kms_request_set_optional(request, plane->id, properties[KMS_PLANE_ALPHA], OPAQUE);
	kms_request_set_optional(
			request, plane->id, properties[KMS_PLANE_ROTATION], DRM_MODE_ROTATE_0);
}

void kms_request_hide(struct kms_request *request, const struct kms_plane *plane) {
	kms_request_set(request, plane->id, plane->properties[KMS_PLANE_FB_ID], 0);
	kms_request_set(request, plane->id, plane->properties[KMS_PLANE_CRTC_ID], 0);
}

/* Returns the number of objects. */
static uint32_t fill_arrays(struct kms_request *request) {
	uint32_t objects = 0;
	for (size_t i = 0; i < request->count; i++) {
		const struct kms_setting *setting = &request->settings[i];
		if (i == 0 || setting->object != setting[-1].object) {
			request->objects[objects] = setting->object;
			request->counts[objects++] = 0;
		}
		request->counts[objects - 1]++;
		request->properties[i] = setting->property;
		request->values[i] = setting->value;
	}
	return objects;
}

int kms_request_commit(struct kms_request *request, int fd, uint32_t flags, void *data) {
	if (request->error != 0) {
		return request->error;
	}
	struct drm_mode_atomic atomic = {
			.flags = flags,
			.count_objs = fill_arrays(request),
			.objs_ptr = (uintptr_t)request->objects,
			.count_props_ptr = (uintptr_t)request->counts,
			.props_ptr = (uintptr_t)request->properties,
			.prop_values_ptr = (uintptr_t)request->values,
			.user_data = (uintptr_t)data,
	};
	return drmIoctl(fd, DRM_IOCTL_MODE_ATOMIC, &atomic) < 0 ? -errno : 0;
}
