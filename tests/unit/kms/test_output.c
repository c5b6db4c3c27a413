// SPDX-License-Identifier: MIT
/*
 * What outputs ask of their device: a CRTC and planes for as long as they use them, and a writeback
 * connector once. The device is made up; it has one CRTC, and two connectors that can be on it. In
 * one test it has a second CRTC, for one of them.
 */
#include "kms_output.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wlr/backend/interface.h>
#include <wlr/interfaces/wlr_buffer.h>

#include "kms_fb.h"
#include "kms_layer.h"
#include "kms_request.h"
#include "kms_writeback.h"
#include "tap.h"
#include "versions.h"

#define WIDTH 64
#define HEIGHT 48
#define FIRST 31 /* connectors */
#define OTHER 32
#define WRITEBACK 33

static uint32_t connectors[] = {FIRST, OTHER, WRITEBACK};
static int connector_count;
static bool has_second_crtc;
static unsigned looks; /* at what connectors there are */
static bool refuses;   /* what is committed */
static bool unlinks;   /* the writeback connector, by the last commit */
static bool trains;    /* the link of the first connector, likewise */
static bool has_memory;
static int32_t *fence;	 /* where the next commit puts one; NULL: nowhere */
static int fence_status; /* of one that is signalled */
static unsigned sources; /* of the event loop, that were made */
static bool refuses_timers;

/* --- the device, as the code of kms/ sees it -------------------------------------------------- */

int __wrap_kms_connector_read(struct kms_connector *connector, int fd, uint32_t id);
int __wrap_kms_dumb_init(struct kms_dumb *dumb, int fd, uint32_t width, uint32_t height);
void __wrap_kms_dumb_finish(struct kms_dumb *dumb);
uint32_t __wrap_kms_fb_of_buffer(struct wl_list *list, int fd, struct wlr_buffer *buffer);
int __wrap_kms_request_commit(struct kms_request *request, int fd, uint32_t flags, void *data);
void __wrap_kms_request_set(
		struct kms_request *request, uint32_t object, uint32_t property, uint64_t value);
drmModeRes *__wrap_drmModeGetResources(int fd);
void __wrap_drmModeFreeResources(drmModeRes *list);
drmModePropertyBlobRes *__wrap_drmModeGetPropertyBlob(int fd, uint32_t id);
void __wrap_drmModeFreePropertyBlob(drmModePropertyBlobRes *blob);
int __wrap_drmModeCreatePropertyBlob(int fd, const void *data, size_t size, uint32_t *id);
int __wrap_drmModeDestroyPropertyBlob(int fd, uint32_t id);
int __wrap_ioctl(int fd, unsigned long request, ...);
struct wl_event_source *__real_wl_event_loop_add_fd(struct wl_event_loop *loop, int fd,
		uint32_t mask, wl_event_loop_fd_func_t func, void *data);
struct wl_event_source *__wrap_wl_event_loop_add_fd(struct wl_event_loop *loop, int fd,
		uint32_t mask, wl_event_loop_fd_func_t func, void *data);
struct wl_event_source *__real_wl_event_loop_add_timer(
		struct wl_event_loop *loop, wl_event_loop_timer_func_t func, void *data);
struct wl_event_source *__wrap_wl_event_loop_add_timer(
		struct wl_event_loop *loop, wl_event_loop_timer_func_t func, void *data);

int __wrap_kms_connector_read(struct kms_connector *connector, int fd, uint32_t id) {
	*connector = (struct kms_connector){
			.id = id, .possible_crtcs = has_second_crtc && id == FIRST ? 3 : 1};
	for (uint32_t i = 0; i < KMS_CONNECTOR_PROPERTIES; i++) {
		bool there = i == KMS_CONNECTOR_CRTC_ID || i == KMS_CONNECTOR_LINK_STATUS ||
				id == WRITEBACK;
		connector->properties[i] = there ? i + 1 : 0;
		connector->values[i] = 1;
	}
	return 0;
}

