// SPDX-License-Identifier: MIT
#include "safety_role.h"

#include <errno.h>
#include <input_format.h>
#include <libweston/desktop.h>
#include <stdlib.h>
#include <string.h>
#include <window_note.h>

#include "client_program.h"
#include "gid-safety-v1-protocol.h"
#include "libweston_exports.h"
#include "safety_tree.h"
#include "safety_visibility.h"

#define MS_NS 1000000ull

/* --- events of its stream --------------------------------------------------------------------- */

static void handle_ready(void *data) {
	struct safety_role *role = data;
	weston_log("gid: %s: stream %s is published\n", role->config.label, role->config.stream);
	safety_tree_send(role);
}

static void handle_again(void *data) {
	safety_tree_send(data);
}

static void handle_shown(void *data, uint64_t sequence, uint64_t time) {
	const struct safety_role *role = data;
	if (role->resource != NULL) {
		uint64_t seconds = time / 1000000000u;
		gid_safety_surface_v1_send_shown(role->resource, (uint32_t)(sequence >> 32),
				(uint32_t)sequence, (uint32_t)(seconds >> 32), (uint32_t)seconds,
				(uint32_t)(time % 1000000000u));
	}
}

static void handle_lost(void *data, uint32_t reason) {
	const struct safety_role *role = data;
	if (role->resource != NULL) {
		gid_safety_surface_v1_send_lost(role->resource, reason);
	}
}

static bool handle_is_alive(void *data) {
	struct safety_role *role = data;
	bool hung = role->client.hangs;
	if (role->config.client_ms == 0) {
		return true;
	}
	bool alive = client_liveness_check(&role->client, role->surface->surface,
			(uint64_t)role->config.client_ms * MS_NS, gid_clock_now());
	if (alive == hung) {
		forward_log(role->forward, "gid: %s: its client %s\n", role->config.label,
				alive ? "reads its events again"
				      : "does not read its events; no signs of life meanwhile");
	}
	return alive;
}

static bool handle_is_behind(void *data) {
	const struct safety_role *role = data;
	return client_has_unread_requests(role->surface->surface);
}

/* The note of an ordinary window is its app-id, its title, and its client's scale. */
static uint32_t handle_note(void *data, uint8_t bytes[GID_NOTE_MAX]) {
	const struct safety_role *role = data;
	if (role->config.role != NULL || role->surface == NULL ||
			!weston_surface_is_desktop_surface(role->surface->surface)) {
		return 0;
	}
	struct weston_surface *surface = role->surface->surface;
	struct weston_desktop_surface *window = weston_surface_get_desktop_surface(surface);
	uint32_t scale = (uint32_t)surface->buffer_viewport.buffer.scale;
	struct window_note note;
	window_note_set(&note, weston_desktop_surface_get_app_id(window),
			weston_desktop_surface_get_title(window));
	note.scale = scale <= INPUT_SCALE_MAX / INPUT_SCALE_ONE ? scale * INPUT_SCALE_ONE : 0;
	return window_note_write(&note, bytes);
}

static const struct forward_events forward_events = {
		.ready = handle_ready,
		.again = handle_again,
		.shown = handle_shown,
		.lost = handle_lost,
		.is_alive = handle_is_alive,
		.is_behind = handle_is_behind,
		.note = handle_note,
};

/* --- which surface has it --------------------------------------------------------------------- */

void safety_role_give(struct safety_role *role, struct safety_surface *surface,
		struct wl_resource *resource) {
	role->surface = surface;
	role->resource = resource;
	surface->role = role;
	forward_log(role->forward, "gid: %s: taken by process %d\n", role->config.label,
			client_pid(wl_resource_get_client(surface->surface->resource)));
	safety_visibility_stay_awake(role->safety->compositor, true);
	forward_begin(role->forward);
	window_input_set_window(role->input, surface->surface);
}

static bool is_wanted(const char *text, const char *wanted) {
	return wanted == NULL || (text != NULL && strcmp(text, wanted) == 0);
}

bool safety_role_fits(const struct safety_role *role, const struct safety_surface *surface) {
	const struct safety_config *config = &role->config;
	if ((config->app_id == NULL && config->title == NULL) ||
			!weston_surface_is_desktop_surface(surface->surface)) {
		return false;
	}
	struct weston_desktop_surface *window =
			weston_surface_get_desktop_surface(surface->surface);
	if (!is_wanted(weston_desktop_surface_get_app_id(window), config->app_id) ||
			!is_wanted(weston_desktop_surface_get_title(window), config->title)) {
		return false;
	}
	/* A window without content does not keep the role from another one. */
	if (config->role == NULL &&
			(surface->unmapped || surface->surface->buffer_ref.buffer == NULL)) {
		return false;
	}
	bool anybody = client_list_is_empty(&config->clients) && !config->clients.has_user;
	return anybody ||
			client_list_has(&config->clients,
					wl_resource_get_client(surface->surface->resource));
}

