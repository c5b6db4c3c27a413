// SPDX-License-Identifier: MIT
#include "clients.h"

#include <errno.h>
#include <gid/gid.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wlr/types/wlr_compositor.h>
#include <wlr/types/wlr_screencopy_v1.h>
#include <wlr/types/wlr_single_pixel_buffer_v1.h>
#include <wlr/types/wlr_subcompositor.h>
#include <wlr/types/wlr_viewporter.h>
#include <wlr/types/wlr_xdg_output_v1.h>
#include <wlr/types/wlr_xdg_shell.h>
#include <wlr/util/log.h>

#include "client_program.h"
#include "versions.h"

struct window {
	struct display *display;
	struct wlr_xdg_toplevel *toplevel;
	struct wlr_scene_tree *tree; /* NULL: not placed yet */
	struct wl_listener commit, destroy, request_fullscreen, request_maximize;
};

struct popup {
	struct wlr_xdg_popup *popup;
	struct wlr_scene_tree *tree; /* NULL: what it belongs to is not shown, or is gone */
	struct wl_listener commit, destroy, tree_destroy;
};

static const struct client_config *find_place(
		const struct cluster_config *config, const char *app_id) {
	for (size_t i = 0; app_id != NULL && i < config->client_count; i++) {
		if (strcmp(config->clients[i].app_id, app_id) == 0) {
			return &config->clients[i];
		}
	}
	return NULL;
}

/* What the configuration does not place may ask for an output. */
static struct screen *window_screen(
		const struct window *window, const struct client_config *place) {
	struct display *display = window->display;
	struct screen *wish =
			display_find_screen(display, window->toplevel->requested.fullscreen_output);
	if (place != NULL) {
		return &display->screens[place->output];
	}
	return wish != NULL ? wish : &display->screens[0];
}

static void window_place(struct window *window) {
	const struct client_config *place =
			find_place(window->display->config, window->toplevel->app_id);
	const struct screen *screen = window_screen(window, place);
	if (window->tree == NULL) {
		struct wlr_xdg_surface *surface = window->toplevel->base;
		window->tree = wlr_scene_xdg_surface_create(screen->clients, surface);
		surface->data = window->tree; /* for its popups */
	} else {
		wlr_scene_node_reparent(&window->tree->node, screen->clients);
	}
	if (window->tree == NULL) {
		wl_resource_post_no_memory(window->toplevel->resource);
	} else if (place != NULL) {
		wlr_scene_node_set_position(&window->tree->node, place->box.x, place->box.y);
		wlr_xdg_toplevel_set_size(window->toplevel, place->box.width, place->box.height);
	} else if (screen->output != NULL) {
		wlr_xdg_toplevel_set_fullscreen(window->toplevel, true);
		wlr_xdg_toplevel_set_size(
				window->toplevel, screen->output->width, screen->output->height);
	}
	wlr_xdg_toplevel_set_activated(window->toplevel, true);
}

static void handle_commit(struct wl_listener *listener, void *data) {
	struct window *window = wl_container_of(listener, window, commit);
	if (window->toplevel->base->initial_commit) {
		window_place(window);
	}
}

/* Wishes are answered, and not followed: the configuration decides. */
static void handle_request_fullscreen(struct wl_listener *listener, void *data) {
	struct window *window = wl_container_of(listener, window, request_fullscreen);
	if (window->toplevel->base->initialized) {
		wlr_xdg_surface_schedule_configure(window->toplevel->base);
	}
}

static void handle_request_maximize(struct wl_listener *listener, void *data) {
	struct window *window = wl_container_of(listener, window, request_maximize);
	if (window->toplevel->base->initialized) {
		wlr_xdg_surface_schedule_configure(window->toplevel->base);
	}
}

static void handle_destroy(struct wl_listener *listener, void *data) {
	struct window *window = wl_container_of(listener, window, destroy);
	wl_list_remove(&window->commit.link);
	wl_list_remove(&window->destroy.link);
	wl_list_remove(&window->request_fullscreen.link);
	wl_list_remove(&window->request_maximize.link);
	free(window);
}

static void listen(
		struct wl_signal *signal, struct wl_listener *listener, wl_notify_func_t notify) {
	listener->notify = notify;
	wl_signal_add(signal, listener);
}

static void handle_new_toplevel(struct wl_listener *listener, void *data) {
	struct clients *clients = wl_container_of(listener, clients, new_toplevel);
	struct wlr_xdg_toplevel *toplevel = data;
	struct window *window = calloc(1, sizeof(*window));
	if (window == NULL) {
		wl_resource_post_no_memory(toplevel->resource);
		return;
	}
	window->display = clients->display;
	window->toplevel = toplevel;
	window->tree = toplevel->base->data; /* of a toplevel before it: it stays with its surface
					      */
	listen(&toplevel->base->surface->events.commit, &window->commit, handle_commit);
	listen(&toplevel->events.destroy, &window->destroy, handle_destroy);
	listen(&toplevel->events.request_fullscreen, &window->request_fullscreen,
			handle_request_fullscreen);
	listen(&toplevel->events.request_maximize, &window->request_maximize,
			handle_request_maximize);
}

/* --- popups ----------------------------------------------------------------------------------- */

