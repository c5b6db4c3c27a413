// SPDX-License-Identifier: MIT
#include "kms_backend.h"

#include <stdlib.h>
#include <string.h>
#include <wlr/backend/interface.h>
#include <wlr/util/log.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "kms_fb.h"
#include "kms_output.h"
#include "kms_probe.h"
#include "versions.h"

#define DEVICES_MAX 8

/* --- what is connected ------------------------------------------------------------------------ */

static struct kms_output *find_connector(struct kms_device *device, uint32_t id) {
	struct kms_output *output;
	wl_list_for_each(output, &device->outputs, link) {
		if (output->connector.id == id) {
			return output;
		}
	}
	return NULL;
}

static bool has_lost_link(const struct kms_output *output, const struct kms_connector *properties) {
	return output->base.enabled && properties->properties[KMS_CONNECTOR_LINK_STATUS] != 0 &&
			properties->values[KMS_CONNECTOR_LINK_STATUS] == DRM_MODE_LINK_STATUS_BAD;
}

static void take_connector(struct kms_device *device, uint32_t id, const drmModeConnector *found,
		const struct kms_connector *properties) {
	struct kms_output *output = find_connector(device, id);
	bool connected = found != NULL && found->connector_type != DRM_MODE_CONNECTOR_WRITEBACK &&
			found->connection == DRM_MODE_CONNECTED && found->count_modes > 0;
	if (connected && output == NULL) {
		output = kms_output_create(device, found, properties);
		if (output == NULL) {
			wlr_log(WLR_ERROR, "connector %u cannot be used: no memory", id);
		} else {
			wl_signal_emit_mutable(&device->base.events.new_output, &output->base);
		}
	} else if (!connected && output != NULL) {
		wlr_output_destroy(&output->base);
	} else if (connected && has_lost_link(output, properties)) {
		kms_output_link_lost(output);
	}
}

/* Finds new and lost connectors. One that the device does not list any more is gone, too. */
static void take_connectors(void *data, const struct kms_connectors *connectors) {
	struct kms_device *device = data;
	struct kms_output *output, *next;
	if (!device->session->active) {
		return; /* when it is again, the device is asked again */
	}
	wl_list_for_each_safe(output, next, &device->outputs, link) {
		bool there = false;
		for (size_t i = 0; i < connectors->count; i++) {
			there = there || connectors->all[i].id == output->connector.id;
		}
		if (!there) {
			wlr_output_destroy(&output->base);
		}
	}
	for (size_t i = 0; i < connectors->count; i++) {
		take_connector(device, connectors->all[i].id, connectors->all[i].found,
				&connectors->all[i].properties);
	}
}

/* --- events ----------------------------------------------------------------------------------- */

/* Finds the output by its CRTC, as it may be gone before the event of its last commit comes. */
static void handle_flip(int fd, unsigned sequence, unsigned seconds, unsigned microseconds,
		unsigned crtc, void *data) {
	struct kms_device *device = data;
	struct timespec when = {(time_t)seconds, (long)microseconds * 1000};
	struct kms_output *output;
	wl_list_for_each(output, &device->outputs, link) {
		if (output->crtc != NULL && output->crtc->id == crtc) {
			kms_output_flipped(output, sequence, &when);
			return;
		}
	}
}

static int handle_event(int fd, uint32_t mask, void *data) {
	struct kms_device *device = data;
	drmEventContext context = {.version = 3, .page_flip_handler2 = handle_flip};
	if (drmHandleEvent(fd, &context) != 0 || (mask & (WL_EVENT_HANGUP | WL_EVENT_ERROR))) {
		wlr_log(WLR_ERROR, "the KMS device gives no events any more");
		wlr_backend_destroy(&device->base);
	}
	return 1;
}

static void handle_session_active(struct wl_listener *listener, void *data) {
	struct kms_device *device = wl_container_of(listener, device, session_active);
	if (!device->session->active) {
		return;
	}
	kms_probe_ask(device->probe);
	struct kms_output *output;
	wl_list_for_each(output, &device->outputs, link) {
		kms_output_restore(output);
	}
}

static void handle_device_change(struct wl_listener *listener, void *data) {
	struct kms_device *device = wl_container_of(listener, device, device_change);
	if (device->session->active) {
		kms_probe_ask(device->probe);
	}
}

static void handle_device_remove(struct wl_listener *listener, void *data) {
	struct kms_device *device = wl_container_of(listener, device, device_remove);
	wlr_backend_destroy(&device->base);
}

static void handle_session_destroy(struct wl_listener *listener, void *data) {
	struct kms_device *device = wl_container_of(listener, device, session_destroy);
	wlr_backend_destroy(&device->base);
}

/* --- the backend ------------------------------------------------------------------------------ */

