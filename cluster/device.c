// SPDX-License-Identifier: MIT
#include "device.h"

#include "linux_dmabuf.h"
#include "software_gl.h"
#include "udmabuf.h"
#include <stdlib.h>
#include <string.h>
#include <wlr/backend/headless.h>
#include <wlr/render/allocator.h>
#include <wlr/render/wlr_renderer.h>
#include <wlr/util/log.h>

/*
 * Inside another compositor it is a window. Otherwise it is on a KMS device, without the input
 * devices that wlroots would open as well, and not start without: a display takes no input.
 */
static bool device_init_backend(struct display *display, bool headless) {
	struct wl_event_loop *loop = wl_display_get_event_loop(display->wayland);
	if (headless) {
		display->backend = wlr_headless_backend_create(loop);
		return display->backend != NULL;
	}
	if (getenv("WAYLAND_DISPLAY") == NULL && getenv("WAYLAND_SOCKET") == NULL &&
		getenv("DISPLAY") == NULL) {
		setenv("WLR_BACKENDS", "drm", 0);
	}
	display->backend = wlr_backend_autocreate(loop, &display->session);
	if (display->backend == NULL) {
		wlr_log(WLR_ERROR,
			"no screen can be had: is there a /dev/dri/card*, and a seat (seatd, "
			"logind, or LIBSEAT_BACKEND=builtin as root)? See gid-cluster(1); "
			"--headless needs none");
	}
	return display->backend != NULL;
}

/* As WLR_RENDERER has it. */
static bool device_init_rendering(struct display *display) {
	const char *wanted = getenv("WLR_RENDERER");
	if (wlr_backend_is_headless(display->backend) && wanted != NULL &&
		strcmp(wanted, "gles2") == 0 && software_gl_is_needed()) {
		display->renderer = software_gl_create();
		display->allocator = udmabuf_allocator_create();
	} else {
		display->renderer = wlr_renderer_autocreate(display->backend);
		if (display->renderer != NULL) {
			display->allocator =
				wlr_allocator_autocreate(display->backend, display->renderer);
		}
	}
	return display->renderer != NULL && display->allocator != NULL &&
		wlr_renderer_init_wl_shm(display->renderer, display->wayland) &&
		linux_dmabuf_offer(display->wayland, display->renderer);
}

bool device_open(struct display *display, bool headless) {
	if (!device_init_backend(display, headless)) {
		return false;
	}
	if (!device_init_rendering(display)) {
		wlr_log(WLR_ERROR,
			"nothing can be drawn to the screen with WLR_RENDERER=%s: either it "
			"cannot, "
			"or another program has the screen",
			getenv("WLR_RENDERER"));
		return false;
	}
	return true;
}
