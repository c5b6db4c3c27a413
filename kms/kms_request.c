// SPDX-License-Identifier: MIT
#include "kms_request.h"

#include <errno.h>

#include "kms_objects.h"

#define OPAQUE 0xffff /* of the property "alpha" */

void kms_request_init(struct kms_request *request) {
	*request = (struct kms_request){.atomic = drmModeAtomicAlloc()};
	request->error = request->atomic != NULL ? 0 : -ENOMEM;
}

void kms_request_finish(struct kms_request *request) {
	drmModeAtomicFree(request->atomic);
	request->atomic = NULL;
}

void kms_request_set(
		struct kms_request *request, uint32_t object, uint32_t property, uint64_t value) {
	if (request->error != 0) {
		return;
	}
	int ret = property != 0 ? drmModeAtomicAddProperty(request->atomic, object, property, value)
				: -ENOTSUP;
	request->error = ret < 0 ? ret : 0;
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

int kms_request_commit(struct kms_request *request, int fd, uint32_t flags, void *data) {
	return request->error != 0 ? request->error
				   : drmModeAtomicCommit(fd, request->atomic, flags, data);
}
