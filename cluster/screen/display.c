// SPDX-License-Identifier: MIT
#include "display.h"

#include <errno.h>
#include <stdlib.h>
#include <wlr/backend/multi.h>
#include <wlr/util/log.h>

#include "virtual_backend.h"

/* Composing for one screen may have to wait for a frame of every other screen. */
static void display_tell_worst_frame(struct display *display) {
	uint64_t ns = display_worst_frame_ns(display);
	for (size_t i = 0; i < display->screen_count; i++) {
		screen_set_worst_frame(&display->screens[i], ns);
	}
}

static void handle_new_output(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, new_output);
	struct wlr_output *output = data;
	for (size_t i = 0; i < display->screen_count; i++) {
		if (screen_matches(&display->screens[i], output)) {
			screen_attach_output(&display->screens[i], output);
			display_tell_worst_frame(display);
			return;
		}
	}
	wlr_log(WLR_INFO, "output %s stays dark: %s", output->name,
			display->config->outputs[0].name == NULL
					? "one is enough"
					: "the configuration does not name it");
}

/* The service manager restarts the display, with the devices that exist then. */
static void display_fail(struct display *display, const char *what) {
	wlr_log(WLR_ERROR, "%s: ending, to be started again", what);
	display->failed = display->ends = true;
}

static void handle_backend_destroy(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, backend_destroy);
	wl_list_remove(&display->backend_destroy.link);
	wl_list_remove(&display->new_output.link);
	display->backend_destroy.notify = display->new_output.notify = NULL;
	display->device.backend = NULL;
	display_fail(display, "the device of the screen is gone");
}

/*
 * A backend within the multi backend. When the compositor around our window is gone, wlroots
 * destroys this part, and keeps the multi backend.
 */
struct device_part {
	struct wl_list link;
	struct wl_listener destroy;
	struct display *display;
};

static void device_part_destroy(struct device_part *part) {
	wl_list_remove(&part->link);
	wl_list_remove(&part->destroy.link);
	free(part);
}

static void handle_part_destroy(struct wl_listener *listener, void *data) {
	struct device_part *part = wl_container_of(listener, part, destroy);
	struct display *display = part->display;
	device_part_destroy(part);
	if (wl_list_empty(&display->parts)) {
		display_fail(display, "the device of the screen is gone");
	}
}

static void handle_renderer_lost(struct wl_listener *listener, void *data) {
	struct display *display = wl_container_of(listener, display, renderer_lost);
	display_fail(display, "the GPU has lost its state");
}

static void listen(
		struct wl_signal *signal, struct wl_listener *listener, wl_notify_func_t notify) {
	listener->notify = notify;
	wl_signal_add(signal, listener);
}

/* Out of memory: the loss of this part goes unnoticed. */
static void add_part(struct wlr_backend *backend, void *data) {
	struct display *display = data;
	struct device_part *part = calloc(1, sizeof(*part));
	if (part != NULL) {
		part->display = display;
		wl_list_insert(&display->parts, &part->link);
		listen(&backend->events.destroy, &part->destroy, handle_part_destroy);
	}
}

static int display_init_screens(
		struct display *display, const struct screen_hooks *hooks, void *data) {
	const struct cluster_config *config = display->config;
	display->screens = calloc(config->output_count, sizeof(*display->screens));
	if (display->screens == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < config->output_count; i++) {
		struct screen *screen = &display->screens[display->screen_count++];
		*screen = (struct screen){
				.device = &display->device,
				.whole = config,
				.config = &config->outputs[i],
				.hooks = hooks,
				.data = data,
		};
		int ret = screen_init(screen, display->loop);
		if (ret < 0) {
			return ret;
		}
	}
	return 0;
}

static bool wants_planes(const struct cluster_config *config) {
	bool planes = false;
	for (size_t i = 0; i < config->output_count; i++) {
		planes |= config->outputs[i].planes != PLANES_OFF;
	}
	return planes;
}

int display_init(struct display *display, struct wl_event_loop *loop, bool headless,
		const struct cluster_config *config, const struct screen_hooks *hooks, void *data) {
	*display = (struct display){.loop = loop, .config = config};
	wl_list_init(&display->parts);
	if (!device_init(&display->device, loop, headless, wants_planes(config),
			    cluster_config_takes(config) != 0)) {
		return -ENODEV;
	}
	int ret = display_init_screens(display, hooks, data);
	if (ret < 0) {
		return ret;
	}
	struct device *device = &display->device;
	listen(&device->backend->events.new_output, &display->new_output, handle_new_output);
	listen(&device->backend->events.destroy, &display->backend_destroy, handle_backend_destroy);
	if (wlr_backend_is_multi(device->backend)) {
		wlr_multi_for_each_backend(device->backend, add_part, display);
	}
	listen(&device->renderer->events.lost, &display->renderer_lost, handle_renderer_lost);
	return 0;
}

