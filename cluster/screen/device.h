// SPDX-License-Identifier: MIT
/** What the display shows on, and what it draws with. */
#ifndef CLUSTER_DEVICE_H
#define CLUSTER_DEVICE_H

#include <wlr/backend.h>
#include <wlr/backend/session.h>
#include <wlr/render/allocator.h>
#include <wlr/render/wlr_renderer.h>

struct device {
	struct wlr_backend *backend;
	struct wlr_session *session; /* NULL: it takes none */
	struct wlr_backend *inputs;  /* of the session's seat; NULL: none, or `backend` has them */
	struct wl_listener inputs_destroy;
	struct wlr_renderer *renderer;
	struct wlr_allocator *allocator;
};

/*
 * Opens the backend, with a session where that takes one, and makes renderer and allocator.
 * `headless`: without a screen. `planes`: a KMS device must know atomic commits, which put roles on
 * planes. `inputs`: also the seat's touch panels, mice and keyboards. Returns false, with the
 * reason in the log, where there is none; the device is to be finished in either case.
 */
bool device_init(struct device *device, struct wl_event_loop *loop, bool headless, bool planes,
		bool inputs);

/* Of what it has opened. Returns false, with the reason in the log, where nothing can be shown. */
bool device_start(struct device *device);

/* Takes a device of zeroes, too. */
void device_finish(struct device *device);

#endif
