// SPDX-License-Identifier: MIT
/** An atomic commit that is being built. */
#ifndef KMS_REQUEST_H
#define KMS_REQUEST_H

#include <stdint.h>
#include <xf86drmMode.h>

struct kms_plane;

struct kms_request {
	drmModeAtomicReq *atomic;
	int error; /* of what was added so far; 0: none */
};

void kms_request_init(struct kms_request *request);
void kms_request_finish(struct kms_request *request);

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
