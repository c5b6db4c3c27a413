// SPDX-License-Identifier: MIT
#include "panels.h"

#include <stdlib.h>
#include <string.h>
#include <wlr/types/wlr_keyboard.h>
#include <wlr/types/wlr_pointer.h>
#include <wlr/types/wlr_touch.h>
#include <wlr/util/log.h>

#define DEVICES_MAX 32 /* more than any display has */
#define LISTENERS 5
#define FRACTION 256 /* per pixel, in the units of an event */

struct panel {
	struct wl_list link; /* panels.devices */
	struct panels *panels;
	struct wlr_input_device *device;
	double x, y; /* its pointer's place on the screen, in pixels */
	struct wl_listener listeners[LISTENERS];
	size_t count; /* listeners in use */
	struct wl_listener destroy;
};

/* --- places ----------------------------------------------------------------------------------- */

/* The output that a touch panel or pointer belongs to; keyboards have none. */
static const char *panel_output_name(const struct panel *panel) {
	return panel->device->type == WLR_INPUT_DEVICE_TOUCH
			? wlr_touch_from_input_device(panel->device)->output_name
			: wlr_pointer_from_input_device(panel->device)->output_name;
}

static bool names_are_equal(const char *one, const char *other) {
	return one != NULL && other != NULL && strcmp(one, other) == 0;
}

/*
 * The device's screen: by the configuration, by what the device says, or the only one. NULL: none,
 * or it is off.
 */
static const struct screen *panel_screen(const struct panel *panel) {
	const struct display *display = panel->panels->display;
	const char *output_name = panel_output_name(panel);
	const struct screen *found = display->screen_count == 1 ? &display->screens[0] : NULL;
	for (size_t i = 0; i < display->screen_count; i++) {
		const struct screen *screen = &display->screens[i];
		if (names_are_equal(screen->config->panel, panel->device->name)) {
			found = screen;
			break;
		}
		if (screen->output != NULL && names_are_equal(output_name, screen->output->name)) {
			found = screen;
		}
	}
	return found != NULL && found->output != NULL ? found : NULL;
}

static double within(double at, int32_t size) {
	return at < 0 ? 0 : at > size - 1 ? size - 1 : at;
}

static uint64_t panel_time(const struct panel *panel, uint32_t ms) {
	struct panels *panels = panel->panels;
	uint64_t time = input_time_of_ms(ms, gid_clock_now());
	panels->time = time > panels->time ? time : panels->time;
	return panels->time;
}

/* --- fingers ---------------------------------------------------------------------------------- */

#define PANEL(index) wl_container_of(listener, panel, listeners[index])

/* Converts from fractions of the panel to pixels of its screen. Returns the screen, or NULL. */
static const struct screen *panel_place(const struct panel *panel, double *x, double *y) {
	const struct screen *screen = panel_screen(panel);
	if (screen != NULL) {
		*x = within(*x * screen->output->width, screen->output->width);
		*y = within(*y * screen->output->height, screen->output->height);
	}
	return screen;
}

static void handle_down(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(0);
	const struct wlr_touch_down_event *event = data;
	double x = event->x, y = event->y;
	const struct screen *screen = panel_place(panel, &x, &y);
	if (screen != NULL) {
		input_router_touch_down(panel->panels->router, event->touch_id, screen, x, y,
				panel_time(panel, event->time_msec));
	}
}

static void handle_motion(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(1);
	const struct wlr_touch_motion_event *event = data;
	double x = event->x, y = event->y;
	if (panel_place(panel, &x, &y) != NULL) {
		input_router_touch_motion(panel->panels->router, event->touch_id, x, y,
				panel_time(panel, event->time_msec));
	}
}

static void handle_up(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(2);
	const struct wlr_touch_up_event *event = data;
	input_router_touch_up(panel->panels->router, event->touch_id,
			panel_time(panel, event->time_msec));
}

