// SPDX-License-Identifier: MIT
/** The life of an output of a KMS device: what wlroots and the device ask of it. */
#ifndef KMS_OUTPUT_H
#define KMS_OUTPUT_H

#include <time.h>
#include <wlr/interfaces/wlr_output.h>
#include <xf86drmMode.h>

#include "kms_device.h"

struct kms_mode {
	struct wlr_output_mode base;
	drmModeModeInfo info;
};

/* Of the connector, which is connected. NULL for want of memory, or it is gone. */
struct kms_output *kms_output_create(struct kms_device *device, const drmModeConnector *connector);

/* NULL: it is another backend's. */
struct kms_output *kms_output_from_wlr(struct wlr_output *output);

/* The device is ours again, and shows nothing: asks for a frame. */
void kms_output_restore(struct kms_output *output);

/* The commit that was on its way is on the screen. */
void kms_output_flipped(struct kms_output *output, unsigned sequence, const struct timespec *when);

#endif
