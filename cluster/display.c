// SPDX-License-Identifier: MIT
#include "display.h"

#include "mode.h"
#include "monotonic.h"
#include "versions.h"
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <wlr/backend/headless.h>
#include <wlr/render/wlr_texture.h>
#include <wlr/util/log.h>

/* --- what was composed ------------------------------------------------------------------------ */

typedef void (*pixels_func)(void *data, const struct pixels *pixels);

/* From a renderer whose buffers a processor cannot read: a copy. */
static bool read_texture(
		struct display *display, struct wlr_buffer *buffer, pixels_func func, void *data) {
	struct wlr_texture *texture = wlr_texture_from_buffer(display->device.renderer, buffer);
	size_t stride = (size_t)buffer->width * 4;
	void *copy = malloc(stride * (size_t)buffer->height);
	bool read = texture != NULL && copy != NULL &&
			wlr_texture_read_pixels(texture,
					&(struct wlr_texture_read_pixels_options){
							.data = copy,
							.format = DRM_FORMAT_XRGB8888,
							.stride = (uint32_t)stride,
					});
	if (read) {
		struct pixels pixels = {
				copy, (uint32_t)buffer->width, (uint32_t)buffer->height, stride};
		func(data, &pixels);
	}
	free(copy);
	wlr_texture_destroy(texture);
	return read;
}

static bool read_buffer(
		struct display *display, struct wlr_buffer *buffer, pixels_func func, void *data) {
	void *memory;
	uint32_t format;
	size_t stride;
	if (!wlr_buffer_begin_data_ptr_access(
			    buffer, WLR_BUFFER_DATA_PTR_ACCESS_READ, &memory, &format, &stride)) {
		return read_texture(display, buffer, func, data);
	}
	bool known = format == DRM_FORMAT_XRGB8888 || format == DRM_FORMAT_ARGB8888;
	if (known) {
		struct pixels pixels = {
				memory, (uint32_t)buffer->width, (uint32_t)buffer->height, stride};
		func(data, &pixels);
	}
	wlr_buffer_end_data_ptr_access(buffer);
	return known;
}

struct capture {
	const struct gid_box *box;
	struct own_picture *picture;
};

static void capture_pixels(void *data, const struct pixels *pixels) {
	struct capture *capture = data;
	const struct gid_box *box = capture->box;
	if ((uint32_t)(box->x + box->width) <= pixels->width &&
			(uint32_t)(box->y + box->height) <= pixels->height) {
		struct pixels part = pixels_part(pixels, (uint32_t)box->x, (uint32_t)box->y,
				(uint32_t)box->width, (uint32_t)box->height);
		capture->picture = own_picture_copy(&part);
	}
}

struct own_picture *display_capture(struct display *display, const struct gid_box *box) {
	struct capture capture = {.box = box};
	if (display->front != NULL) {
		read_buffer(display, display->front, capture_pixels, &capture);
	}
	return capture.picture;
}

struct check {
	struct display *display;
	uint64_t now;
	bool passed;
};

static void check_pixels(void *data, const struct pixels *pixels) {
	struct check *check = data;
	check->passed = check->display->hooks->check(check->display->data, pixels, check->now);
}

static bool display_check(struct display *display, struct wlr_buffer *buffer, uint64_t now) {
	struct check check = {.display = display, .now = now, .passed = true};
	if (buffer == NULL || !read_buffer(display, buffer, check_pixels, &check)) {
		struct pixels nothing = {0}; /* what cannot be read cannot be shown to be right */
		check_pixels(&check, &nothing);
	}
	return check.passed;
}

/* --- a frame ---------------------------------------------------------------------------------- */

static bool display_compose(struct display *display, struct wlr_output_state *state, uint64_t now) {
	for (int round = 0; round < 2; round++) {
		wlr_output_state_init(state);
		if (!wlr_scene_output_build_state(display->scene_output, state, NULL)) {
			wlr_output_state_finish(state);
			return false;
		}
		if (display_check(display, state->buffer, now) || round == 1) {
			break;
		}
		wlr_output_state_finish(state);
	}
	return true;
}

static void display_count(struct display *display, uint64_t begin) {
	struct display_stats *stats = &display->stats;
	uint64_t spent = gid_clock_now() - begin;
	stats->frames++;
	stats->compose_ns += spent;
	samples_add(&stats->compose, spent);
	if (spent > stats->compose_max_ns) {
		stats->compose_max_ns = spent;
	}
	if (stats->last != 0 && begin - stats->last > stats->longest_gap_ns) {
		stats->longest_gap_ns = begin - stats->last;
	}
	stats->last = begin;
}

/* To the nanosecond: what the event loop's own timers round up would be lost at each frame. */
static void display_wait(struct display *display, uint64_t ns) {
	ns = ns > 0 ? ns : 1;
	struct itimerspec when = {
			.it_value = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)},
	};
	timerfd_settime(display->timer, 0, &when, NULL);
}