static void handle_cancel(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(3);
	const struct wlr_touch_cancel_event *event = data;
	input_router_touch_up(panel->panels->router, event->touch_id,
			panel_time(panel, event->time_msec));
}

static void handle_frame(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(4);
	input_router_end_group(panel->panels->router, panel->panels->time);
}

/* --- pointers --------------------------------------------------------------------------------- */

static void panel_point(struct panel *panel, uint32_t ms) {
	const struct screen *screen = panel_screen(panel);
	if (screen != NULL) {
		panel->x = within(panel->x, screen->output->width);
		panel->y = within(panel->y, screen->output->height);
		input_router_point(panel->panels->router, screen, panel->x, panel->y,
				panel_time(panel, ms));
	}
}

static void handle_pointer_motion(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(0);
	const struct wlr_pointer_motion_event *event = data;
	panel->x += event->delta_x;
	panel->y += event->delta_y;
	panel_point(panel, event->time_msec);
}

static void handle_pointer_place(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(1);
	const struct wlr_pointer_motion_absolute_event *event = data;
	const struct screen *screen = panel_screen(panel);
	if (screen != NULL) {
		panel->x = event->x * screen->output->width;
		panel->y = event->y * screen->output->height;
		panel_point(panel, event->time_msec);
	}
}

static void handle_button(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(2);
	const struct wlr_pointer_button_event *event = data;
	bool pressed = event->state == WL_POINTER_BUTTON_STATE_PRESSED;
	input_router_button(panel->panels->router, event->button, pressed,
			panel_time(panel, event->time_msec));
}

static int32_t fixed_of(double distance) {
	double fixed = distance * FRACTION;
	return fixed > INPUT_DISTANCE_MAX	      ? INPUT_DISTANCE_MAX
			: fixed < -INPUT_DISTANCE_MAX ? -INPUT_DISTANCE_MAX
						      : (int32_t)fixed;
}

static void handle_axis(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(3);
	const struct wlr_pointer_axis_event *event = data;
	input_router_axis(panel->panels->router,
			&(struct input_record){.type = INPUT_AXIS,
					.code = (uint16_t)event->orientation,
					.value = (int32_t)event->source + 1,
					.time = panel_time(panel, event->time_msec),
					.x = fixed_of(event->delta),
					.y = event->delta_discrete});
}

/* --- keys ------------------------------------------------------------------------------------- */

static void handle_key(struct wl_listener *listener, void *data) {
	struct panel *panel = PANEL(0);
	const struct wlr_keyboard_key_event *event = data;
	uint64_t time = panel_time(panel, event->time_msec);
	bool pressed = event->state == WL_KEYBOARD_KEY_STATE_PRESSED;
	input_router_key(panel->panels->router, event->keycode, pressed, time);
	input_router_end_group(panel->panels->router, time);
}

/* --- devices ---------------------------------------------------------------------------------- */

static void panel_listen(struct panel *panel, struct wl_signal *signal, wl_notify_func_t notify) {
	struct wl_listener *listener = &panel->listeners[panel->count++];
	listener->notify = notify;
	wl_signal_add(signal, listener);
}

static void panel_listen_to_touch(struct panel *panel, struct wlr_touch *touch) {
	panel_listen(panel, &touch->events.down, handle_down);
	panel_listen(panel, &touch->events.motion, handle_motion);
	panel_listen(panel, &touch->events.up, handle_up);
	panel_listen(panel, &touch->events.cancel, handle_cancel);
	panel_listen(panel, &touch->events.frame, handle_frame);
}

static void panel_listen_to_pointer(struct panel *panel, struct wlr_pointer *pointer) {
	panel_listen(panel, &pointer->events.motion, handle_pointer_motion);
	panel_listen(panel, &pointer->events.motion_absolute, handle_pointer_place);
	panel_listen(panel, &pointer->events.button, handle_button);
	panel_listen(panel, &pointer->events.axis, handle_axis);
	panel_listen(panel, &pointer->events.frame, handle_frame);
}