static void handle_popup_commit(struct wl_listener *listener, void *data) {
	struct popup *popup = wl_container_of(listener, popup, commit);
	if (popup->popup->base->initial_commit) {
		wlr_xdg_surface_schedule_configure(popup->popup->base);
	}
}

/* It goes with that of its parent. Its xdg_surface can remain, to be the parent of others. */
static void popup_forget_tree(struct popup *popup) {
	if (popup->tree != NULL) {
		wl_list_remove(&popup->tree_destroy.link);
		popup->popup->base->data = NULL;
		popup->tree = NULL;
	}
}

static void handle_popup_tree_destroy(struct wl_listener *listener, void *data) {
	struct popup *popup = wl_container_of(listener, popup, tree_destroy);
	popup_forget_tree(popup);
}

static void handle_popup_destroy(struct wl_listener *listener, void *data) {
	struct popup *popup = wl_container_of(listener, popup, destroy);
	struct wlr_scene_tree *tree = popup->tree;
	popup_forget_tree(popup);
	if (tree != NULL) {
		wlr_scene_node_destroy(&tree->node);
	}
	wl_list_remove(&popup->commit.link);
	wl_list_remove(&popup->destroy.link);
	free(popup);
}

/* A client that opens one waits until it is configured. */
static void handle_new_popup(struct wl_listener *listener, void *data) {
	struct wlr_xdg_popup *xdg_popup = data;
	struct wlr_xdg_surface *parent = xdg_popup->parent != NULL
			? wlr_xdg_surface_try_from_wlr_surface(xdg_popup->parent)
			: NULL;
	struct popup *popup = calloc(1, sizeof(*popup));
	if (popup == NULL) {
		wl_resource_post_no_memory(xdg_popup->resource);
		return;
	}
	popup->popup = xdg_popup;
	if (parent != NULL && parent->data != NULL) {
		popup->tree = wlr_scene_xdg_surface_create(parent->data, xdg_popup->base);
	}
	if (popup->tree != NULL) {
		xdg_popup->base->data = popup->tree; /* for popups of its own */
		listen(&popup->tree->node.events.destroy, &popup->tree_destroy,
				handle_popup_tree_destroy);
	}
	listen(&xdg_popup->base->surface->events.commit, &popup->commit, handle_popup_commit);
	listen(&xdg_popup->events.destroy, &popup->destroy, handle_popup_destroy);
}

/*
 * A picture of the screen shows what others drew. Its global exists for the programs that the
 * configuration names, of our own user or of root.
 */
static bool may_copy(const struct clients *clients, struct wl_client *client) {
	char **paths = clients->display->config->copiers;
	bool user = client_is_of_user(client, geteuid()) || client_is_of_user(client, 0);
	for (size_t i = 0; user && paths != NULL && paths[i] != NULL; i++) {
		if (client_runs_program(client, paths[i])) {
			return true;
		}
	}
	return false;
}

/* Of a program that seems to be one of those: it is told only that there are no such pictures. */
static void tell_refused(struct clients *clients, struct wl_client *client) {
	char **paths = clients->display->config->copiers;
	struct log_budget *budget = &clients->log_budget;
	for (size_t i = 0; paths != NULL && paths[i] != NULL; i++) {
		const char *why = client_program_doubt(client, paths[i]);
		if (why == NULL || !log_budget_take(budget, gid_clock_now())) {
			continue;
		}
		if (budget->left_out > 0) {
			wlr_log(WLR_ERROR, "%" PRIu64 " more programs may not copy the screen",
					budget->left_out);
			budget->left_out = 0;
		}
		wlr_log(WLR_ERROR, "process %d may not copy the screen as %s of screen-copies=: %s",
				client_pid(client), paths[i], why);
	}
}

static bool filter_global(
		const struct wl_client *client, const struct wl_global *global, void *data) {
	struct clients *clients = data;
	if (global != clients->copies || may_copy(clients, (struct wl_client *)client)) {
		return true;
	}
	tell_refused(clients, (struct wl_client *)client);
	return false;
}

int clients_init(struct clients *clients, struct display *display) {
	clients->display = display;
	struct wl_display *wayland = display->wayland;
	struct wlr_xdg_shell *shell = wlr_xdg_shell_create(wayland, 3);
	struct wlr_screencopy_manager_v1 *copies = wlr_screencopy_manager_v1_create(wayland);
	if (shell == NULL || wlr_compositor_create(wayland, 6, display->device.renderer) == NULL ||
			wlr_subcompositor_create(wayland) == NULL ||
			wlr_viewporter_create(wayland) == NULL ||
			presentation_create(wayland, display->device.backend) == NULL ||
			wlr_single_pixel_buffer_manager_v1_create(wayland) == NULL ||
			copies == NULL ||
			wlr_xdg_output_manager_v1_create(wayland, display->layout) == NULL) {
		return -ENOMEM;
	}
	clients->copies = copies->global;
	wl_display_set_global_filter(wayland, filter_global, clients);
	listen(&shell->events.new_toplevel, &clients->new_toplevel, handle_new_toplevel);
	listen(&shell->events.new_popup, &clients->new_popup, handle_new_popup);
	return 0;
}

void clients_finish(struct clients *clients) {
	if (clients->new_toplevel.notify != NULL) {
		wl_list_remove(&clients->new_toplevel.link);
		wl_list_remove(&clients->new_popup.link);
	}
}