/*
 * wlroots' headless output asks for a frame some time after the one before was composed: each would
 * be later by as long as composing took. There the time is ours alone.
 */
static bool display_needs_no_device(const struct display *display) {
	return wlr_output_is_headless(display->output);
}

static void display_render(struct display *display, uint64_t now) {
	struct wlr_output_state state;
	if (!display_compose(display, &state, now)) {
		display->stats.missed++;
		display_wait(display, display_refresh_ns(display));
		return;
	}
	if (wlr_output_commit_state(display->output, &state)) {
		wlr_buffer_unlock(display->front);
		display->front = state.buffer != NULL ? wlr_buffer_lock(state.buffer) : NULL;
		display_count(display, now);
		frame_clock_take(&display->clock, now, display_refresh_ns(display));
		if (display_needs_no_device(display)) {
			display_wait(display, frame_clock_wait(&display->clock, gid_clock_now()));
		}
	} else {
		display->stats.missed++;
		display_wait(display,
				frame_clock_refused(&display->clock, display_refresh_ns(display)));
	}
	wlr_output_state_finish(&state);
}

static void display_frame(struct display *display) {
	uint64_t now = gid_clock_now();
	uint64_t wait = frame_clock_wait(&display->clock, now);
	if (wait > 0) {
		display_wait(display, wait);
		return;
	}
	display->hooks->begin(display->data, now);
	if (wlr_scene_output_needs_frame(display->scene_output)) {
		display_render(display, now);
	} else {
		display->stats.last = 0; /* nothing moves: the next pause is none */
	}
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	wlr_scene_output_send_frame_done(display->scene_output, &time);
}

static void handle_frame(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, frame);
	display_frame(display);
}

/*
 * A frame that is still on its way ends with a call of its own. While others have the screen
 * nothing can be shown; wlroots asks for a frame afterwards.
 */
static int handle_timer(int fd, uint32_t mask, void *data) {
	struct display *display = data;
	uint64_t expirations;
	if (read(fd, &expirations, sizeof(expirations)) < 0 || display->output == NULL) {
		return 0;
	}
	bool away = display->device.session != NULL && !display->device.session->active;
	bool pending = display->output->frame_pending && !display_needs_no_device(display);
	if (!pending && !away) {
		display_frame(display);
	}
	return 0;
}

static void handle_present(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, present);
	const struct wlr_output_event_present *event = data;
	if (event->presented) {
		const struct timespec *at = presented_at(event);
		uint64_t when = at != NULL ? monotonic_of(at) : gid_clock_now();
		display->hooks->presented(display->data, event->commit_seq, when);
		if (frame_clock_shown(&display->clock, when, display_refresh_ns(display))) {
			wlr_log(WLR_INFO,
					"output %s does not wait for its refresh: gid-cluster "
					"keeps the time itself",
					display->output->name);
		}
	}
}

uint32_t display_next_commit(const struct display *display) {
	uint32_t next = display->output != NULL ? display->output->commit_seq + 1 : 1;
	return next != 0 ? next : 1;
}

uint64_t display_refresh_ns(const struct display *display) {
	uint32_t mhz = display->output != NULL && display->output->refresh > 0
			? (uint32_t)display->output->refresh
			: DEFAULT_REFRESH_MHZ;
	return 1000000000000u / mhz;
}

/* --- the output ------------------------------------------------------------------------------- */

static void handle_request_state(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, request_state);
	const struct wlr_output_event_request_state *event = data;
	wlr_output_commit_state(display->output, event->state);
}

static void display_forget_output(struct display *display) {
	if (display->output == NULL) {
		return;
	}
	wl_list_remove(&display->frame.link);
	wl_list_remove(&display->present.link);
	wl_list_remove(&display->request_state.link);
	wl_list_remove(&display->output_destroy.link);
	wlr_buffer_unlock(display->front);
	display->front = NULL;
	display->clock = (struct frame_clock){0};
	display->output = NULL;
	display->scene_output = NULL; /* goes with the output */
}

static void handle_output_destroy(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, output_destroy);
	wlr_log(WLR_ERROR, "output %s is gone", display->output->name);
	display_forget_output(display);
}

/* Without it the display works as well: what it is there for goes before. */
static void display_set_background(struct display *display) {
	const char *path = display->config->background;
	const struct wlr_output *output = display->output;
	if (path == NULL || display->background != NULL) {
		return;
	}
	int ret = own_picture_read(&display->background, path, output->width, output->height);
	struct wlr_scene_buffer *node = ret == 0
			? wlr_scene_buffer_create(&display->scene->tree,
					  own_picture_buffer(display->background))
			: NULL;
	if (node == NULL) {
		wlr_log(WLR_ERROR, "background=%s: %s", path,
				ret == -EINVAL ? "no PNG that can be read" : "no memory");
		return;
	}
	wlr_scene_node_lower_to_bottom(&node->node);
}

static void listen(
		struct wl_signal *signal, struct wl_listener *listener, wl_notify_func_t notify) {
	listener->notify = notify;
	wl_signal_add(signal, listener);
}