static uint32_t kind_of(const struct wlr_input_device *device) {
	switch (device->type) {
	case WLR_INPUT_DEVICE_TOUCH:
		return INPUT_TOUCH;
	case WLR_INPUT_DEVICE_POINTER:
		return INPUT_POINTER;
	case WLR_INPUT_DEVICE_KEYBOARD:
		return INPUT_KEYBOARD;
	default:
		return 0;
	}
}

static void panel_destroy(struct panel *panel) {
	for (size_t i = 0; i < panel->count; i++) {
		wl_list_remove(&panel->listeners[i].link);
	}
	wl_list_remove(&panel->destroy.link);
	wl_list_remove(&panel->link);
	panel->panels->count--;
	free(panel);
}

/* Releases everything: what this device held has no holder any more. */
static void handle_destroy(struct wl_listener *listener, void *data) {
	struct panel *panel = wl_container_of(listener, panel, destroy);
	wlr_log(WLR_INFO, "input device %s is gone", panel->device->name);
	input_router_release_all(panel->panels->router);
	panel_destroy(panel);
}

static void panels_add(struct panels *panels, struct wlr_input_device *device) {
	struct panel *panel = panels->count < DEVICES_MAX ? calloc(1, sizeof(*panel)) : NULL;
	if (panel == NULL) {
		wlr_log(WLR_ERROR, "input device %s is left out: %d are there, or no memory",
				device->name, DEVICES_MAX);
		return;
	}
	panel->panels = panels;
	panel->device = device;
	panels->count++;
	wl_list_insert(&panels->devices, &panel->link);
	panel->destroy.notify = handle_destroy;
	wl_signal_add(&device->events.destroy, &panel->destroy);
	if (device->type == WLR_INPUT_DEVICE_TOUCH) {
		panel_listen_to_touch(panel, wlr_touch_from_input_device(device));
	} else if (device->type == WLR_INPUT_DEVICE_POINTER) {
		panel_listen_to_pointer(panel, wlr_pointer_from_input_device(device));
	} else {
		panel_listen(panel, &wlr_keyboard_from_input_device(device)->events.key,
				handle_key);
	}
}

static void handle_new_input(struct wl_listener *listener, void *data) {
	struct panel_source *source = wl_container_of(listener, source, new_input);
	struct wlr_input_device *device = data;
	if (kind_of(device) & source->panels->wanted) {
		wlr_log(WLR_INFO, "input device %s", device->name);
		panels_add(source->panels, device);
	}
}

static void source_finish(struct panel_source *source) {
	if (source->panels != NULL) {
		wl_list_remove(&source->new_input.link);
		wl_list_remove(&source->destroy.link);
		source->panels = NULL;
	}
}

static void handle_backend_destroy(struct wl_listener *listener, void *data) {
	struct panel_source *source = wl_container_of(listener, source, destroy);
	source_finish(source);
}

static void source_init(
		struct panel_source *source, struct panels *panels, struct wlr_backend *backend) {
	source->panels = panels;
	source->new_input.notify = handle_new_input;
	wl_signal_add(&backend->events.new_input, &source->new_input);
	source->destroy.notify = handle_backend_destroy;
	wl_signal_add(&backend->events.destroy, &source->destroy);
}

/* --- life ------------------------------------------------------------------------------------- */

void panels_init(struct panels *panels, struct display *display, struct input_router *router,
		uint32_t wanted) {
	const struct device *device = &display->device;
	*panels = (struct panels){.display = display, .router = router, .wanted = wanted};
	wl_list_init(&panels->devices);
	source_init(&panels->sources[0], panels, device->backend);
	if (device->inputs != NULL) {
		source_init(&panels->sources[1], panels, device->inputs);
	}
}

void panels_finish(struct panels *panels) {
	struct panel *panel, *next;
	if (panels->router == NULL) {
		return;
	}
	wl_list_for_each_safe(panel, next, &panels->devices, link) {
		panel_destroy(panel);
	}
	source_finish(&panels->sources[0]);
	source_finish(&panels->sources[1]);
}