int __wrap_kms_dumb_init(struct kms_dumb *dumb, int fd, uint32_t width, uint32_t height) {
	static uint32_t pixels[8 * 8];
	*dumb = (struct kms_dumb){0};
	if (!has_memory) {
		return -ENOMEM;
	}
	*dumb = (struct kms_dumb){.id = 1, .width = width, .height = height, .data = pixels};
	return 0;
}

void __wrap_kms_dumb_finish(struct kms_dumb *dumb) {
	*dumb = (struct kms_dumb){0};
}

uint32_t __wrap_kms_fb_of_buffer(struct wl_list *list, int fd, struct wlr_buffer *buffer) {
	return 1;
}

int __wrap_kms_request_commit(struct kms_request *request, int fd, uint32_t flags, void *data) {
	trains = false;
	for (size_t i = 0; i < request->count; i++) {
		const struct kms_setting *setting = &request->settings[i];
		trains = trains ||
				(setting->object == FIRST && setting->value == 0 &&
						setting->property == KMS_CONNECTOR_LINK_STATUS + 1);
	}
	if (fence != NULL) {
		*fence = eventfd(0, EFD_CLOEXEC);
		fence = NULL;
	}
	return refuses ? -EINVAL : request->error;
}

void __wrap_kms_request_set(
		struct kms_request *request, uint32_t object, uint32_t property, uint64_t value) {
	unlinks = unlinks || (object == WRITEBACK && value == 0);
	if (object == WRITEBACK && property == KMS_CONNECTOR_WRITEBACK_OUT_FENCE_PTR + 1) {
		fence = (int32_t *)(uintptr_t)value; // NOLINT(performance-no-int-to-ptr)
	}
}

/* What a fence says, which is an eventfd here. */
int __wrap_ioctl(int fd, unsigned long request, ...) {
	va_list args;
	va_start(args, request);
	struct sync_file_info *info = va_arg(args, struct sync_file_info *);
	va_end(args);
	struct pollfd event = {.fd = fd, .events = POLLIN};
	if (request != SYNC_IOC_FILE_INFO || poll(&event, 1, 0) < 0) {
		return -1;
	}
	info->status = event.revents == POLLIN ? fence_status : 0;
	return 0;
}

struct wl_event_source *__wrap_wl_event_loop_add_fd(struct wl_event_loop *loop, int fd,
		uint32_t mask, wl_event_loop_fd_func_t func, void *data) {
	sources++;
	return __real_wl_event_loop_add_fd(loop, fd, mask, func, data);
}

struct wl_event_source *__wrap_wl_event_loop_add_timer(
		struct wl_event_loop *loop, wl_event_loop_timer_func_t func, void *data) {
	sources++;
	return refuses_timers ? NULL : __real_wl_event_loop_add_timer(loop, func, data);
}

drmModeRes *__wrap_drmModeGetResources(int fd) {
	static drmModeRes list;
	list.connectors = connectors;
	list.count_connectors = connector_count;
	looks++;
	return &list;
}

void __wrap_drmModeFreeResources(drmModeRes *list) {
}

drmModePropertyBlobRes *__wrap_drmModeGetPropertyBlob(int fd, uint32_t id) {
	static uint32_t formats[] = {DRM_FORMAT_XRGB8888};
	static drmModePropertyBlobRes blob = {.length = sizeof(formats), .data = formats};
	return &blob;
}

void __wrap_drmModeFreePropertyBlob(drmModePropertyBlobRes *blob) {
}

int __wrap_drmModeCreatePropertyBlob(int fd, const void *data, size_t size, uint32_t *id) {
	*id = 1;
	return 0;
}

int __wrap_drmModeDestroyPropertyBlob(int fd, uint32_t id) {
	return 0;
}

static struct kms_crtc crtcs[] = {{.id = 41}, {.id = 42, .index = 1}};
static struct kms_plane planes[] = {
		{.id = 51, .possible_crtcs = 1, .type = DRM_PLANE_TYPE_PRIMARY},
		{.id = 52, .possible_crtcs = 1, .type = DRM_PLANE_TYPE_OVERLAY},
		{.id = 53, .possible_crtcs = 2, .type = DRM_PLANE_TYPE_PRIMARY},
};

