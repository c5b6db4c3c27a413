// SPDX-License-Identifier: MIT
#include "safety_protocol.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "gid-safety-v1-protocol.h"
#include "safety_role.h"
#include "safety_tree.h"

/* The prefix of the seats of other domains: they are named like the streams of input. */
#define SEAT_OF_OTHERS "input/"

/* --- gid_safety_surface_v1 -------------------------------------------------------------------- */

static void surface_handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

static const struct gid_safety_surface_v1_interface surface_implementation = {
		.destroy = surface_handle_destroy,
};

/* NULL: the surface or the role is gone, and the object is inert. */
static struct safety_role *role_from_resource(struct wl_resource *resource) {
	assert(wl_resource_instance_of(
			resource, &gid_safety_surface_v1_interface, &surface_implementation));
	return wl_resource_get_user_data(resource);
}

static void surface_resource_destroy(struct wl_resource *resource) {
	struct safety_role *role = role_from_resource(resource);
	if (role != NULL) {
		safety_role_give_back(role);
	}
}

/* --- gid_safety_manager_v1 -------------------------------------------------------------------- */

static void manager_handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

/* The section of an ordinary window may name clients, but has no role. */
static bool names_client(const struct safety_role *role, struct wl_client *client) {
	return role->config.role != NULL && client_list_has(&role->config.clients, client);
}

/* Whether some role names the client. */
static bool may_bind(const struct safety *safety, struct wl_client *client) {
	const struct safety_role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (names_client(role, client)) {
			return true;
		}
	}
	return false;
}

/* A role that does not name the client does not exist for it. */
static struct safety_role *find_role(
		struct safety *safety, struct wl_client *client, const char *name) {
	struct safety_role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (names_client(role, client) && strcmp(role->config.role, name) == 0) {
			return role;
		}
	}
	return NULL;
}

static struct safety *safety_from_resource(struct wl_resource *resource);

static void manager_handle_get_safety_surface(struct wl_client *client,
		struct wl_resource *resource, uint32_t id, struct wl_resource *surface_resource,
		const char *name) {
	struct safety *safety = safety_from_resource(resource);
	/* libwayland has checked that it is a wl_surface; its user data is Weston's. */
	struct safety_surface *surface =
			safety_tree_find_surface(wl_resource_get_user_data(surface_resource));
	struct safety_role *role = find_role(safety, client, name);
	if (role == NULL) {
		wl_resource_post_error(resource, GID_SAFETY_MANAGER_V1_ERROR_UNKNOWN_ROLE,
				"there is no role '%s' for this client", name);
		return;
	}
	if (surface == NULL) {
		wl_resource_post_no_memory(resource);
		return;
	}
	if (role->surface != NULL) {
		wl_resource_post_error(resource, GID_SAFETY_MANAGER_V1_ERROR_ROLE_TAKEN,
				"another surface has the role '%s'", name);
		return;
	}
	if (surface->role != NULL && surface->role->config.role == NULL) {
		safety_role_pass_on(surface->role); /* a role replaces the window */
	}
	if (surface->role != NULL) {
		wl_resource_post_error(resource, GID_SAFETY_MANAGER_V1_ERROR_SURFACE_TAKEN,
				"the surface has the role '%s'", surface->role->config.role);
		return;
	}
	struct wl_resource *created = wl_resource_create(client, &gid_safety_surface_v1_interface,
			wl_resource_get_version(resource), id);
	if (created == NULL) {
		wl_resource_post_no_memory(resource);
		return;
	}
	wl_resource_set_implementation(
			created, &surface_implementation, role, surface_resource_destroy);
	safety_role_give(role, surface, created);
}

static const struct gid_safety_manager_v1_interface manager_implementation = {
		.destroy = manager_handle_destroy,
		.get_safety_surface = manager_handle_get_safety_surface,
};

static struct safety *safety_from_resource(struct wl_resource *resource) {
	assert(wl_resource_instance_of(
			resource, &gid_safety_manager_v1_interface, &manager_implementation));
	return wl_resource_get_user_data(resource);
}

static void manager_bind(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct safety *safety = data;
	if (!may_bind(safety, client)) {
		wl_client_post_implementation_error(
				client, "weston.ini names no role for this client");
		return;
	}
	struct wl_resource *resource = wl_resource_create(
			client, &gid_safety_manager_v1_interface, (int)version, id);
	if (resource == NULL) {
		wl_client_post_no_memory(client);
		return;
	}
	wl_resource_set_implementation(resource, &manager_implementation, safety, NULL);
	const struct safety_role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (names_client(role, client)) {
			gid_safety_manager_v1_send_role(resource, role->config.role,
					role->config.width, role->config.height);
		}
	}
	gid_safety_manager_v1_send_done(resource);
}

/* --- the globals ------------------------------------------------------------------------------ */

/*
 * For the seats of other domains. A program that window sections name has only the seats of these
 * windows, and no other program has them: many programs use the first wl_seat as the only one.
 */
static bool may_have_seat(const struct safety *safety, struct wl_client *client, const char *name) {
	const struct safety_role *role;
	bool has_own = false;
	wl_list_for_each(role, &safety->roles, link) {
		const struct safety_config *config = &role->config;
		if (config->role != NULL || config->input.domain == NULL ||
				client_list_is_empty(&config->clients)) {
			continue;
		}
		bool is_named = client_list_has(&config->clients, client);
		if (strcmp(config->input.stream, name) == 0) {
			return is_named;
		}
		has_own = has_own || is_named;
	}
	return !has_own || strncmp(name, SEAT_OF_OTHERS, strlen(SEAT_OF_OTHERS)) != 0;
}

/* Weston itself sets no filter. For other clients gid_safety_manager_v1 does not exist. */
static bool filter_global(
		const struct wl_client *client, const struct wl_global *global, void *data) {
	const struct safety *safety = data;
	if (global == safety->global) {
		return may_bind(safety, (struct wl_client *)client);
	}
	if (wl_global_get_interface(global) != &wl_seat_interface) {
		return true;
	}
	const struct weston_seat *seat = wl_global_get_user_data(global);
	return may_have_seat(safety, (struct wl_client *)client, seat->seat_name);
}

int safety_protocol_create_global(struct safety *safety) {
	bool of_roles = false, of_windows = false;
	const struct safety_role *role;
	wl_list_for_each(role, &safety->roles, link) {
		bool any = !client_list_is_empty(&role->config.clients);
		of_roles = of_roles || (any && role->config.role != NULL);
		of_windows = of_windows || (any && role->config.role == NULL);
	}
	struct wl_display *display = safety->compositor->wl_display;
	safety->filters = of_roles || of_windows;
	if (safety->filters) {
		wl_display_set_global_filter(display, filter_global, safety);
	}
	if (of_roles) {
		safety->global = wl_global_create(
				display, &gid_safety_manager_v1_interface, 1, safety, manager_bind);
	}
	return !of_roles || safety->global != NULL ? 0 : -ENOMEM;
}

void safety_protocol_destroy_global(struct safety *safety) {
	if (safety->filters) {
		wl_display_set_global_filter(safety->compositor->wl_display, NULL, NULL);
	}
	if (safety->global != NULL) {
		wl_global_destroy(safety->global);
	}
}
