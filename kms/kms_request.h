// SPDX-License-Identifier: MIT
/**
 * An atomic commit that is being built. It takes no memory: libdrm's own allocates for each, which
 * a sealed display may not.
 */
#ifndef KMS_REQUEST_H
#define KMS_REQUEST_H

#include <stddef.h>
#include <stdint.h>

struct kms_plane;

/* A mode set turns off all planes and CRTCs that are not ours: two settings each, and more of few.
 */
#define KMS_SETTINGS_MAX 1024

struct kms_setting {
	uint32_t object, property;
	uint64_t value;
};

struct kms_request {
	struct kms_setting settings[KMS_SETTINGS_MAX]; /* by object, and then by property */
	size_t count;
	int error; /* of what was added so far; 0: none */
	/* As the kernel wants them: each object, how many settings it has, and all of these. */
	uint32_t objects[KMS_SETTINGS_MAX], counts[KMS_SETTINGS_MAX];
	uint32_t properties[KMS_SETTINGS_MAX];
	uint64_t values[KMS_SETTINGS_MAX];
};

/* Of the same memory again, with nothing in it. */
void kms_request_begin(struct kms_request *request);

/* Sets a property that the device must have: for the number 0 the commit fails with -ENOTSUP. */
void kms_request_set(
		struct kms_request *request, uint32_t object, uint32_t property, uint64_t value);

/* Sets a property if the device has it. */
void kms_request_set_optional(
		struct kms_request *request, uint32_t object, uint32_t property, uint64_t value);

/* Shows a picture of width x height pixels, unscaled, at (x, y) of the CRTC. */
void kms_request_show(struct kms_request *request, const struct kms_plane *plane, uint32_t crtc,
		uint32_t fb, int32_t x, int32_t y, uint32_t width, uint32_t height);

/* Turns the plane off. */
void kms_request_hide(struct kms_request *request, const struct kms_plane *plane);

/*
 * Returns 0 or -errno; `flags` are DRM_MODE_ATOMIC_… and DRM_MODE_PAGE_FLIP_EVENT, `data` is for
 * that event.
 */
int kms_request_commit(struct kms_request *request, int fd, uint32_t flags, void *data);

#endif
