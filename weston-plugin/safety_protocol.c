// SPDX-License-Identifier: MIT
/** gid-safety-v1: what named clients ask for, and what they are told. */
#include "safety_role.h"

#include "gid-safety-v1-protocol.h"
#include <errno.h>
#include <string.h>

static bool may_bind(const struct safety *safety, struct wl_client *client) {
	const struct role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (safety_config_names(&role->config, client)) {
			return true;
		}
	}
	return false;
}

/* --- gid_safety_surface_v1 -------------------------------------------------------------------- */

static void surface_handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

static const struct gid_safety_surface_v1_interface surface_implementation = {
	.destroy = surface_handle_destroy,
};

static void surface_resource_destroy(struct wl_resource *resource) {
	struct role *role = wl_resource_get_user_data(resource);
	if (role) {
		role_take_back(role);
	}
}

void safety_protocol_detach(struct role *role) {
	if (role->resource) {
		wl_resource_set_user_data(role->resource, NULL);
		role->resource = NULL;
	}
}

void safety_protocol_shown(struct role *role, uint64_t sequence, uint64_t time) {
	if (role->resource) {
		uint64_t seconds = time / 1000000000u;
		gid_safety_surface_v1_send_shown(role->resource, (uint32_t)(sequence >> 32),
			(uint32_t)sequence, (uint32_t)(seconds >> 32), (uint32_t)seconds,
			(uint32_t)(time % 1000000000u));
	}
}

void safety_protocol_lost(struct role *role, uint32_t reason) {
	if (role->resource) {
		gid_safety_surface_v1_send_lost(role->resource, reason);
	}
}

/* --- gid_safety_manager_v1 -------------------------------------------------------------------- */

static void manager_handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

/* A role that the client is not named for is one that it does not know. */
static struct role *find_role(struct safety *safety, struct wl_client *client, const char *name) {
	struct role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (strcmp(role->config.role, name) == 0 &&
			safety_config_names(&role->config, client)) {
			return role;
		}
	}
	return NULL;
}

static void manager_handle_get_safety_surface(struct wl_client *client,
	struct wl_resource *resource, uint32_t id, struct wl_resource *surface_resource,
	const char *name) {
	struct safety *safety = wl_resource_get_user_data(resource);
	struct safety_surface *surface = safety
		? safety_find_surface(safety, wl_resource_get_user_data(surface_resource))
		: NULL;
	struct role *role = safety ? find_role(safety, client, name) : NULL;
	if (!role) {
		wl_resource_post_error(resource, GID_SAFETY_MANAGER_V1_ERROR_UNKNOWN_ROLE,
			"there is no role '%s' for this client", name);
		return;
	}
	if (!surface) {
		wl_resource_post_no_memory(resource);
		return;
	}
	if (role->surface) {
		wl_resource_post_error(resource, GID_SAFETY_MANAGER_V1_ERROR_ROLE_TAKEN,
			"another surface has the role '%s'", name);
		return;
	}
	if (surface->role) {
		wl_resource_post_error(resource, GID_SAFETY_MANAGER_V1_ERROR_SURFACE_TAKEN,
			"the surface has the role '%s'", surface->role->config.role);
		return;
	}
	struct wl_resource *created = wl_resource_create(
		client, &gid_safety_surface_v1_interface, wl_resource_get_version(resource), id);
	if (!created) {
		wl_resource_post_no_memory(resource);
		return;
	}
	wl_resource_set_implementation(
		created, &surface_implementation, role, surface_resource_destroy);
	role_give(role, surface, created);
}

static const struct gid_safety_manager_v1_interface manager_implementation = {
	.destroy = manager_handle_destroy,
	.get_safety_surface = manager_handle_get_safety_surface,
};

static void manager_bind(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct safety *safety = data;
	if (!may_bind(safety, client)) {
		wl_client_post_implementation_error(
			client, "weston.ini names no role for this client");
		return;
	}
	struct wl_resource *resource =
		wl_resource_create(client, &gid_safety_manager_v1_interface, (int)version, id);
	if (!resource) {
		wl_client_post_no_memory(client);
		return;
	}
	wl_resource_set_implementation(resource, &manager_implementation, safety, NULL);
	const struct role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (safety_config_names(&role->config, client)) {
			gid_safety_manager_v1_send_role(resource, role->config.role,
				role->config.width, role->config.height);
		}
	}
	gid_safety_manager_v1_send_done(resource);
}

/* --- the global ------------------------------------------------------------------------------- */

/* Weston itself filters nothing; to others the global does not exist. */
static bool filter_global(
	const struct wl_client *client, const struct wl_global *global, void *data) {
	const struct safety *safety = data;
	return global != safety->global || may_bind(safety, (struct wl_client *)client);
}

int safety_protocol_create(struct safety *safety) {
	bool any = false;
	const struct role *role;
	wl_list_for_each(role, &safety->roles, link) {
		any = any || role->config.clients[0];
	}
	if (!any) {
		return 0;
	}
	struct wl_display *display = safety->module->compositor->wl_display;
	wl_display_set_global_filter(display, filter_global, safety);
	safety->global = wl_global_create(
		display, &gid_safety_manager_v1_interface, 1, safety, manager_bind);
	return safety->global ? 0 : -ENOMEM;
}

void safety_protocol_destroy(struct safety *safety) {
	if (safety->global) {
		wl_display_set_global_filter(safety->module->compositor->wl_display, NULL, NULL);
		wl_global_destroy(safety->global);
	}
}