static void handle_new_output(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, new_output);
	struct wlr_output *output = data;
	bool wanted = mode_output_is_wanted(display->config, output);
	if (display->output != NULL || !wanted) {
		wlr_log(WLR_INFO, "output %s stays dark: %s", output->name,
				wanted ? "one is enough" : "the configuration names another");
		return;
	}
	if (!wlr_output_init_render(output, display->device.allocator, display->device.renderer)) {
		wlr_log(WLR_ERROR, "output %s cannot be drawn to", output->name);
		return;
	}
	if (!mode_set(output, display->config)) {
		return;
	}
	display->output = output;
	listen(&output->events.frame, &display->frame, handle_frame);
	listen(&output->events.present, &display->present, handle_present);
	listen(&output->events.request_state, &display->request_state, handle_request_state);
	listen(&output->events.destroy, &display->output_destroy, handle_output_destroy);
	display_set_background(display);
	struct wlr_output_layout_output *place =
			wlr_output_layout_add(display->layout, output, 0, 0);
	display->scene_output = wlr_scene_output_create(display->scene, output);
	wlr_scene_output_layout_add_output(display->scene_layout, place, display->scene_output);
	display->stats = (struct display_stats){.started = gid_clock_now()};
	display->clock.own_time = display_needs_no_device(display);
}

/* Whoever started us tries again, with the devices that there are then. */
static void display_fail(struct display *display, const char *what) {
	wlr_log(WLR_ERROR, "%s: ending, to be started again", what);
	display->failed = true;
	wl_display_terminate(display->wayland);
}

static void handle_backend_destroy(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, backend_destroy);
	wl_list_remove(&display->backend_destroy.link);
	wl_list_remove(&display->new_output.link);
	display->backend_destroy.notify = display->new_output.notify = NULL;
	display->device.backend = NULL;
	display_fail(display, "the device of the screen is gone");
}

static void handle_renderer_lost(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, renderer_lost);
	display_fail(display, "the GPU has lost its state");
}

int display_init(struct display *display, struct wl_display *wayland, bool headless,
		const struct cluster_config *config, const struct display_hooks *hooks,
		void *data) {
	*display = (struct display){
			.wayland = wayland,
			.config = config,
			.hooks = hooks,
			.data = data,
			.timer = -1,
	};
	if (!device_init(&display->device, wayland, headless)) {
		return -ENODEV;
	}
	display->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	display->timer_source = display->timer < 0
			? NULL
			: wl_event_loop_add_fd(wl_display_get_event_loop(wayland), display->timer,
					  WL_EVENT_READABLE, handle_timer, display);
	/*
	 * All is composed into our own memory. A client's buffer on the screen could change after
	 * the check; and from wlroots 0.19 on also one that covers a part of the output goes there.
	 */
	setenv("WLR_SCENE_DISABLE_DIRECT_SCANOUT", "1", 1);
	display->scene = wlr_scene_create();
	display->layout = wlr_output_layout_create(wayland);
	if (display->timer_source == NULL || display->scene == NULL || display->layout == NULL) {
		return -ENOMEM;
	}
	display->scene_layout = wlr_scene_attach_output_layout(display->scene, display->layout);
	display->clients = wlr_scene_tree_create(&display->scene->tree);
	display->safety = wlr_scene_tree_create(&display->scene->tree);
	struct device *device = &display->device;
	listen(&device->backend->events.new_output, &display->new_output, handle_new_output);
	listen(&device->backend->events.destroy, &display->backend_destroy, handle_backend_destroy);
	listen(&device->renderer->events.lost, &display->renderer_lost, handle_renderer_lost);
	return 0;
}

int display_start(struct display *display) {
	if (!wlr_backend_start(display->device.backend)) {
		return -EIO;
	}
	if (wlr_backend_is_headless(display->device.backend)) {
		const struct cluster_config *config = display->config;
		wlr_headless_add_output(display->device.backend,
				config->width ? config->width : 1280,
				config->height ? config->height : 720);
	}
	if (display->output == NULL) {
		const char *name = display->config->output;
		wlr_log(WLR_ERROR, "no screen to show anything on: %s%s",
				name != NULL ? "output=" : "none is connected, or it refuses",
				name != NULL ? name : "");
		return -ENODEV;
	}
	return 0;
}

void display_finish(struct display *display) {
	display_forget_output(display);
	if (display->timer_source != NULL) {
		wl_event_source_remove(display->timer_source);
	}
	if (display->timer >= 0) {
		close(display->timer);
	}
	if (display->scene != NULL) {
		wlr_scene_node_destroy(&display->scene->tree.node);
	}
	own_picture_destroy(display->background);
	if (display->new_output.notify != NULL) {
		wl_list_remove(&display->new_output.link);
		wl_list_remove(&display->backend_destroy.link);
	}
	if (display->renderer_lost.notify != NULL) {
		wl_list_remove(&display->renderer_lost.link);
	}
	device_finish(&display->device);
}
