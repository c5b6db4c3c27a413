// SPDX-License-Identifier: MIT
/*
 * Who asks a device what is connected: the display's thread only before anything is shown. The
 * device is made up, and its screens answer when the test says so.
 */
#include "kms_backend.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <wlr/interfaces/wlr_output.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "kms_objects.h"
#include "kms_output.h"
#include "tap.h"

#define CONNECTORS 2
#define FIRST 31
#define PATIENCE_MS 30000

static pthread_t display_thread;
static atomic_bool is_plugged[CONNECTORS];
static atomic_bool is_lost; /* the link of each */
static atomic_bool hangs;   /* a screen that is asked, until it is let go */
static sem_t asked, let_go;
static atomic_uint asked_by_display;

/* --- the device and the session --------------------------------------------------------------- */

int __wrap_drmGetCap(int fd, uint64_t capability, uint64_t *value);
int __wrap_drmSetClientCap(int fd, uint64_t capability, uint64_t value);
drmModeRes *__wrap_drmModeGetResources(int fd);
void __wrap_drmModeFreeResources(drmModeRes *list);
drmModeConnector *__wrap_drmModeGetConnector(int fd, uint32_t id);
void __wrap_drmModeFreeConnector(drmModeConnector *connector);
int __wrap_kms_connector_read(struct kms_connector *connector, int fd, uint32_t id);
int __wrap_kms_objects_init(struct kms_objects *objects, int fd);
ssize_t __wrap_wlr_session_find_gpus(
		struct wlr_session *session, size_t most, struct wlr_device **devices);
void __wrap_wlr_session_close_file(struct wlr_session *session, struct wlr_device *device);

int __wrap_drmGetCap(int fd, uint64_t capability, uint64_t *value) {
	*value = 1;
	return 0;
}

int __wrap_drmSetClientCap(int fd, uint64_t capability, uint64_t value) {
	return 0;
}

drmModeRes *__wrap_drmModeGetResources(int fd) {
	static uint32_t ids[CONNECTORS] = {FIRST, FIRST + 1};
	static drmModeRes list = {.count_connectors = CONNECTORS, .connectors = ids};
	return &list;
}

void __wrap_drmModeFreeResources(drmModeRes *list) {
}

drmModeConnector *__wrap_drmModeGetConnector(int fd, uint32_t id) {
	static drmModeModeInfo mode = {.hdisplay = 64, .vdisplay = 48};
	drmModeConnector *connector = calloc(1, sizeof(*connector));
	const bool by_display = pthread_equal(pthread_self(), display_thread);
	asked_by_display += by_display;
	if (atomic_load(&hangs) && !by_display) {
		sem_post(&asked);
		sem_wait(&let_go);
	}
	*connector = (drmModeConnector){
			.connector_id = id,
			.connector_type = DRM_MODE_CONNECTOR_HDMIA,
			.connector_type_id = id,
			.connection = atomic_load(&is_plugged[id - FIRST]) ? DRM_MODE_CONNECTED
									   : DRM_MODE_DISCONNECTED,
			.count_modes = 1,
			.modes = &mode,
	};
	return connector;
}

void __wrap_drmModeFreeConnector(drmModeConnector *connector) {
	free(connector);
}

int __wrap_kms_connector_read(struct kms_connector *connector, int fd, uint32_t id) {
	*connector = (struct kms_connector){
			.id = id,
			.properties[KMS_CONNECTOR_LINK_STATUS] = 1,
			.values[KMS_CONNECTOR_LINK_STATUS] = atomic_load(&is_lost)
					? DRM_MODE_LINK_STATUS_BAD
					: DRM_MODE_LINK_STATUS_GOOD,
	};
	return 0;
}

int __wrap_kms_objects_init(struct kms_objects *objects, int fd) {
	*objects = (struct kms_objects){0};
	return 0;
}

static struct wlr_device opened;

ssize_t __wrap_wlr_session_find_gpus(
		struct wlr_session *session, size_t most, struct wlr_device **devices) {
	devices[0] = &opened;
	return 1;
}

void __wrap_wlr_session_close_file(struct wlr_session *session, struct wlr_device *device) {
	close(device->fd);
}

static void init_device(void) {
	opened.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	wl_signal_init(&opened.events.change);
	wl_signal_init(&opened.events.remove);
}

/* --- the display ------------------------------------------------------------------------------ */

static int outputs;
static struct kms_output *newest;

static void handle_output_destroy(struct wl_listener *listener, void *data) {
	outputs--;
	wl_list_remove(&listener->link);
	free(listener);
}

static void handle_new_output(struct wl_listener *listener, void *data) {
	struct wlr_output *output = data;
	struct wl_listener *destroy = calloc(1, sizeof(*destroy));
	destroy->notify = handle_output_destroy;
	wl_signal_add(&output->events.destroy, destroy);
	outputs++;
	newest = kms_output_from_wlr(output);
}

