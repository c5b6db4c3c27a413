// SPDX-License-Identifier: MIT
/*
 * The least that shows gid buffers with wlroots: one output without a screen, windows at its top
 * left corner. gidway adds gid_buffer_manager_create(): such buffers are shown where they lie.
 *
 * Usage: compositor SOCKET, then WAYLAND_DISPLAY=SOCKET gid-view …
 */
#include <gid_buffer_v1.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wlr/backend/headless.h>
#include <wlr/render/allocator.h>
#include <wlr/types/wlr_compositor.h>
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

struct window {
	struct wlr_xdg_toplevel *toplevel;
	struct wl_listener commit, destroy;
};

static void handle_frame(struct wl_listener *listener, void *data) {
	wlr_scene_output_commit(scene_output, NULL);
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	wlr_scene_output_send_frame_done(scene_output, &now);
}

/* The first commit asks how big the window is to be: as it likes. */
static void handle_commit(struct wl_listener *listener, void *data) {
	struct window *window = wl_container_of(listener, window, commit);
	if (window->toplevel->base->initial_commit) {
		wlr_xdg_toplevel_set_size(window->toplevel, 0, 0);
	}
}

static void handle_destroy(struct wl_listener *listener, void *data) {
	struct window *window = wl_container_of(listener, window, destroy);
	wl_list_remove(&window->commit.link);
	wl_list_remove(&window->destroy.link);
	free(window);
}

static void handle_new_toplevel(struct wl_listener *listener, void *data) {
	struct window *window = calloc(1, sizeof(*window));
	if (window == NULL) {
		return;
	}
	window->toplevel = data;
	window->commit.notify = handle_commit;
	window->destroy.notify = handle_destroy;
	wl_signal_add(&window->toplevel->base->surface->events.commit, &window->commit);
	wl_signal_add(&window->toplevel->events.destroy, &window->destroy);
	wlr_scene_xdg_surface_create(&scene->tree, window->toplevel->base);
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
	wlr_subcompositor_create(display);
	wlr_single_pixel_buffer_manager_v1_create(display);
	wlr_screencopy_manager_v1_create(display);
	if (argc != 2 || wl_display_add_socket(display, argv[1]) < 0 ||
			gid_buffer_manager_create(display, renderer, allocator, NULL, printf) ==
					NULL) {
		return EXIT_FAILURE;
	}
	struct wlr_xdg_shell *shell = wlr_xdg_shell_create(display, 3);
	struct wl_listener new_toplevel = {.notify = handle_new_toplevel};
	wl_signal_add(&shell->events.new_toplevel, &new_toplevel);
	scene = wlr_scene_create();
	struct wlr_output_layout *layout = wlr_output_layout_create(display);
	wlr_xdg_output_manager_v1_create(display, layout);
	struct wlr_output *output = wlr_headless_add_output(backend, 640, 240);
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
	wlr_output_commit_state(output, &state);
	wlr_output_state_finish(&state);
	fprintf(stderr, "ready\n");
	wl_display_run(display);

	wl_display_destroy_clients(display); /* what is left goes with the process */
	return EXIT_SUCCESS;
}
