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

/* Makes the output of a connected connector, which has these properties. NULL without memory. */
struct kms_output *kms_output_create(struct kms_device *device, const drmModeConnector *connector,
		const struct kms_connector *properties);

/* NULL: the output is of another backend. */
struct kms_output *kms_output_from_wlr(struct wlr_output *output);

/* The session is active again: asks for a frame that sets everything. */
void kms_output_restore(struct kms_output *output);

/* The screen does not get what is sent to it: asks for a frame that sets everything. */
void kms_output_link_lost(struct kms_output *output);

/* The pending commit is on the screen. */
void kms_output_flipped(struct kms_output *output, unsigned sequence, const struct timespec *when);

#endif
