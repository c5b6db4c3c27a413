// SPDX-License-Identifier: MIT
#include "safety.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libweston_exports.h"
#include "safety_protocol.h"
#include "safety_role.h"
#include "safety_tree.h"
#include "safety_visibility.h"
#include "weston_config.h"

/* --- surfaces --------------------------------------------------------------------------------- */

/* An ordinary window that was renamed, so that its section does not fit any more. */
static bool is_another_window(const struct safety_surface *surface) {
	return surface->role->config.role == NULL && !safety_role_fits(surface->role, surface);
}

/*
 * A part of an ordinary window is gone, such as a menu that was closed: sends the window without
 * it.
 */
static void send_without(struct safety_surface *part) {
	if (part->tree != NULL && part->tree->config.role == NULL) {
		safety_tree_send_later(part->tree);
	}
}

static void handle_commit(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, commit);
	if (surface->role != NULL && is_another_window(surface)) {
		safety_role_pass_on(surface->role);
	}
	if (surface->role == NULL) {
		safety_role_give_by_name(surface);
	}
	if (surface->role != NULL) {
		client_liveness_note(&surface->role->client, gid_clock_now());
		safety_tree_watch_link(surface, weston_surface_get_main_surface(surface->surface));
	}
	bool shown = false;
	struct safety_role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (safety_tree_has(role, surface->surface)) {
			if (!role->config.visible) {
				safety_visibility_set(surface->surface, false);
			}
			safety_tree_commit(role, surface);
			shown = true;
		}
	}
	if (!shown && surface->tree != NULL) {
		send_without(surface);
		safety_tree_remove(surface);
	}
	safety_visibility_request_frame(surface);
}

/* For example when the client has destroyed its xdg_toplevel, but not the wl_surface. */
static void handle_unmap(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, unmap);
	struct safety_role *role;
	surface->unmapped = true;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (role->surface != NULL && safety_tree_has_lost_window(role->surface)) {
			forward_hide(role->forward, -1, GID_HIDDEN_EMPTY);
		}
	}
	send_without(surface);
	if (surface->role != NULL && is_another_window(surface)) {
		safety_role_pass_on(surface->role);
	}
}

static void handle_map(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, map);
	bool again = surface->unmapped;
	surface->unmapped = false;
	struct safety_role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (again && role->surface != NULL &&
				safety_tree_contains(surface, role->surface)) {
			safety_tree_send_later(role);
		} else if (again) {
			safety_role_search(role);
		}
	}
}

static void surface_destroy(struct safety_surface *surface) {
	if (surface->role != NULL) {
		safety_role_pass_on(surface->role);
	}
	safety_tree_finish(surface);
	safety_visibility_finish(surface);
	wl_list_remove(&surface->commit.link);
	wl_list_remove(&surface->map.link);
	wl_list_remove(&surface->unmap.link);
	wl_list_remove(&surface->destroy.link);
	wl_list_remove(&surface->link);
	free(surface);
}

static void handle_destroy(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, destroy);
	surface_destroy(surface);
}

static void handle_create_surface(struct wl_listener *listener, void *data) {
	struct safety *safety = wl_container_of(listener, safety, create_surface);
	struct weston_surface *created = data;
	struct safety_surface *surface = calloc(1, sizeof(*surface));
	if (surface == NULL) {
		return; /* it gets no role */
	}
	surface->safety = safety;
	surface->surface = created;
	surface->commit.notify = handle_commit;
	wl_signal_add(&created->commit_signal, &surface->commit);
	surface->map.notify = handle_map;
	wl_signal_add(&created->map_signal, &surface->map);
	surface->unmap.notify = handle_unmap;
	wl_signal_add(&created->unmap_signal, &surface->unmap);
	safety_tree_init(surface);
	surface->destroy.notify = handle_destroy;
	wl_resource_add_destroy_listener(created->resource, &surface->destroy);
	wl_list_insert(&safety->surfaces, &surface->link);
}

