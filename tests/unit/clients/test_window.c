// SPDX-License-Identifier: MIT
/* Where a picture lies in its window, and how large that is. */
#include "common/window.h"

#include "tap.h"
#include "writing_compositor.h"

static bool lies(const struct window *window, struct box box) {
	struct box found = window_picture_box(window);
	return found.x == box.x && found.y == box.y && found.width == box.width &&
			found.height == box.height;
}

/* Of one pixel, on a screen that has three of them in each unit. */
static int show_least(void) {
	static const struct window_options options = {
			.title = "least", .app_id = "least", .leads = true};
	struct wayland wayland;
	struct window window;
	if (connect_client(&wayland) == NULL || window_init(&window, &wayland, &options) < 0) {
		return 2;
	}
	window.configured = true;
	window.scale.value = 3 * SURFACE_SCALE_ONE;
	window_set_picture_size(&window, 1, 1);
	return window.width == 1 && window.height == 1 ? 0 : 1;
}

static int32_t asked_width; /* of the picture, when its size was last told */

static void handle_resized(void *data) {
	int32_t height;
	window_get_pixels(data, &asked_width, &height);
}

/* The window of a program whose pictures have two pixels in each unit, which is told later. */
static int show_scaled(void) {
	static const struct window_options options = {.title = "two", .app_id = "two"};
	struct wayland wayland;
	struct window window;
	if (connect_client(&wayland) == NULL || window_init(&window, &wayland, &options) < 0) {
		return 2;
	}
	window.configured = true;
	window.resized = handle_resized;
	window.data = &window;
	window_set_picture_size(&window, 640, 160);
	bool unscaled = window.width == 640 && asked_width == 640;
	window_set_picture_scale(&window, 2 * SURFACE_SCALE_ONE);
	bool scaled = window.width == 320 && window.height == 80 && asked_width == 640;
	window.next_width = window.next_height = 500;
	window_set_picture_size(&window, 1000, 1000);
	return unscaled && scaled && asked_width == 1000 ? 0 : 1;
}

static struct wl_global *output;

/* The output goes as soon as it has told its name. */
static void bind_output(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_resource *bound =
			wl_resource_create(client, &wl_output_interface, (int)version, id);
	wl_resource_set_dispatcher(bound, ignore, NULL, NULL, NULL);
	wl_output_send_name(bound, "brief");
	wl_output_send_done(bound);
	wl_global_remove(output);
}

static void add_output(struct compositor *compositor) {
	output = wl_global_create(compositor->display, &wl_output_interface, 4, NULL, bind_output);
}

/* On that output. */
static int show_there(void) {
	static const struct window_options options = {
			.title = "there", .app_id = "there", .fullscreen = true, .output = "brief"};
	struct wayland wayland;
	struct window window;
	if (connect_client(&wayland) == NULL) {
		return 2;
	}
	window_init(&window, &wayland, &options);
	bool answered = wl_display_roundtrip(wayland.display) >= 0 &&
			wl_display_roundtrip(wayland.display) >= 0;
	return answered && window.watch.output == NULL ? 0 : 1;
}

static void test_in_a_compositor(void) {
	char folder[] = "/tmp/gid-window-XXXXXX";
	struct compositor compositor;
	if (mkdtemp(folder) == NULL) {
		return;
	}
	setenv("XDG_RUNTIME_DIR", folder, 1);
	tap_ok(meet(&compositor, NULL, show_least) == 0, "no window has no size");
	tap_ok(meet(&compositor, NULL, show_scaled) == 0,
			"a program's window is as large as its program has it, whatever its scale");
	tap_ok(meet(&compositor, add_output, show_there) == 0,
			"an output that goes while it is searched for is not taken for one");
	rmdir(folder);
}

int main(void) {
	struct window window = {.width = 800, .height = 360};
	tap_ok(lies(&window, (struct box){0, 0, 0, 0}), "nowhere, before there is one");
	window.picture_width = 640;
	tap_ok(lies(&window, (struct box){0, 0, 0, 0}), "nor while it has no height");
	window.picture_height = 360;
	tap_ok(lies(&window, (struct box){80, 0, 640, 360}), "in the middle");
	window.picture_width = 320;
	window.picture_height = 40;
	tap_ok(lies(&window, (struct box){0, 130, 800, 100}), "as large as fits");
	window.options.place = (struct box){10, 20, 320, 80};
	tap_ok(lies(&window, (struct box){10, 40, 320, 40}), "in the place that the user chose");
	window.options.place = (struct box){0};
	window.width = 2000;
	window.height = 3;
	window.picture_width = 3000;
	window.picture_height = 5;
	window.scale.value = 180;
	tap_ok(lies(&window, (struct box){0, 0, 2000, 3}),
			"pixel by pixel, where it has as many as the window has on its screen");
	window.picture_height = 6;
	tap_ok(lies(&window, (struct box){250, 0, 1500, 3}), "else as large as fits");
	window = (struct window){.width = 800,
			.height = 360,
			.picture_width = 1580,
			.picture_height = 700,
			.of_program = true,
			.scale = {.value = 240}};
	tap_ok(lies(&window, (struct box){5, 5, 790, 350}),
			"a program's with a scale, that has a few pixels less, as it is");
	test_in_a_compositor();
	return tap_finish();
}