static int display_add_virtual_outputs(struct display *display) {
	const struct cluster_config *config = display->config;
	for (size_t i = 0; i < config->output_count; i++) {
		const struct output_config *one = &config->outputs[i];
		if (!virtual_backend_add_output(display->device.backend,
				    one->width ? one->width : OUTPUT_WIDTH,
				    one->height ? one->height : OUTPUT_HEIGHT, one->name)) {
			return -ENOMEM;
		}
	}
	return 0;
}

static uint64_t measure_again(void *data) {
	struct display *display = data;
	for (size_t i = 0; i < display->screen_count; i++) {
		screen_measure(&display->screens[i]);
	}
	return display_worst_frame_ns(display);
}

/* Before anything is shown: if a frame takes too long now, it will later. */
static int display_check_bound(struct display *display) {
	uint64_t refresh = display_refresh_ns(display);
	uint64_t sum = frame_bound_remeasure(display->config, display_worst_frame_ns(display),
			refresh, measure_again, display);
	display_tell_worst_frame(display);
	if (frame_bound_is_allowed(display->config, sum, refresh)) {
		return 0;
	}
	wlr_log(WLR_ERROR,
			"a frame can take %.2f ms, %.0f %% of a refresh, and worst-frame= allows %u %%: "
			"gid-cluster --check says what takes how long; have fewer or smaller "
			"outputs, layers and roles, or allow more",
			(double)sum / 1e6, (double)sum * 100 / (double)refresh,
			display->config->worst_frame);
	return -E2BIG;
}

int display_start(struct display *display) {
	if (backend_is_virtual(display->device.backend) &&
			display_add_virtual_outputs(display) < 0) {
		return -ENOMEM;
	}
	if (!device_start(&display->device)) {
		return -EIO;
	}
	size_t found = 0;
	for (size_t i = 0; i < display->screen_count; i++) {
		const struct screen *screen = &display->screens[i];
		found += screen->output != NULL;
		if (screen->output == NULL && display->screen_count > 1) {
			wlr_log(WLR_ERROR, "output %s is not there: dark until it comes",
					screen->config->name);
		}
	}
	if (found == 0) {
		const char *name = display->screens[0].config->name;
		wlr_log(WLR_ERROR, "no screen to show anything on: %s%s",
				name != NULL ? "output=" : "none is connected, or it refuses",
				name != NULL ? name : "");
		return -ENODEV;
	}
	return display_check_bound(display);
}

void display_finish(struct display *display) {
	for (size_t i = 0; i < display->screen_count; i++) {
		screen_finish(&display->screens[i]);
	}
	free(display->screens);
	if (display->new_output.notify != NULL) {
		wl_list_remove(&display->new_output.link);
		wl_list_remove(&display->backend_destroy.link);
	}
	if (display->renderer_lost.notify != NULL) {
		wl_list_remove(&display->renderer_lost.link);
	}
	struct device_part *part, *next;
	wl_list_for_each_safe(part, next, &display->parts, link) {
		device_part_destroy(part);
	}
	device_finish(&display->device);
}

/*
 * A device that does not flip would keep its last picture as long as this process has the device. A
 * restart sets the mode again, which may help; else the screen goes dark.
 */
void display_tick(struct display *display, uint64_t now) {
	uint64_t refresh = display_refresh_ns(display);
	for (size_t i = 0; i < display->screen_count; i++) {
		screen_tick(&display->screens[i], now);
		if (screen_is_stuck(&display->screens[i], refresh) && !display->failed) {
			display_fail(display, "the device does not show what it is given");
		}
	}
}

uint64_t display_refresh_ns(const struct display *display) {
	uint64_t least = screen_refresh_ns(&display->screens[0]);
	for (size_t i = 1; i < display->screen_count; i++) {
		uint64_t refresh = screen_refresh_ns(&display->screens[i]);
		least = refresh < least ? refresh : least;
	}
	return least;
}

uint64_t display_worst_frame_ns(const struct display *display) {
	uint64_t sum = 0;
	for (size_t i = 0; i < display->screen_count; i++) {
		sum += display->screens[i].bound.total;
	}
	return sum;
}