static void init_objects(struct kms_objects *objects) {
	*objects = (struct kms_objects){
			.planes = planes, .plane_count = 3, .crtcs = crtcs, .crtc_count = 1};
	for (uint32_t i = 0; i < KMS_CRTC_PROPERTIES; i++) {
		crtcs[0].properties[i] = crtcs[1].properties[i] = i + 1;
	}
	for (uint32_t i = 0; i < KMS_PLANE_PROPERTIES; i++) {
		planes[0].properties[i] = planes[1].properties[i] = i + 1;
		planes[2].properties[i] = i + 1;
	}
	wlr_drm_format_set_add(&planes[1].formats, DRM_FORMAT_XRGB8888, DRM_FORMAT_MOD_INVALID);
}

/* --- outputs ---------------------------------------------------------------------------------- */

static struct wlr_buffer picture;

static void destroy_picture(struct wlr_buffer *buffer) {
	wlr_buffer_finish(buffer);
}

static const struct wlr_buffer_impl picture_impl = {.destroy = destroy_picture};

static struct kms_output *plug_in(struct kms_device *device, uint32_t id) {
	drmModeModeInfo mode = {.hdisplay = WIDTH, .vdisplay = HEIGHT};
	drmModeConnector connector = {
			.connector_id = id,
			.connector_type = DRM_MODE_CONNECTOR_HDMIA,
			.connector_type_id = id,
			.count_modes = 1,
			.modes = &mode,
	};
	struct kms_connector properties;
	kms_connector_read(&properties, device->fd, id);
	return kms_output_create(device, &connector, &properties);
}

static void put_frame(struct wlr_output_state *state, const struct wlr_output *output) {
	struct wlr_output_mode *mode = wl_container_of(output->modes.next, mode, link);
	wlr_output_state_init(state);
	wlr_output_state_set_buffer(state, &picture);
	if (!output->enabled) {
		wlr_output_state_set_enabled(state, true);
		wlr_output_state_set_mode(state, mode);
	}
}

/* Also its first frame, which turns the output on. */
static bool show(struct kms_output *output) {
	const struct timespec when = {.tv_sec = 1};
	struct wlr_output_state state;
	put_frame(&state, &output->base);
	bool done = wlr_output_commit_state(&output->base, &state);
	wlr_output_state_finish(&state);
	if (done) {
		kms_output_flipped(output, 1, &when);
	}
	return done;
}

static bool could_show(struct kms_output *output) {
	struct wlr_output_state state;
	put_frame(&state, &output->base);
	bool done = wlr_output_test_state(&output->base, &state);
	wlr_output_state_finish(&state);
	return done;
}

