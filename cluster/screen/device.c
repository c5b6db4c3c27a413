// SPDX-License-Identifier: MIT
#include "device.h"

#include <gid/gid.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <wlr/backend/drm.h>
#include <wlr/backend/libinput.h>
#include <wlr/render/pixman.h>
#include <wlr/util/log.h>

#include "kms_backend.h"
#include "plain_memory.h"
#include "software_gl.h"
#include "virtual_backend.h"

#define SEAT_NS UINT64_C(10000000000) /* as long as wlroots waits for a seat */

/* In the variable by which users tell compositors of wlroots. */
static bool is_wanted(const char *backend) {
	const char *backends = getenv("WLR_BACKENDS");
	return backends != NULL && strstr(backends, backend) != NULL;
}

/* wlroots would wait 10 s for a card. */
static bool no_card_is_there(void) {
	glob_t cards = {0};
	bool none = getenv("WLR_DRM_DEVICES") == NULL &&
			glob("/dev/dri/card*", 0, NULL, &cards) == GLOB_NOMATCH;
	globfree(&cards);
	return none;
}

/* wlroots' own backend also knows the calls that cards had before atomic commits. */
static struct wlr_backend *create_on_card(
		struct wlr_session *session, struct wlr_device *card, bool planes) {
	if (kms_card_is_atomic(card)) {
		return kms_backend_create(session, card);
	}
	if (planes) {
		wlr_log(WLR_ERROR, "the KMS device knows no atomic commits: planes=off");
		wlr_session_close_file(session, card);
		return NULL;
	}
	wlr_log(WLR_INFO, "the KMS device knows no atomic commits: each frame takes memory");
	return wlr_drm_backend_create(session, card, NULL);
}

/* seatd may say a moment later that the seat is ours. */
static bool wait_active(const struct wlr_session *session) {
	uint64_t until = gid_clock_now() + SEAT_NS;
	while (!session->active && gid_clock_now() < until) {
		wl_event_loop_dispatch(session->event_loop, 10);
	}
	return session->active;
}

static void device_init_kms(struct device *device, struct wl_event_loop *loop, bool planes) {
	device->session = wlr_session_create(loop);
	struct wlr_device *card = NULL;
	if (device->session != NULL && wait_active(device->session)) {
		card = kms_card_open(device->session);
	}
	if (card != NULL) {
		device->backend = create_on_card(device->session, card, planes);
	}
}

/*
 * Inside another compositor the display is a window. Else it is on a KMS device, without the input
 * devices that wlroots would require: device_init_inputs() adds them.
 */
static bool device_init_backend(
		struct device *device, struct wl_event_loop *loop, bool headless, bool planes) {
	if (headless || is_wanted("headless")) {
		device->backend = virtual_backend_create(loop);
		return device->backend != NULL;
	}
	if (getenv("WAYLAND_DISPLAY") == NULL && getenv("WAYLAND_SOCKET") == NULL &&
			getenv("DISPLAY") == NULL) {
		setenv("WLR_BACKENDS", "drm", 0);
	}
	bool on_kms = is_wanted("drm");
	if (on_kms && no_card_is_there()) {
		wlr_log(WLR_ERROR,
				"there is no /dev/dri/card*, and so no screen; --headless "
				"needs none, see gid-cluster(1)");
		return false;
	}
	if (on_kms) {
		device_init_kms(device, loop, planes);
	} else {
		device->backend = wlr_backend_autocreate(loop, &device->session);
	}
	if (device->backend == NULL) {
		wlr_log(WLR_ERROR,
				"no screen can be used: is there a /dev/dri/card*, and a seat "
				"(seatd, logind, or LIBSEAT_BACKEND=builtin as root)? See "
				"gid-cluster(1); --headless needs none");
	}
	return device->backend != NULL;
}

static struct wlr_allocator *device_create_allocator(const struct device *device) {
	if (backend_is_virtual(device->backend) && wlr_renderer_is_pixman(device->renderer)) {
		return plain_memory_allocator_create();
	}
	return wlr_allocator_autocreate(device->backend, device->renderer);
}

/* As WLR_RENDERER says. */
static bool device_init_rendering(struct device *device) {
	const char *wanted = getenv("WLR_RENDERER");
	/*
	 * Mesa waits without limit for the lock of its shader cache, which any program of the same
	 * user can take.
	 */
	setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
	if (backend_is_virtual(device->backend) && wanted != NULL && strcmp(wanted, "gles2") == 0 &&
			software_gl_is_needed()) {
		device->renderer = software_gl_create();
		device->allocator = software_gl_allocator_create();
	} else {
		device->renderer = wlr_renderer_autocreate(device->backend);
		if (device->renderer != NULL) {
			device->allocator = device_create_allocator(device);
		}
	}
	return device->renderer != NULL && device->allocator != NULL;
}

static void handle_inputs_destroy(struct wl_listener *listener, void *data) {
	struct device *device = wl_container_of(listener, device, inputs_destroy);
	wl_list_remove(&device->inputs_destroy.link);
	device->inputs = NULL;
}

/* The display works without input devices, and takes those that come later. */
static void device_init_inputs(struct device *device) {
	if (device->session == NULL) {
		return; /* a window gets input from its compositor */
	}
	setenv("WLR_LIBINPUT_NO_DEVICES", "1", 0);
	device->inputs = wlr_libinput_backend_create(device->session);
	if (device->inputs == NULL) {
		wlr_log(WLR_ERROR, "no input devices: libinput cannot be used");
		return;
	}
	device->inputs_destroy.notify = handle_inputs_destroy;
	wl_signal_add(&device->inputs->events.destroy, &device->inputs_destroy);
}

bool device_start(struct device *device) {
	if (!wlr_backend_start(device->backend)) {
		return false;
	}
	if (device->inputs != NULL && !wlr_backend_start(device->inputs)) {
		wlr_log(WLR_ERROR, "no input devices: the seat gives none");
	}
	return true;
}

bool device_init(struct device *device, struct wl_event_loop *loop, bool headless, bool planes,
		bool inputs) {
	*device = (struct device){0};
	if (!device_init_backend(device, loop, headless, planes)) {
		return false;
	}
	if (!device_init_rendering(device)) {
		wlr_log(WLR_ERROR,
				"WLR_RENDERER=%s cannot use this screen: this system does not "
				"support it, or another program has the screen",
				getenv("WLR_RENDERER"));
		return false;
	}
	if (inputs) {
		device_init_inputs(device);
	}
	return true;
}

void device_finish(struct device *device) {
	if (device->inputs != NULL) {
		wlr_backend_destroy(device->inputs);
	}
	if (device->backend != NULL) {
		wlr_backend_destroy(device->backend);
	}
	if (device->allocator != NULL) {
		wlr_allocator_destroy(device->allocator);
	}
	if (device->renderer != NULL) {
		wlr_renderer_destroy(device->renderer);
	}
	if (device->session != NULL) {
		wlr_session_destroy(device->session);
	}
	*device = (struct device){0};
}
