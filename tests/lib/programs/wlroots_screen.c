// SPDX-License-Identifier: MIT
/*
 * A compositor on the wlroots library: as examples/compositor.c, with an output of any size, full
 * screens and popups, and of any scale.
 *
 * Usage: wlroots-screen SOCKET [WIDTH HEIGHT [SCALE]], then WAYLAND_DISPLAY=SOCKET gid-view …
 */
#include <gid_buffer_v1.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wlr/backend/headless.h>
#include <wlr/render/allocator.h>
#include <wlr/types/wlr_compositor.h>
#include <wlr/types/wlr_fractional_scale_v1.h>
#include <wlr/types/wlr_output_layout.h>
#include <wlr/types/wlr_scene.h>
#include <wlr/types/wlr_screencopy_v1.h>
#include <wlr/types/wlr_single_pixel_buffer_v1.h>
#include <wlr/types/wlr_subcompositor.h>
#include <wlr/types/wlr_viewporter.h>
#include <wlr/types/wlr_xdg_output_v1.h>
#include <wlr/types/wlr_xdg_shell.h>

static struct wl_display *display;
static struct wlr_scene *scene;
static struct wlr_scene_output *scene_output;
static int width = 640, height = 240; /* of the output, in pixels */
static double scale = 1;

struct window {
	struct wlr_xdg_surface *surface;
	struct wl_listener commit, destroy;
};

static void handle_frame(struct wl_listener *listener, void *data) {
	wlr_scene_output_commit(scene_output, NULL);
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	wlr_scene_output_send_frame_done(scene_output, &now);
}

/* The first commit asks how big the window is to be: as the output, or as it likes. */
static void handle_commit(struct wl_listener *listener, void *data) {
	struct window *window = wl_container_of(listener, window, commit);
	if (!window->surface->initial_commit) {
		return;
	}
	if (window->surface->role == WLR_XDG_SURFACE_ROLE_TOPLEVEL) {
		struct wlr_xdg_toplevel *toplevel = window->surface->toplevel;
		bool fills = toplevel->requested.fullscreen;
		wlr_xdg_toplevel_set_fullscreen(toplevel, fills);
		wlr_xdg_toplevel_set_size(toplevel, fills ? (int)(width / scale) : 0,
				fills ? (int)(height / scale) : 0);
	} else {
		wlr_xdg_surface_schedule_configure(window->surface);
	}
}

static void handle_destroy(struct wl_listener *listener, void *data) {
	struct window *window = wl_container_of(listener, window, destroy);
	wl_list_remove(&window->commit.link);
	wl_list_remove(&window->destroy.link);
	free(window);
}

static void show(struct wlr_xdg_surface *surface, struct wl_signal *destroy) {
	struct window *window = calloc(1, sizeof(*window));
	if (window == NULL) {
		return;
	}
	window->surface = surface;
	window->commit.notify = handle_commit;
	window->destroy.notify = handle_destroy;
	wl_signal_add(&surface->surface->events.commit, &window->commit);
	wl_signal_add(destroy, &window->destroy);
	wlr_scene_xdg_surface_create(&scene->tree, surface);
}

static void handle_new_toplevel(struct wl_listener *listener, void *data) {
	struct wlr_xdg_toplevel *toplevel = data;
	show(toplevel->base, &toplevel->events.destroy);
}

static void handle_new_popup(struct wl_listener *listener, void *data) {
	struct wlr_xdg_popup *popup = data;
	show(popup->base, &popup->events.destroy);
}

static int handle_signal(int number, void *data) {
	wl_display_terminate(display);
	return 0;
}

int main(int argc, char **argv) {
	setenv("WLR_RENDERER", "pixman", 0);
	display = wl_display_create();
	struct wl_event_loop *loop = wl_display_get_event_loop(display);
	wl_event_loop_add_signal(loop, SIGTERM, handle_signal, NULL);
	struct wlr_backend *backend = wlr_headless_backend_create(loop);
	struct wlr_renderer *renderer = wlr_renderer_autocreate(backend);
	wlr_renderer_init_wl_display(renderer, display);
	struct wlr_allocator *allocator = wlr_allocator_autocreate(backend, renderer);
	wlr_compositor_create(display, 6, renderer);
	wlr_viewporter_create(display);
	wlr_fractional_scale_manager_v1_create(display, 1);
	wlr_subcompositor_create(display);
	wlr_single_pixel_buffer_manager_v1_create(display);
	wlr_screencopy_manager_v1_create(display);
	if (argc > 3) {
		width = atoi(argv[2]);
		height = atoi(argv[3]);
		scale = argc > 4 ? atof(argv[4]) : 1;
	}
	if (argc < 2 || argc == 3 || argc > 5 || wl_display_add_socket(display, argv[1]) < 0 ||
			gid_buffer_manager_create(display, renderer, allocator, NULL, printf) ==
					NULL) {
		return EXIT_FAILURE;
	}
	struct wlr_xdg_shell *shell = wlr_xdg_shell_create(display, 3);
	struct wl_listener new_toplevel = {.notify = handle_new_toplevel};
	wl_signal_add(&shell->events.new_toplevel, &new_toplevel);
	struct wl_listener new_popup = {.notify = handle_new_popup};
	wl_signal_add(&shell->events.new_popup, &new_popup);
	scene = wlr_scene_create();
	struct wlr_output_layout *layout = wlr_output_layout_create(display);
	wlr_xdg_output_manager_v1_create(display, layout);
	struct wlr_output *output =
			wlr_headless_add_output(backend, (unsigned)width, (unsigned)height);
	wlr_output_init_render(output, allocator, renderer);
	struct wl_listener frame = {.notify = handle_frame};
	wl_signal_add(&output->events.frame, &frame);
	scene_output = wlr_scene_output_create(scene, output);
	wlr_scene_output_layout_add_output(wlr_scene_attach_output_layout(scene, layout),
			wlr_output_layout_add(layout, output, 0, 0), scene_output);
	if (!wlr_backend_start(backend)) {
		return EXIT_FAILURE;
	}
	struct wlr_output_state state;
	wlr_output_state_init(&state);
	wlr_output_state_set_enabled(&state, true);
	wlr_output_state_set_scale(&state, (float)scale);
	wlr_output_commit_state(output, &state);
	wlr_output_state_finish(&state);
	fprintf(stderr, "ready\n");
	wl_display_run(display);

	wl_display_destroy_clients(display); /* what is left goes with the process */
	return EXIT_SUCCESS;
}