void safety_buffer_ready(struct safety *safety, struct wl_resource *buffer) {
	struct safety_role *role;
	if (safety == NULL) {
		return;
	}
	wl_list_for_each(role, &safety->roles, link) {
		struct weston_surface *surface =
				role->surface != NULL ? role->surface->surface : NULL;
		if (surface != NULL && surface->buffer_ref.buffer != NULL &&
				surface->buffer_ref.buffer->resource == buffer) {
			safety_tree_send(role);
		}
	}
	wl_list_for_each(role, &safety->roles, link) {
		safety_tree_buffer_ready(role, buffer);
	}
}

/* --- create and destroy ----------------------------------------------------------------------- */

static int read_roles(struct safety *safety) {
	struct config_place place = {.config = wet_get_config(safety->compositor)};
	const char *name;
	int error = 0;
	while (error == 0 && weston_config_next_section(place.config, &place.section, &name)) {
		if (strcmp(name, "gid-safety") == 0) {
			error = safety_role_create(safety, &place, safety_config_read);
		} else if (strcmp(name, "gid-window") == 0) {
			error = safety_role_create(safety, &place, safety_config_read_window);
		}
	}
	return error;
}

static void handle_dialogs(void *data, struct weston_surface *window) {
	safety_tree_send_windows(data, window);
}

static bool has_windows(const struct safety *safety) {
	const struct safety_role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (role->config.role == NULL) {
			return true;
		}
	}
	return false;
}

/* Listens to Weston's signals, and creates the global if some section names clients. */
static int watch(struct safety *safety) {
	struct weston_compositor *compositor = safety->compositor;
	safety->create_surface.notify = handle_create_surface;
	wl_signal_add(&compositor->create_surface_signal, &safety->create_surface);
	if (has_windows(safety)) {
		safety->dialogs = dialogs_watch(compositor->wl_display, handle_dialogs, safety);
		if (safety->dialogs == NULL) {
			return -ENOMEM;
		}
	}
	return safety_protocol_create_global(safety);
}

int safety_create(struct weston_compositor *compositor, const struct gidd_connection *connection,
		struct safety **created) {
	*created = NULL;
	struct safety *safety = calloc(1, sizeof(*safety));
	if (safety == NULL) {
		return -ENOMEM;
	}
	safety->compositor = compositor;
	safety->connection = connection;
	wl_list_init(&safety->roles);
	wl_list_init(&safety->surfaces);
	wl_list_init(&safety->create_surface.link);
	int error = read_roles(safety);
	if (error == 0 && !wl_list_empty(&safety->roles)) {
		error = watch(safety);
	}
	if (error != 0 || wl_list_empty(&safety->roles)) {
		safety_destroy(safety);
		return error;
	}
	safety_connection_changed(safety);
	*created = safety;
	return 0;
}

void safety_destroy(struct safety *safety) {
	if (safety == NULL) {
		return;
	}
	struct safety_role *role, *next_role;
	wl_list_for_each_safe(role, next_role, &safety->roles, link) {
		safety_role_destroy(role);
	}
	struct safety_surface *surface, *next;
	wl_list_for_each_safe(surface, next, &safety->surfaces, link) {
		surface_destroy(surface);
	}
	dialogs_unwatch(safety->dialogs);
	safety_protocol_destroy_global(safety);
	wl_list_remove(&safety->create_surface.link);
	free(safety);
}

void safety_connection_changed(struct safety *safety) {
	struct safety_role *role;
	if (safety == NULL) {
		return;
	}
	bool up = gidd_connection_is_up(safety->connection);
	wl_list_for_each(role, &safety->roles, link) {
		forward_set_domain(role->forward, gidd_connection_get_domain(safety->connection));
		window_input_set_domain(
				role->input, gidd_connection_get_domain(safety->connection));
		/*
		 * gidd had no memory for this content while it was away. The client may not commit
		 * again.
		 */
		if (up && forward_is_hidden(role->forward, GID_HIDDEN_MEMORY)) {
			safety_tree_send(role);
		}
	}
}

void safety_connection_lost(struct safety *safety) {
	struct safety_role *role;
	if (safety == NULL) {
		return;
	}
	wl_list_for_each(role, &safety->roles, link) {
		forward_set_domain(role->forward, NULL);
		window_input_set_domain(role->input, NULL);
	}
}
