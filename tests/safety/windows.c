// SPDX-License-Identifier: MIT
/*
 * A compositor that gid-cluster's outputs are windows of: `windows SOCKET FIFO`. For each line from
 * the FIFO, "WORD" or "WORD WIDTHxHEIGHT", it asks the windows with this word in their titles to
 * close, or to have another size, as a user would.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wlr/backend/headless.h>
#include <wlr/render/allocator.h>
#include <wlr/types/wlr_compositor.h>
#include <wlr/types/wlr_scene.h>
#include <wlr/types/wlr_xdg_shell.h>

#define WINDOW_HEIGHT 240

static struct wlr_scene *scene;
static struct wlr_scene_output *scene_output;
static struct wl_list windows;

struct window {
	struct wlr_xdg_toplevel *toplevel;
	struct wl_list link;
	struct wl_listener commit, destroy;
};

static void handle_frame(struct wl_listener *listener, void *data) {
	wlr_scene_output_commit(scene_output, NULL);
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	wlr_scene_output_send_frame_done(scene_output, &now);
}

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
	wl_list_remove(&window->link);
	free(window);
}

static void handle_new_toplevel(struct wl_listener *listener, void *data) {
	struct window *window = calloc(1, sizeof(*window));
	if (window == NULL) {
		abort();
	}
	window->toplevel = data;
	window->commit.notify = handle_commit;
	window->destroy.notify = handle_destroy;
	wl_signal_add(&window->toplevel->base->surface->events.commit, &window->commit);
	wl_signal_add(&window->toplevel->events.destroy, &window->destroy);
	struct wlr_scene_tree *tree =
			wlr_scene_xdg_surface_create(&scene->tree, window->toplevel->base);
	/* Below the others: what is covered has no frames. */
	wlr_scene_node_set_position(&tree->node, 0, wl_list_length(&windows) * WINDOW_HEIGHT);
	wl_list_insert(&windows, &window->link);
}

static int handle_line(int fd, uint32_t mask, void *data) {
	char line[64], word[64] = "";
	int width, height;
	ssize_t length = read(fd, line, sizeof(line) - 1);
	if (length <= 0) {
		return 0;
	}
	line[length] = '\0';
	bool has_size = sscanf(line, "%63s %dx%d", word, &width, &height) == 3;
	struct window *window;
	wl_list_for_each(window, &windows, link) {
		const char *title = window->toplevel->title;
		if (title == NULL || strstr(title, word) == NULL) {
			continue;
		}
		if (has_size) {
			wlr_xdg_toplevel_set_size(window->toplevel, width, height);
		} else {
			wlr_xdg_toplevel_send_close(window->toplevel);
		}
	}
	return 0;
}

int main(int argc, char **argv) {
	setenv("WLR_RENDERER", "pixman", 1);
	struct wl_display *display = wl_display_create();
	struct wl_event_loop *loop = wl_display_get_event_loop(display);
	struct wlr_backend *backend = wlr_headless_backend_create(loop);
	struct wlr_renderer *renderer = wlr_renderer_autocreate(backend);
	wlr_renderer_init_wl_display(renderer, display);
	struct wlr_allocator *allocator = wlr_allocator_autocreate(backend, renderer);
	wlr_compositor_create(display, 6, renderer);
	struct wlr_xdg_shell *shell = wlr_xdg_shell_create(display, 3);
	struct wl_listener new_toplevel = {.notify = handle_new_toplevel};
	wl_signal_add(&shell->events.new_toplevel, &new_toplevel);
	wl_list_init(&windows);
	scene = wlr_scene_create();
	struct wlr_output *output = wlr_headless_add_output(backend, 640, 480);
	wlr_output_init_render(output, allocator, renderer);
	struct wl_listener frame = {.notify = handle_frame};
	wl_signal_add(&output->events.frame, &frame);
	scene_output = wlr_scene_output_create(scene, output);
	int fifo = argc == 3 ? open(argv[2], O_RDWR | O_CLOEXEC) : -1; /* never at its end */
	if (fifo < 0 || wl_display_add_socket(display, argv[1]) < 0 ||
			!wlr_backend_start(backend)) {
		return EXIT_FAILURE;
	}
	struct wlr_output_state state;
	wlr_output_state_init(&state);
	wlr_output_state_set_enabled(&state, true);
	wlr_output_commit_state(output, &state);
	wlr_output_state_finish(&state);
	wl_event_loop_add_fd(loop, fifo, WL_EVENT_READABLE, handle_line, NULL);
	fprintf(stderr, "ready\n");
	wl_display_run(display);
	wl_display_destroy_clients(display); /* what is left goes with the process */
	return EXIT_SUCCESS;
}
