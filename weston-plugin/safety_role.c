// SPDX-License-Identifier: MIT
#include "safety_role.h"

#include <errno.h>
#include <libweston/desktop.h>
#include <stdlib.h>
#include <string.h>

#include "client_program.h"
#include "gid-safety-v1-protocol.h"
#include "libweston_exports.h"
#include "safety_tree.h"
#include "safety_visibility.h"

#define MS_NS 1000000ull

/* --- what its stream tells -------------------------------------------------------------------- */

static void handle_ready(void *data) {
	struct safety_role *role = data;
	weston_log("gid: role %s: stream safety/%s is published\n", role->config.role,
			role->config.role);
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
		forward_log(role->forward, "gid: role %s: its client %s\n", role->config.role,
				alive ? "reads its events again"
				      : "does not read its events; no signs of life meanwhile");
	}
	return alive;
}

static const struct forward_events forward_events = {
		.ready = handle_ready,
		.again = handle_again,
		.shown = handle_shown,
		.lost = handle_lost,
		.is_alive = handle_is_alive,
};

/* --- who has it ------------------------------------------------------------------------------- */

void safety_role_give(struct safety_role *role, struct safety_surface *surface,
		struct wl_resource *resource) {
	role->surface = surface;
	role->resource = resource;
	surface->role = role;
	forward_log(role->forward, "gid: role %s: taken by process %d\n", role->config.role,
			client_pid(wl_resource_get_client(surface->surface->resource)));
	safety_visibility_stay_awake(role->safety->compositor, true);
	forward_begin(role->forward);
}

static const char *get_app_id(struct weston_surface *surface) {
	if (!weston_surface_is_desktop_surface(surface)) {
		return NULL;
	}
	return weston_desktop_surface_get_app_id(weston_surface_get_desktop_surface(surface));
}

void safety_role_give_by_app_id(struct safety_surface *surface) {
	const char *app_id = get_app_id(surface->surface);
	struct wl_client *client = wl_resource_get_client(surface->surface->resource);
	struct safety_role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		bool anybody = client_list_is_empty(&role->config.clients) &&
				!role->config.clients.has_user;
		if (app_id == NULL || role->config.app_id == NULL ||
				strcmp(app_id, role->config.app_id) != 0 ||
				(!anybody && !client_list_has(&role->config.clients, client))) {
			continue;
		}
		if (role->surface == NULL) {
			safety_role_give(role, surface, NULL);
			return;
		}
		if (surface->envied != role) {
			forward_log(role->forward,
					"gid: role %s: process %d has a surface for it, too, but "
					"another one has it\n",
					role->config.role, client_pid(client));
			surface->envied = role;
		}
	}
}

void safety_role_take_back(struct safety_role *role) {
	struct safety_surface *surface = role->surface;
	if (surface == NULL) {
		return;
	}
	safety_tree_clear(role);
	if (role->resource != NULL) { /* it stays without effect */
		wl_resource_set_user_data(role->resource, NULL);
		role->resource = NULL;
	}
	safety_visibility_stay_awake(role->safety->compositor, false);
	surface->role = NULL;
	role->surface = NULL;
	if (surface->tree == NULL) { /* it may be of another role's */
		safety_tree_remove(surface);
	}
	forward_end(role->forward);
	forward_log(role->forward, "gid: role %s: given back\n", role->config.role);
}

void safety_role_give_back(struct safety_role *role) {
	if (!role->config.visible) {
		safety_visibility_set(role->surface->surface, true);
	}
	safety_role_take_back(role);
}

/* --- life ------------------------------------------------------------------------------------- */

static bool role_exists(const struct safety *safety, const char *name) {
	const struct safety_role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (strcmp(role->config.role, name) == 0) {
			return true;
		}
	}
	return false;
}

int safety_role_create(struct safety *safety, struct weston_config_section *section) {
	struct safety_role *role = calloc(1, sizeof(*role));
	if (role == NULL) {
		return -ENOMEM;
	}
	role->safety = safety;
	int error = safety_config_read(&role->config, section);
	if (error == 0 && role_exists(safety, role->config.role)) {
		weston_log("gid: weston.ini has two sections [gid-safety] of role=%s\n",
				role->config.role);
		error = -EINVAL;
	}
	if (error == 0) {
		error = forward_create(&role->config,
				wl_display_get_event_loop(safety->compositor->wl_display),
				&forward_events, role, &role->forward);
	}
	if (error != 0) {
		safety_config_finish(&role->config);
		free(role);
		return error;
	}
	wl_list_insert(safety->roles.prev, &role->link);
	return 0;
}

void safety_role_destroy(struct safety_role *role) {
	safety_role_take_back(role);
	forward_destroy(role->forward);
	safety_config_finish(&role->config);
	wl_list_remove(&role->link);
	free(role);
}
