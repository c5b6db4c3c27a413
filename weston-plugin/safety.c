// SPDX-License-Identifier: MIT
#include "safety_role.h"

#include "client_program.h"
#include "forward_commit.h"
#include <errno.h>
#include <libweston/config-parser.h>
#include <libweston/desktop.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS_NS 1000000ull

/* Of weston/weston.h, which not every development package has. */
struct weston_config *wet_get_config(struct weston_compositor *compositor);

/* --- surfaces --------------------------------------------------------------------------------- */

/*
 * A role that is not to be seen here is drawn with no opacity and gets no input: out of the scene
 * it would get no frame callbacks, either, and stand still.
 */
static void surface_set_visible(struct weston_surface *surface, bool visible) {
	struct weston_view *view;
	wl_list_for_each(view, &surface->views, surface_link) {
		weston_view_set_alpha(view, visible ? 1.0f : 0.0f);
	}
	if (!visible) {
		pixman_region32_clear(&surface->input);
	}
}

void role_give(struct role *role, struct safety_surface *surface, struct wl_resource *resource) {
	role->surface = surface;
	role->resource = resource;
	surface->role = role;
	forward_log(&role->forward, "gid: role %s: taken by process %d\n", role->config.role,
		client_pid(wl_resource_get_client(surface->surface->resource)));
	forward_begin(&role->forward);
}

void role_take_back(struct role *role) {
	struct safety_surface *surface = role->surface;
	if (!surface) {
		return;
	}
	if (!role->config.visible) {
		surface_set_visible(surface->surface, true);
	}
	safety_protocol_detach(role);
	surface->role = NULL;
	role->surface = NULL;
	forward_hide(&role->forward, -1);
	forward_log(&role->forward, "gid: role %s: given back\n", role->config.role);
}

static const char *get_app_id(struct weston_surface *surface) {
	if (!weston_surface_is_desktop_surface(surface)) {
		return NULL;
	}
	return weston_desktop_surface_get_app_id(weston_surface_get_desktop_surface(surface));
}

/* Of clients that know nothing of roles. */
static void give_by_app_id(struct safety_surface *surface) {
	const char *app_id = get_app_id(surface->surface);
	struct wl_client *client = wl_resource_get_client(surface->surface->resource);
	struct role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		bool anybody = !role->config.clients[0] && !role->config.has_user;
		if (!app_id || !role->config.app_id || strcmp(app_id, role->config.app_id) != 0 ||
			(!anybody && !safety_config_names(&role->config, client))) {
			continue;
		}
		if (!role->surface) {
			role_give(role, surface, NULL);
			return;
		}
		if (surface->envied != role) {
			forward_log(&role->forward,
				"gid: role %s: process %d has a surface for it, too, but "
				"another one has it\n",
				role->config.role, client_pid(client));
			surface->envied = role;
		}
	}
}

static uint64_t clock_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void handle_commit(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, commit);
	if (!surface->role) {
		give_by_app_id(surface);
	}
	if (surface->role) {
		if (!surface->role->config.visible) {
			surface_set_visible(surface->surface, false);
		}
		client_liveness_note(&surface->role->client, clock_now());
		forward_commit(&surface->role->forward, surface->safety->module, surface->surface);
	}
}

static void surface_destroy(struct safety_surface *surface) {
	if (surface->role) {
		role_take_back(surface->role);
	}
	wl_list_remove(&surface->commit.link);
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
	if (!surface) {
		return; /* it gets no role */
	}
	surface->safety = safety;
	surface->surface = created;
	surface->commit.notify = handle_commit;
	wl_signal_add(&created->commit_signal, &surface->commit);
	surface->destroy.notify = handle_destroy;
	wl_signal_add(&created->destroy_signal, &surface->destroy);
	wl_list_insert(&safety->surfaces, &surface->link);
}

struct safety_surface *safety_find_surface(
	struct safety *safety, const struct weston_surface *wanted) {
	struct safety_surface *surface;
	wl_list_for_each(surface, &safety->surfaces, link) {
		if (surface->surface == wanted) {
			return surface;
		}
	}
	return NULL;
}

void safety_buffer_settled(struct safety *safety, struct wl_resource *buffer) {
	struct role *role;
	if (!safety) {
		return;
	}
	wl_list_for_each(role, &safety->roles, link) {
		struct weston_surface *surface = role->surface ? role->surface->surface : NULL;
		if (surface && surface->buffer_ref.buffer &&
			surface->buffer_ref.buffer->resource == buffer) {
			forward_commit(&role->forward, safety->module, surface);
		}
	}
}