/* Whether there are so many outputs, now or soon. */
static bool wait_outputs(struct wl_event_loop *loop, int count) {
	for (int waited = 0; waited < PATIENCE_MS && outputs != count; waited += 10) {
		wl_event_loop_dispatch(loop, 10);
	}
	return outputs == count;
}

static void plug(int connector, bool on) {
	atomic_store(&is_plugged[connector], on);
	wl_signal_emit_mutable(&opened.events.change, NULL);
}

/* A screen is asked, and does not answer. */
static bool wait_hanging(void) {
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_MS / 1000;
	return sem_timedwait(&asked, &until) == 0;
}

/* It answers, and so do all others. */
static void end_hanging(void) {
	atomic_store(&hangs, false);
	sem_post(&let_go);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_plugging(struct wl_event_loop *loop) {
	plug(1, true);
	tap_ok(wait_outputs(loop, 2), "a screen that is plugged in is found");
	plug(0, false);
	tap_ok(wait_outputs(loop, 1), "and one that is plugged out");
	plug(0, true);
	tap_ok(wait_outputs(loop, 2), "which comes back");
}

static void test_link(struct wl_event_loop *loop) {
	newest->base.enabled = true;
	wl_signal_emit_mutable(&opened.events.change, NULL);
	for (int waited = 0; waited < 100; waited += 10) {
		wl_event_loop_dispatch(loop, 10);
	}
	bool before = newest->stale;
	atomic_store(&is_lost, true);
	wl_signal_emit_mutable(&opened.events.change, NULL);
	for (int waited = 0; waited < PATIENCE_MS && !newest->stale; waited += 10) {
		wl_event_loop_dispatch(loop, 10);
	}
	tap_ok(!before && newest->stale, "a link that is lost has its mode set again");
	atomic_store(&is_lost, false);
	newest->base.enabled = false;
}

static void test_hanging(struct wl_event_loop *loop) {
	atomic_store(&hangs, true);
	plug(1, false);
	bool is_asked = wait_hanging();
	wl_event_loop_dispatch(loop, 0);
	tap_ok(is_asked && outputs == 2, "while a screen does not answer the display goes on");
	plug(1, true);
	plug(0, false);
	end_hanging();
	tap_ok(wait_outputs(loop, 1), "what was plugged meanwhile is found, too");
	atomic_store(&is_plugged[0], true);
	plug(1, true);
	tap_ok(wait_outputs(loop, 2), "all in all as it is in the end");
}

static void test_inactive(struct wl_event_loop *loop, struct wlr_session *session) {
	session->active = false;
	plug(1, false);
	wl_event_loop_dispatch(loop, 0);
	tap_ok(outputs == 2, "while another has the device nothing is asked");
	session->active = true;
	wl_signal_emit_mutable(&session->events.active, NULL);
	tap_ok(wait_outputs(loop, 1), "and then it is");
}

static void test_end(struct wlr_backend *backend) {
	atomic_store(&hangs, true);
	plug(1, true);
	bool is_asked = wait_hanging();
	wlr_backend_destroy(backend);
	tap_ok(is_asked && outputs == 0, "the backend ends while a screen does not answer");
	end_hanging();
}

int main(void) {
	struct wl_display *display = wl_display_create();
	struct wl_event_loop *loop = wl_display_get_event_loop(display);
	struct wlr_session session = {.active = true, .event_loop = loop};
	struct wl_listener new_output = {.notify = handle_new_output};
	display_thread = pthread_self();
	sem_init(&asked, 0, 0);
	sem_init(&let_go, 0, 0);
	wl_signal_init(&session.events.active);
	wl_signal_init(&session.events.destroy);
	init_device();
	atomic_store(&is_plugged[0], true);
	struct wlr_device *card = kms_card_open(&session);
	tap_ok(card == &opened && kms_card_is_atomic(card), "a card with atomic commits");
	setenv("WLR_DRM_NO_ATOMIC", "1", 1);
	tap_ok(!kms_card_is_atomic(card), "which the environment can deny");
	unsetenv("WLR_DRM_NO_ATOMIC");
	struct wlr_backend *backend = kms_backend_create(&session, card);
	tap_ok(backend != NULL, "a backend");
	wl_signal_add(&backend->events.new_output, &new_output);
	tap_ok(wlr_backend_start(backend) && outputs == 1,
			"which knows its outputs when it starts");
	const unsigned before = asked_by_display;
	test_plugging(loop);
	test_link(loop);
	test_hanging(loop);
	test_inactive(loop, &session);
	wl_list_remove(&new_output.link);
	test_end(backend);
	tap_ok(asked_by_display == before, "the display's thread asks no screen later: %u times",
			asked_by_display - before);
	wl_display_destroy(display);
	return tap_finish();
}
