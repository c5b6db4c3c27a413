// SPDX-License-Identifier: MIT
/** A KMS device that we opened, and its outputs: the state that the parts of this backend share. */
#ifndef KMS_DEVICE_H
#define KMS_DEVICE_H

#include <wlr/backend.h>
#include <wlr/backend/session.h>
#include <wlr/types/wlr_output.h>
#include <xf86drmMode.h>

#include "kms_objects.h"
#include "kms_request.h"

struct kms_probe;
struct kms_writeback;

struct kms_device {
	struct wlr_backend base;
	struct wlr_session *session;
	struct wlr_device *opened; /* by the session */
	struct wl_event_loop *loop;
	int fd;
	struct kms_objects objects;
	struct kms_request request; /* one at a time */
	struct wl_list outputs;	    /* kms_output::link */
	struct wl_list fbs;	    /* kms_fb::link */
	struct wl_event_source *event_source;
	struct kms_probe *probe;
	struct wl_listener session_active, session_destroy, device_change, device_remove;
};

/* One connector of the device as a wlr_output, and what is on its planes. */
struct kms_output {
	struct wlr_output base;
	struct wl_list link;
	struct kms_device *device;
	struct kms_connector connector;
	/* Claimed while the output is on, or a commit is tested; NULL: none. */
	struct kms_crtc *crtc;
	struct kms_plane *primary;
	drmModeModeInfo mode;  /* that was set last; hdisplay 0: none */
	struct wl_list layers; /* kms_layer::link, from the lowest up */
	bool stale;    /* somebody else had the device: the next commit sets everything again */
	int error;     /* of the last commit, as -errno */
	bool flipping; /* a commit is on its way to the screen */
	uint32_t flip_commit; /* its number */
	/* On the primary plane now, and after the pending flip (or NULL). Both are locked. */
	struct wlr_buffer *front, *next;
	struct kms_writeback *writeback; /* owned */
};

#endif