/* --- roles ------------------------------------------------------------------------------------ */

static void handle_ready(void *data) {
	struct role *role = data;
	weston_log(
		"gid: role %s: stream safety/%s is there\n", role->config.role, role->config.role);
	if (role->surface) {
		forward_commit(&role->forward, role->safety->module, role->surface->surface);
	}
}

static void handle_shown(void *data, uint64_t sequence, uint64_t time) {
	safety_protocol_shown(data, sequence, time);
}

static void handle_lost(void *data, uint32_t reason) {
	safety_protocol_lost(data, reason);
}

static bool handle_is_alive(void *data) {
	struct role *role = data;
	bool hung = role->client.hangs;
	if (role->config.client_ms == 0) {
		return true;
	}
	bool alive = client_liveness_check(&role->client, role->surface->surface,
		(uint64_t)role->config.client_ms * MS_NS, clock_now());
	if (alive == hung) {
		forward_log(&role->forward, "gid: role %s: its client %s\n", role->config.role,
			alive ? "reads its events again"
			      : "does not read its events; no signs of life meanwhile");
	}
	return alive;
}

static const struct forward_events forward_events = {
	.ready = handle_ready,
	.shown = handle_shown,
	.lost = handle_lost,
	.is_alive = handle_is_alive,
};

static void role_destroy(struct role *role) {
	role_take_back(role);
	forward_finish(&role->forward);
	safety_config_finish(&role->config);
	wl_list_remove(&role->link);
	free(role);
}

static bool role_exists(const struct safety *safety, const char *name) {
	const struct role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (strcmp(role->config.role, name) == 0) {
			return true;
		}
	}
	return false;
}

static int role_create(struct safety *safety, struct weston_config_section *section) {
	struct role *role = calloc(1, sizeof(*role));
	if (!role) {
		return -ENOMEM;
	}
	role->safety = safety;
	int error = safety_config_read(&role->config, section);
	if (error == 0 && role_exists(safety, role->config.role)) {
		weston_log("gid: weston.ini has two sections [gid-safety] of role=%s\n",
			role->config.role);
		error = -EINVAL;
	}
	if (error != 0) {
		safety_config_finish(&role->config);
		free(role);
		return error;
	}
	wl_list_insert(safety->roles.prev, &role->link);
	return forward_init(&role->forward, &role->config,
		wl_display_get_event_loop(safety->module->compositor->wl_display), &forward_events,
		role);
}

static int read_roles(struct safety *safety) {
	struct weston_config *config = wet_get_config(safety->module->compositor);
	struct weston_config_section *section = NULL;
	const char *name;
	int error = 0;
	while (error == 0 && weston_config_next_section(config, &section, &name)) {
		if (strcmp(name, "gid-safety") == 0) {
			error = role_create(safety, section);
		}
	}
	return error;
}

/* --- life ------------------------------------------------------------------------------------- */

int safety_create(struct module *module, struct safety **created) {
	*created = NULL;
	struct safety *safety = calloc(1, sizeof(*safety));
	if (!safety) {
		return -ENOMEM;
	}
	safety->module = module;
	wl_list_init(&safety->roles);
	wl_list_init(&safety->surfaces);
	wl_list_init(&safety->create_surface.link);
	int error = read_roles(safety);
	if (error == 0 && !wl_list_empty(&safety->roles)) {
		safety->create_surface.notify = handle_create_surface;
		wl_signal_add(&module->compositor->create_surface_signal, &safety->create_surface);
		error = safety_protocol_create(safety);
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
	if (!safety) {
		return;
	}
	struct role *role, *next_role;
	wl_list_for_each_safe(role, next_role, &safety->roles, link) {
		role_destroy(role);
	}
	struct safety_surface *surface, *next;
	wl_list_for_each_safe(surface, next, &safety->surfaces, link) {
		surface_destroy(surface);
	}
	safety_protocol_destroy(safety);
	wl_list_remove(&safety->create_surface.link);
	free(safety);
}

void safety_connection_changed(struct safety *safety) {
	struct role *role;
	if (!safety) {
		return;
	}
	wl_list_for_each(role, &safety->roles, link) {
		forward_set_domain(
			&role->forward, gidd_connection_get_domain(safety->module->connection));
	}
}

void safety_connection_lost(struct safety *safety) {
	struct role *role;
	if (!safety) {
		return;
	}
	wl_list_for_each(role, &safety->roles, link) {
		forward_set_domain(&role->forward, NULL);
	}
}