void safety_role_give_by_name(struct safety_surface *surface) {
	struct wl_client *client = wl_resource_get_client(surface->surface->resource);
	struct safety_role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (!safety_role_fits(role, surface)) {
			continue;
		}
		if (role->surface == NULL) {
			safety_role_give(role, surface, NULL);
			return;
		}
		if (surface->envied != role && !safety_tree_has(role, surface->surface)) {
			forward_log(role->forward,
					"gid: %s: process %d has a surface for it, too, but "
					"another one has it\n",
					role->config.label, client_pid(client));
			surface->envied = role;
		}
	}
}

void safety_role_take_back(struct safety_role *role) {
	struct safety_surface *surface = role->surface;
	if (surface == NULL) {
		return;
	}
	window_input_set_window(role->input, NULL);
	safety_tree_clear(role);
	if (role->resource != NULL) { /* the object becomes inert */
		wl_resource_set_user_data(role->resource, NULL);
		role->resource = NULL;
	}
	safety_visibility_stay_awake(role->safety->compositor, false);
	surface->role = NULL;
	role->surface = NULL;
	if (surface->tree == NULL) { /* else another role's tree still needs the buffer */
		safety_tree_remove(surface);
	}
	forward_end(role->forward);
	forward_log(role->forward, "gid: %s: given back\n", role->config.label);
}

void safety_role_give_back(struct safety_role *role) {
	if (!role->config.visible) {
		safety_visibility_set(role->surface->surface, true);
	}
	safety_role_take_back(role);
}

/* --- ordinary windows ------------------------------------------------------------------------- */

/* Takes the oldest surface that fits. */
static void handle_search(void *data) {
	struct safety_role *role = data;
	role->search = NULL;
	struct safety_surface *surface;
	wl_list_for_each_reverse(surface, &role->safety->surfaces, link) {
		if (role->surface == NULL && surface->role == NULL &&
				safety_role_fits(role, surface)) {
			safety_role_give(role, surface, NULL);
			safety_tree_commit(role, surface);
		}
	}
}

void safety_role_search(struct safety_role *role) {
	struct wl_display *display = role->safety->compositor->wl_display;
	if (role->search == NULL && role->surface == NULL && role->config.role == NULL) {
		role->search = wl_event_loop_add_idle(
				wl_display_get_event_loop(display), handle_search, role);
	}
}

void safety_role_pass_on(struct safety_role *role) {
	safety_role_take_back(role);
	safety_role_search(role);
}

/* --- create and destroy ----------------------------------------------------------------------- */

static bool stream_exists(const struct safety *safety, const char *stream) {
	const struct safety_role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (strcmp(role->config.stream, stream) == 0) {
			return true;
		}
	}
	return false;
}

int safety_role_create(struct safety *safety, const struct config_place *place,
		safety_config_read_func read) {
	struct safety_role *role = calloc(1, sizeof(*role));
	if (role == NULL) {
		return -ENOMEM;
	}
	role->safety = safety;
	wl_list_init(&role->parts);
	int error = read(&role->config, place);
	if (error == 0 && stream_exists(safety, role->config.stream)) {
		error = config_mistake(place, role->config.role != NULL ? "role" : "stream",
				"there are two sections of %s", role->config.label);
	}
	if (error == 0) {
		error = forward_create(&role->config,
				wl_display_get_event_loop(safety->compositor->wl_display),
				&forward_events, role, &role->forward);
	}
	if (error == 0 && role->config.input.domain != NULL) {
		role->input = window_input_create(safety->compositor, &role->config, role->forward);
		error = role->input != NULL ? 0 : -ENOMEM;
	}
	if (error != 0) {
		forward_destroy(role->forward);
		safety_config_finish(&role->config);
		free(role);
		return error;
	}
	wl_list_insert(safety->roles.prev, &role->link);
	return 0;
}

void safety_role_destroy(struct safety_role *role) {
	safety_role_take_back(role);
	safety_tree_clear(role);
	if (role->search != NULL) {
		wl_event_source_remove(role->search);
	}
	if (role->rest != NULL) {
		wl_event_source_remove(role->rest);
	}
	window_input_destroy(role->input);
	forward_destroy(role->forward);
	safety_config_finish(&role->config);
	wl_list_remove(&role->link);
	free(role);
}