/* Waits: nothing is shown yet, and whoever starts a backend expects its outputs. */
static bool backend_start(struct wlr_backend *base) {
	struct kms_device *device = wl_container_of(base, device, base);
	struct kms_connectors *connectors = kms_connectors_read(device->fd);
	if (connectors != NULL) {
		take_connectors(device, connectors);
	}
	kms_connectors_destroy(connectors);
	return true;
}

static void backend_destroy(struct wlr_backend *base) {
	struct kms_device *device = wl_container_of(base, device, base);
	struct kms_output *output, *next;
	wl_list_for_each_safe(output, next, &device->outputs, link) {
		wlr_output_destroy(&output->base);
	}
	wlr_backend_finish(base);
	wl_list_remove(&device->session_active.link);
	wl_list_remove(&device->session_destroy.link);
	wl_list_remove(&device->device_change.link);
	wl_list_remove(&device->device_remove.link);
	wl_event_source_remove(device->event_source);
	kms_probe_destroy(device->probe);
	kms_fbs_destroy(&device->fbs);
	kms_objects_finish(&device->objects);
	wlr_session_close_file(device->session, device->opened);
	free(device);
}

static int backend_get_drm_fd(struct wlr_backend *base) {
	struct kms_device *device = wl_container_of(base, device, base);
	return device->fd;
}

#if WLROOTS_VERSION < 19
static uint32_t backend_get_buffer_caps(struct wlr_backend *base) {
	return WLR_BUFFER_CAP_DMABUF;
}
#endif

static const struct wlr_backend_impl backend_impl = {
		.start = backend_start,
		.destroy = backend_destroy,
		.get_drm_fd = backend_get_drm_fd,
#if WLROOTS_VERSION < 19
		.get_buffer_caps = backend_get_buffer_caps,
#endif
};

/* Closes the others, which the session opens as well. */
struct wlr_device *kms_card_open(struct wlr_session *session) {
	struct wlr_device *devices[DEVICES_MAX];
	ssize_t count = wlr_session_find_gpus(session, DEVICES_MAX, devices);
	for (ssize_t i = 1; i < count; i++) {
		wlr_session_close_file(session, devices[i]);
	}
	if (count < 1) {
		wlr_log(WLR_ERROR, "the seat has no KMS device that can be opened");
	}
	return count < 1 ? NULL : devices[0];
}

bool kms_card_is_atomic(const struct wlr_device *card) {
	const char *unwanted = getenv("WLR_DRM_NO_ATOMIC");
	return (unwanted == NULL || strcmp(unwanted, "1") != 0) &&
			drmSetClientCap(card->fd, DRM_CLIENT_CAP_ATOMIC, 1) == 0;
}

static bool device_can(int fd) {
	uint64_t clock = 0;
	if (drmSetClientCap(fd, DRM_CLIENT_CAP_UNIVERSAL_PLANES, 1) != 0) {
		wlr_log(WLR_ERROR, "the KMS device does not tell its planes");
		return false;
	}
	if (drmGetCap(fd, DRM_CAP_TIMESTAMP_MONOTONIC, &clock) != 0 || clock != 1) {
		wlr_log(WLR_ERROR, "the KMS device's times are of another clock");
		return false;
	}
	drmSetClientCap(fd, DRM_CLIENT_CAP_WRITEBACK_CONNECTORS, 1); /* where it has some */
	return true;
}

static void listen(
		struct wl_signal *signal, struct wl_listener *listener, wl_notify_func_t notify) {
	listener->notify = notify;
	wl_signal_add(signal, listener);
}

struct wlr_backend *kms_backend_create(struct wlr_session *session, struct wlr_device *card) {
	struct kms_device *device = calloc(1, sizeof(*device));
	if (device == NULL) {
		goto error_card;
	}
	device->session = session;
	device->opened = card;
	device->loop = session->event_loop;
	device->fd = card->fd;
	wl_list_init(&device->outputs);
	wl_list_init(&device->fbs);
	if (!device_can(device->fd) || kms_objects_init(&device->objects, device->fd) != 0) {
		goto error_objects;
	}
	device->event_source = wl_event_loop_add_fd(
			device->loop, device->fd, WL_EVENT_READABLE, handle_event, device);
	if (device->event_source == NULL) {
		goto error_objects;
	}
	device->probe = kms_probe_create(device->loop, device->fd, take_connectors, device);
	if (device->probe == NULL) {
		goto error_source;
	}
	wlr_backend_init(&device->base, &backend_impl);
#if WLROOTS_VERSION >= 19
	device->base.buffer_caps = WLR_BUFFER_CAP_DMABUF;
#endif
	listen(&session->events.active, &device->session_active, handle_session_active);
	listen(&session->events.destroy, &device->session_destroy, handle_session_destroy);
	listen(&card->events.change, &device->device_change, handle_device_change);
	listen(&card->events.remove, &device->device_remove, handle_device_remove);
	return &device->base;

error_source:
	wl_event_source_remove(device->event_source);
error_objects:
	kms_objects_finish(&device->objects);
	free(device);
error_card:
	wlr_session_close_file(session, card);
	return NULL;
}