static bool turn_off(struct kms_output *output) {
	struct wlr_output_state state;
	wlr_output_state_init(&state);
	wlr_output_state_set_enabled(&state, false);
	unlinks = false;
	bool done = wlr_output_commit_state(&output->base, &state);
	wlr_output_state_finish(&state);
	return done;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_crtc(struct kms_device *device) {
	struct kms_output *first = plug_in(device, FIRST), *other = plug_in(device, OTHER);
	refuses = true;
	tap_ok(!show(first) && first->error == -EINVAL, "an output that the device refuses");
	refuses = false;
	tap_ok(show(other), "leaves the CRTC to the other one");
	tap_ok(!show(first) && first->error == -ENOSPC && show(other),
			"which keeps it as long as it is on");
	tap_ok(turn_off(other) && could_show(first) && first->crtc == NULL,
			"one that was only tested has none");
	tap_ok(show(other) && turn_off(other) && show(first), "so that others can be turned on");
	wlr_output_destroy(&first->base);
	tap_ok(show(other), "also when that one is gone");
	wlr_output_destroy(&other->base);
}

static void test_two_crtcs(struct kms_device *device) {
	has_second_crtc = true;
	device->objects.crtc_count = 2;
	struct kms_output *first = plug_in(device, FIRST), *other = plug_in(device, OTHER);
	tap_ok(show(first) && first->crtc == &crtcs[1],
			"who can be on either of two CRTCs leaves the only one that fits another");
	tap_ok(show(other) && other->crtc == &crtcs[0] && show(first), "so that both can be shown");
	wlr_output_destroy(&first->base);
	wlr_output_destroy(&other->base);
	first = plug_in(device, FIRST);
	tap_ok(show(first) && first->crtc == &crtcs[0],
			"where nobody waits it takes the first one");
	wlr_output_destroy(&first->base);
	device->objects.crtc_count = 1;
	has_second_crtc = false;
}

static void test_link(struct kms_device *device) {
	struct kms_output *output = plug_in(device, FIRST);
	tap_ok(show(output) && trains, "who turns an output on trains its link");
	tap_ok(show(output) && !trains, "its frames do not");
	output->base.needs_frame = false;
	kms_output_link_lost(output);
	tap_ok(output->base.needs_frame && show(output) && trains,
			"when it is lost a frame is wanted, which trains it again");
	tap_ok(show(output) && !trains, "once");
	wlr_output_destroy(&output->base);
}

static void test_no_writeback(struct kms_device *device) {
	struct kms_output *output = plug_in(device, FIRST);
	kms_writeback_want(output);
	bool shown = show(output);
	const unsigned before = looks;
	tap_ok(shown && before > 0 && !kms_writeback_is_there(output),
			"a device without a writeback connector");
	for (int i = 0; i < 10; i++) {
		shown = show(output) && shown;
	}
	tap_ok(shown && looks == before, "with its frames nobody looks for one: %u times in 10",
			looks - before);
	wlr_output_destroy(&output->base);
}

static void test_no_memory(struct kms_device *device) {
	struct kms_output *output = plug_in(device, FIRST);
	kms_writeback_want(output);
	tap_ok(show(output) && output->writeback->found && !kms_writeback_is_there(output) &&
					!kms_writeback_is_ready(output),
			"without memory for what is written back nothing is");
	tap_ok(turn_off(output) && unlinks,
			"but its connector is there, and let go of with the CRTC");
	wlr_output_destroy(&output->base);
}

static unsigned written, failed;

static void handle_written(void *data, const struct kms_dumb *dumb) {
	*(dumb != NULL ? &written : &failed) += 1;
}

/* A frame that is to be written back. */
static bool show_and_write(struct kms_output *output) {
	kms_writeback_ask(output, handle_written, NULL);
	return show(output) && output->writeback->fence >= 0;
}

static void signal_fence(const struct kms_output *output, int status) {
	fence_status = status;
	eventfd_write(output->writeback->fence, 1);
	wl_event_loop_dispatch(output->device->loop, 0);
}

/* The next descriptor's number, which is the lowest that is free. */
static int next_descriptor(void) {
	int fd = eventfd(0, EFD_CLOEXEC);
	close(fd);
	return fd;
}

static void test_written(struct kms_output *output) {
	const unsigned before = sources;
	const int next = next_descriptor();
	bool shown = true;
	written = failed = 0;
	for (int i = 0; i < 10; i++) {
		shown = show_and_write(output) && output->writeback->fence == next && shown;
		signal_fence(output, 1);
	}
	tap_ok(shown && written == 10 && failed == 0, "10 pictures are written: %u", written);
	tap_ok(sources == before && next_descriptor() == next,
			"with the descriptors that the kernel gives, and nothing else: %u sources",
			sources - before);
	shown = show_and_write(output);
	signal_fence(output, -EIO);
	tap_ok(shown && failed == 1 && kms_writeback_is_ready(output),
			"one that the device could not write");
}

/* Sets the mode again, which ends the writeback, and begins another one. */
static int handle_first(int fd, uint32_t mask, void *data) {
	struct kms_output *output = data;
	eventfd_t value;
	eventfd_read(fd, &value);
	output->stale = true;
	tap_ok(show(output) && failed == 1 && show_and_write(output), "a writeback, and another");
	return 0;
}

/* The loop looks once for all that is ready: the fence was, but it is not there any more. */
static void test_written_late(struct kms_output *output) {
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct wl_event_source *first = wl_event_loop_add_fd(
			output->device->loop, fd, WL_EVENT_READABLE, handle_first, output);
	written = failed = 0;
	/* What was ready once keeps its place before `first` until the loop has looked again. */
	wl_event_loop_dispatch(output->device->loop, 0);
	bool shown = show_and_write(output);
	eventfd_write(fd, 1);
	signal_fence(output, 1);
	tap_ok(shown && failed == 1 && written == 0 && !kms_writeback_is_ready(output),
			"it is not taken for ended with the one before it");
	signal_fence(output, 1);
	tap_ok(failed == 1 && written == 1 && kms_writeback_is_ready(output), "and ends itself");
	wl_event_source_remove(first);
	close(fd);
}

static void test_writeback(struct kms_device *device) {
	const int next = next_descriptor();
	struct kms_output *output = plug_in(device, FIRST);
	has_memory = true;
	kms_writeback_want(output);
	if (tap_ok(show(output) && kms_writeback_is_ready(output), "a writeback connector")) {
		test_written(output);
		test_written_late(output);
	}
	wlr_output_destroy(&output->base);
	tap_ok(next_descriptor() == next, "all descriptors are closed with the output");
	output = plug_in(device, FIRST);
	refuses_timers = true;
	kms_writeback_want(output);
	tap_ok(show(output) && output->writeback->found && !kms_writeback_is_there(output),
			"nothing is written back whose end could not be waited for");
	refuses_timers = has_memory = false;
	wlr_output_destroy(&output->base);
}

static void put_picture(struct kms_layer *layer) {
	size_t stride;
	if (kms_layer_begin(layer, &stride) != NULL) {
		kms_layer_submit(layer);
	}
}

/* Its picture is not on the screen after the output was off, whatever was there before. */
static void test_layers(struct kms_device *device) {
	struct kms_output *output = plug_in(device, FIRST);
	has_memory = true;
	bool shown = show(output);
	struct kms_layer *layer = kms_layer_create(output, 0, 0, 8, 8);
	kms_layers_plan(output);
	put_picture(layer);
	tap_ok(shown && layer->plane == &planes[1] && show(output) && kms_layer_is_shown(layer),
			"a picture on a plane of its own");
	tap_ok(turn_off(output) && planes[1].output == NULL && !kms_layers_have_plane(output),
			"the plane is free when the output is off");
	tap_ok(show(output) && !kms_layer_is_shown(layer) && planes[1].output == NULL,
			"and free when it is on again, without the picture");
	kms_layers_plan(output);
	tap_ok(show(output) && layer->plane == &planes[1] && !kms_layer_is_shown(layer),
			"planned anew, it has no picture yet");
	put_picture(layer);
	tap_ok(show(output) && kms_layer_is_shown(layer), "and then one");
	kms_layer_destroy(layer);
	wlr_output_destroy(&output->base);
	has_memory = false;
}

static void destroy_nothing(struct wlr_backend *backend) {
}

#if WLROOTS_VERSION < 19
static uint32_t get_caps(struct wlr_backend *backend) {
	return WLR_BUFFER_CAP_DMABUF;
}
#endif

static const struct wlr_backend_impl impl = {
		.destroy = destroy_nothing,
#if WLROOTS_VERSION < 19
		.get_buffer_caps = get_caps,
#endif
};

int main(void) {
	struct wl_display *display = wl_display_create();
	struct wlr_session session = {.active = true};
	struct kms_device device = {
			.session = &session,
			.loop = wl_display_get_event_loop(display),
			.fd = -1,
	};
	wl_list_init(&device.outputs);
	wl_list_init(&device.fbs);
	init_objects(&device.objects);
	wlr_backend_init(&device.base, &impl);
	wlr_buffer_init(&picture, &picture_impl, WIDTH, HEIGHT);
	connector_count = 2;
	test_crtc(&device);
	test_two_crtcs(&device);
	test_link(&device);
	test_no_writeback(&device);
	connector_count = 3;
	test_no_memory(&device);
	test_writeback(&device);
	test_layers(&device);
	wlr_drm_format_set_finish(&planes[1].formats);
	wlr_buffer_drop(&picture);
	wlr_backend_finish(&device.base);
	wl_display_destroy(display);
	return tap_finish();
}
