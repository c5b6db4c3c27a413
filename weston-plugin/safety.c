// SPDX-License-Identifier: MIT
#include "safety.h"

#include <assert.h>
#include <errno.h>
#include <libweston/desktop.h>
#include <stdlib.h>
#include <string.h>

#include "client_liveness.h"
#include "client_program.h"
#include "forward_commit.h"
#include "forward_tree.h"
#include "gid-safety-v1-protocol.h"
#include "libweston_exports.h"
#include "weston_config.h"

#define MS_NS 1000000ull

/* After a commit, longer than Weston waits to ask for the next picture: three refreshes. */
#define ASK_MS 50

struct safety {
	struct weston_compositor *compositor;
	const struct gidd_connection *connection;
	struct wl_list roles;	 /* struct role::link */
	struct wl_list surfaces; /* struct safety_surface::link */
	struct wl_listener create_surface;
	struct wl_global *global; /* gid_safety_manager_v1; NULL: no client is named */
};

struct role {
	struct wl_list link;
	struct safety *safety;
	struct safety_config config;
	struct forward forward;
	struct safety_surface *surface; /* that has it, or NULL */
	struct wl_resource *resource;	/* gid_safety_surface_v1, or NULL: by app-id */
	struct client_liveness client;
	struct wl_event_source *redraw; /* of its surface with subsurfaces, or NULL: none is due */
};

/*
 * Every surface that clients have. A shell may keep what a client has destroyed for a while, to let
 * its window fade out.
 */
struct safety_surface {
	struct wl_list link;
	struct safety *safety;
	struct weston_surface *surface;
	struct role *role;	   /* or NULL */
	const struct role *envied; /* that it would have, but another has it: as said in the log */
	/*
	 * Whose tree the surface is of, and the buffer that is copied or drawn for that, or for its
	 * own role. A renderer may be done with the buffer before it is read for the last time, as
	 * when another surface of the tree is committed.
	 */
	struct role *tree;
	struct weston_buffer_reference drawn;
	bool unmapped;		     /* Weston showed it, and does not now */
	struct wl_event_source *ask; /* a timer, or NULL: its window has had no role */
	struct wl_listener commit, map, unmap, destroy;
	struct wl_listener unlink; /* of its wl_subsurface, in a tree */
};

/* --- gid_safety_surface_v1 -------------------------------------------------------------------- */

static void surface_handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

static const struct gid_safety_surface_v1_interface surface_implementation = {
		.destroy = surface_handle_destroy,
};

static void role_give_back(struct role *role);

/* NULL: the surface, or the role, is gone, and the object without effect. */
static struct role *role_from_resource(struct wl_resource *resource) {
	assert(wl_resource_instance_of(
			resource, &gid_safety_surface_v1_interface, &surface_implementation));
	return wl_resource_get_user_data(resource);
}

static void surface_resource_destroy(struct wl_resource *resource) {
	struct role *role = role_from_resource(resource);
	if (role != NULL) {
		role_give_back(role);
	}
}

/* The surface, or the role, goes; its object stays without effect. */
static void role_detach(struct role *role) {
	if (role->resource != NULL) {
		wl_resource_set_user_data(role->resource, NULL);
		role->resource = NULL;
	}
}

static void handle_shown(void *data, uint64_t sequence, uint64_t time) {
	const struct role *role = data;
	if (role->resource != NULL) {
		uint64_t seconds = time / 1000000000u;
		gid_safety_surface_v1_send_shown(role->resource, (uint32_t)(sequence >> 32),
				(uint32_t)sequence, (uint32_t)(seconds >> 32), (uint32_t)seconds,
				(uint32_t)(time % 1000000000u));
	}
}

static void handle_lost(void *data, uint32_t reason) {
	const struct role *role = data;
	if (role->resource != NULL) {
		gid_safety_surface_v1_send_lost(role->resource, reason);
	}
}

/* --- surfaces --------------------------------------------------------------------------------- */

/*
 * With its subsurfaces. A role that is not to be seen here is drawn with no opacity and gets no
 * input: out of the scene it would get no frame callbacks, either, and stand still.
 */
static void surface_set_visible(struct weston_surface *surface, bool visible) {
	struct weston_view *view;
	wl_list_for_each(view, &surface->views, surface_link) {
		weston_view_set_alpha(view, visible ? 1.0f : 0.0f);
	}
	if (!visible) {
		pixman_region32_clear(&surface->input);
	}
	const struct weston_subsurface *sub;
	wl_list_for_each(sub, &surface->subsurface_list, parent_link) {
		if (sub->surface != surface) {
			surface_set_visible(sub->surface, visible);
		}
	}
}

/*
 * A compositor that sleeps asks no client to draw: the other display would show the picture of then
 * as live. When the last role is given back, the time until it sleeps begins anew.
 */
static void safety_stay_awake(struct safety *safety, bool awake) {
	struct weston_compositor *compositor = safety->compositor;
	if (awake) {
		compositor->idle_inhibit++;
	} else {
		compositor->idle_inhibit--;
	}
	if (compositor->state == WESTON_COMPOSITOR_ACTIVE ||
			(awake && compositor->state != WESTON_COMPOSITOR_OFFSCREEN)) {
		weston_compositor_wake(compositor);
	}
}

/* Gives the role, which is free, to a surface that has none. */
static void role_give(
		struct role *role, struct safety_surface *surface, struct wl_resource *resource) {
	role->surface = surface;
	role->resource = resource;
	surface->role = role;
	forward_log(&role->forward, "gid: role %s: taken by process %d\n", role->config.role,
			client_pid(wl_resource_get_client(surface->surface->resource)));
	safety_stay_awake(role->safety, true);
	forward_begin(&role->forward);
}

/* --- surfaces with subsurfaces ---------------------------------------------------------------- */

/* Where the renderer is done with the buffer already, its client may draw into it. */
static void surface_keep_buffer(struct safety_surface *surface) {
	const struct weston_buffer_reference *shown = &surface->surface->buffer_ref;
	if (shown->buffer == surface->drawn.buffer) {
		return;
	}
	if (shown->type == BUFFER_MAY_BE_ACCESSED) {
		weston_buffer_reference(&surface->drawn, shown->buffer, BUFFER_MAY_BE_ACCESSED);
	} else {
		weston_buffer_reference(&surface->drawn, NULL, BUFFER_WILL_NOT_BE_ACCESSED);
	}
}

static void surface_leave_tree(struct safety_surface *surface) {
	surface->tree = NULL;
	if (surface->role == NULL) {
		weston_buffer_reference(&surface->drawn, NULL, BUFFER_WILL_NOT_BE_ACCESSED);
	}
}

static void role_leave_tree(struct role *role) {
	struct safety_surface *surface;
	wl_list_for_each(surface, &role->safety->surfaces, link) {
		if (surface->tree == role) {
			surface_leave_tree(surface);
		}
	}
	if (role->redraw != NULL) {
		wl_event_source_remove(role->redraw);
		role->redraw = NULL;
	}
}

/* Whether the surface is the role's, or one of its subsurfaces. */
static bool role_has(const struct role *role, struct weston_surface *surface) {
	struct weston_surface *own = role->surface != NULL ? role->surface->surface : NULL;
	return own != NULL &&
			(own == surface || weston_surface_get_main_surface(surface) == own ||
					forward_tree_find_link(own, surface) != NULL);
}

/* Whether it is this surface, or a part of it. */
static bool surface_has(const struct safety_surface *surface, const struct safety_surface *part) {
	return surface == part || forward_tree_find_link(surface->surface, part->surface) != NULL;
}

/* Whether Weston shows the surface's window no more: its own, or the one that it is a part of. */
static bool surface_has_lost_window(const struct safety_surface *surface) {
	struct weston_surface *main = weston_surface_get_main_surface(surface->surface);
	const char *name = weston_surface_get_role(surface->surface);
	if ((main == NULL || main == surface->surface) && name != NULL &&
			strcmp(name, "wl_subsurface") == 0) {
		return true;
	}
	const struct safety_surface *other;
	wl_list_for_each(other, &surface->safety->surfaces, link) {
		if (other->unmapped && surface_has(other, surface)) {
			return true;
		}
	}
	return false;
}

/* Sends what the surface shows, if anything. */
static void role_commit(struct role *role) {
	if (role->surface != NULL && !surface_has_lost_window(role->surface)) {
		forward_commit(&role->forward, role->surface->surface);
	}
}

static void handle_redraw(void *data) {
	struct role *role = data;
	role->redraw = NULL;
	role_commit(role);
}

/*
 * What a commit brings to subsurfaces is there only when Weston is done with it: the tree is drawn
 * once, before Weston waits for anything again.
 */
static void role_redraw(struct role *role) {
	struct wl_display *display = role->safety->compositor->wl_display;
	if (role->redraw == NULL) {
		role->redraw = wl_event_loop_add_idle(
				wl_display_get_event_loop(display), handle_redraw, role);
	}
}

/* What it is a part of looks different now. */
static void surface_redraw(struct safety_surface *surface) {
	struct role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (role == surface->tree || role_has(role, surface->surface)) {
			role_redraw(role);
		}
	}
}

static void handle_unlink(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, unlink);
	wl_list_remove(&surface->unlink.link);
	wl_list_init(&surface->unlink.link);
	if (surface->role != NULL) {
		forward_hide(&surface->role->forward, -1, GID_HIDDEN_EMPTY);
	}
	if (surface->tree != NULL) {
		surface_redraw(surface);
		surface_leave_tree(surface);
	}
}

/* The surface, of the tree of `top`, was committed: it may be a subsurface no more some time. */
static void surface_watch_link(struct safety_surface *surface, struct weston_surface *top) {
	struct wl_resource *link = wl_list_empty(&surface->unlink.link) && top != NULL
			? forward_tree_find_link(top, surface->surface)
			: NULL;
	if (link != NULL) {
		wl_resource_add_destroy_listener(link, &surface->unlink);
	}
}

/* The surface, of the role's tree, was committed. */
static void surface_join_tree(struct safety_surface *surface, struct role *role) {
	surface->tree = role;
	surface_keep_buffer(surface);
	role_redraw(role);
	surface_watch_link(surface, role->surface->surface);
}

/* Takes it back, if somebody has it. */
static void role_take_back(struct role *role) {
	struct safety_surface *surface = role->surface;
	if (surface == NULL) {
		return;
	}
	role_leave_tree(role);
	role_detach(role);
	safety_stay_awake(role->safety, false);
	surface->role = NULL;
	role->surface = NULL;
	if (surface->tree == NULL) { /* it may be of another role's */
		surface_leave_tree(surface);
	}
	forward_end(&role->forward);
	forward_log(&role->forward, "gid: role %s: given back\n", role->config.role);
}

/* --- asking to draw --------------------------------------------------------------------------- */

/* Whether anything in its window has a role. */
static bool surface_is_wanted(const struct safety_surface *surface) {
	const struct weston_surface *window = weston_surface_get_main_surface(surface->surface);
	const struct role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (role->surface != NULL &&
				weston_surface_get_main_surface(role->surface->surface) == window) {
			return true;
		}
	}
	return false;
}

static int handle_ask(void *data) {
	struct safety_surface *surface = data;
	struct wl_resource *callback, *next;
	if (!surface_is_wanted(surface)) {
		return 0;
	}
	wl_resource_for_each_safe(callback, next, &surface->surface->frame_callback_list) {
		wl_callback_send_done(callback, (uint32_t)(gid_clock_now() / MS_NS));
		wl_resource_destroy(callback);
	}
	return 0;
}

/*
 * Weston asks nobody to draw whose window is behind another one in a kiosk, or minimised, or on an
 * output that is off. The other display shows it all the same, and would show its last picture as
 * live: there we ask.
 */
static void surface_expect_ask(struct safety_surface *surface) {
	if (surface->ask == NULL) {
		struct wl_display *display = surface->safety->compositor->wl_display;
		surface->ask = wl_event_loop_add_timer(
				wl_display_get_event_loop(display), handle_ask, surface);
	}
	if (surface->ask != NULL) {
		wl_event_source_timer_update(surface->ask, ASK_MS);
	}
}

/* By its client: the surface remains. */
static void role_give_back(struct role *role) {
	if (!role->config.visible) {
		surface_set_visible(role->surface->surface, true);
	}
	role_take_back(role);
}

/* --- the surfaces that there are -------------------------------------------------------------- */

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
		bool anybody = client_list_is_empty(&role->config.clients) &&
				!role->config.clients.has_user;
		if (app_id == NULL || role->config.app_id == NULL ||
				strcmp(app_id, role->config.app_id) != 0 ||
				(!anybody && !client_list_has(&role->config.clients, client))) {
			continue;
		}
		if (role->surface == NULL) {
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

static struct safety_surface *find_surface(
		struct safety *safety, const struct weston_surface *wanted) {
	struct safety_surface *surface;
	wl_list_for_each(surface, &safety->surfaces, link) {
		if (surface->surface == wanted) {
			return surface;
		}
	}
	return NULL;
}

/* The surface, which is the role's or of its tree, was committed. */
static void role_note_commit(struct role *role, struct safety_surface *surface) {
	if (!role->config.visible) {
		surface_set_visible(surface->surface, false);
	}
	if (!wl_list_empty(&role->surface->surface->subsurface_list)) {
		surface_join_tree(surface, role);
	} else {
		role_leave_tree(role);
		surface_keep_buffer(surface);
		role_commit(role);
	}
}

static void handle_commit(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, commit);
	if (surface->role == NULL) {
		give_by_app_id(surface);
	}
	if (surface->role != NULL) {
		client_liveness_note(&surface->role->client, gid_clock_now());
		surface_watch_link(surface, weston_surface_get_main_surface(surface->surface));
	}
	bool shown = false;
	struct role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (role_has(role, surface->surface)) {
			role_note_commit(role, surface);
			shown = true;
		}
	}
	if (!shown && surface->tree != NULL) {
		surface_leave_tree(surface);
	}
	if (surface_is_wanted(surface)) {
		surface_expect_ask(surface);
	}
}

/* As when the client has destroyed its window, but not the surface. */
static void handle_unmap(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, unmap);
	struct role *role;
	surface->unmapped = true;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (role->surface != NULL && surface_has_lost_window(role->surface)) {
			forward_hide(&role->forward, -1, GID_HIDDEN_EMPTY);
		}
	}
}

static void handle_map(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, map);
	bool again = surface->unmapped;
	surface->unmapped = false;
	struct role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (again && role->surface != NULL && surface_has(surface, role->surface)) {
			role_redraw(role);
		}
	}
}

static void surface_destroy(struct safety_surface *surface) {
	if (surface->role != NULL) {
		role_take_back(surface->role);
	}
	if (surface->tree != NULL) {
		surface_redraw(surface);
		surface_leave_tree(surface);
	}
	wl_list_remove(&surface->commit.link);
	wl_list_remove(&surface->map.link);
	wl_list_remove(&surface->unmap.link);
	wl_list_remove(&surface->unlink.link);
	wl_list_remove(&surface->destroy.link);
	wl_list_remove(&surface->link);
	if (surface->ask != NULL) {
		wl_event_source_remove(surface->ask);
	}
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
	surface->unlink.notify = handle_unlink;
	wl_list_init(&surface->unlink.link);
	surface->destroy.notify = handle_destroy;
	wl_resource_add_destroy_listener(created->resource, &surface->destroy);
	wl_list_insert(&safety->surfaces, &surface->link);
}

void safety_buffer_settled(struct safety *safety, struct wl_resource *buffer) {
	struct role *role;
	if (safety == NULL) {
		return;
	}
	wl_list_for_each(role, &safety->roles, link) {
		struct weston_surface *surface =
				role->surface != NULL ? role->surface->surface : NULL;
		if (surface != NULL && surface->buffer_ref.buffer != NULL &&
				surface->buffer_ref.buffer->resource == buffer) {
			role_commit(role);
		}
	}
	struct safety_surface *part;
	wl_list_for_each(part, &safety->surfaces, link) {
		if (part->tree != NULL && part->drawn.buffer != NULL &&
				part->drawn.buffer->resource == buffer) {
			surface_redraw(part);
		}
	}
}

/* --- roles ------------------------------------------------------------------------------------ */

static void handle_ready(void *data) {
	struct role *role = data;
	weston_log("gid: role %s: stream safety/%s is published\n", role->config.role,
			role->config.role);
	role_commit(role);
}

static void handle_again(void *data) {
	role_commit(data);
}

static bool handle_is_alive(void *data) {
	struct role *role = data;
	bool hung = role->client.hangs;
	if (role->config.client_ms == 0) {
		return true;
	}
	bool alive = client_liveness_check(&role->client, role->surface->surface,
			(uint64_t)role->config.client_ms * MS_NS, gid_clock_now());
	if (alive == hung) {
		forward_log(&role->forward, "gid: role %s: its client %s\n", role->config.role,
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
	if (error != 0) {
		safety_config_finish(&role->config);
		free(role);
		return error;
	}
	wl_list_insert(safety->roles.prev, &role->link);
	return forward_init(&role->forward, &role->config,
			wl_display_get_event_loop(safety->compositor->wl_display), &forward_events,
			role);
}

static int read_roles(struct safety *safety) {
	struct weston_config *config = wet_get_config(safety->compositor);
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

/* --- gid_safety_manager_v1 -------------------------------------------------------------------- */

static void manager_handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

/* Whether some role names the client. */
static bool may_bind(const struct safety *safety, struct wl_client *client) {
	const struct role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (client_list_has(&role->config.clients, client)) {
			return true;
		}
	}
	return false;
}

/* A role that the client is not named for is one that it does not know. */
static struct role *find_role(struct safety *safety, struct wl_client *client, const char *name) {
	struct role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (strcmp(role->config.role, name) == 0 &&
				client_list_has(&role->config.clients, client)) {
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
	/* libwayland has checked that it is a wl_surface; what is behind it is Weston's. */
	struct safety_surface *surface =
			find_surface(safety, wl_resource_get_user_data(surface_resource));
	struct role *role = find_role(safety, client, name);
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
	role_give(role, surface, created);
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
	const struct role *role;
	wl_list_for_each(role, &safety->roles, link) {
		if (client_list_has(&role->config.clients, client)) {
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

static int safety_create_global(struct safety *safety) {
	bool any = false;
	const struct role *role;
	wl_list_for_each(role, &safety->roles, link) {
		any = any || !client_list_is_empty(&role->config.clients);
	}
	if (!any) {
		return 0;
	}
	struct wl_display *display = safety->compositor->wl_display;
	wl_display_set_global_filter(display, filter_global, safety);
	safety->global = wl_global_create(
			display, &gid_safety_manager_v1_interface, 1, safety, manager_bind);
	return safety->global != NULL ? 0 : -ENOMEM;
}

static void safety_destroy_global(struct safety *safety) {
	if (safety->global != NULL) {
		wl_display_set_global_filter(safety->compositor->wl_display, NULL, NULL);
		wl_global_destroy(safety->global);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

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
		safety->create_surface.notify = handle_create_surface;
		wl_signal_add(&compositor->create_surface_signal, &safety->create_surface);
		error = safety_create_global(safety);
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
	struct role *role, *next_role;
	wl_list_for_each_safe(role, next_role, &safety->roles, link) {
		role_destroy(role);
	}
	struct safety_surface *surface, *next;
	wl_list_for_each_safe(surface, next, &safety->surfaces, link) {
		surface_destroy(surface);
	}
	safety_destroy_global(safety);
	wl_list_remove(&safety->create_surface.link);
	free(safety);
}

void safety_connection_changed(struct safety *safety) {
	struct role *role;
	if (safety == NULL) {
		return;
	}
	bool up = gidd_connection_is_up(safety->connection);
	wl_list_for_each(role, &safety->roles, link) {
		forward_set_domain(&role->forward, gidd_connection_get_domain(safety->connection));
		/* A picture for which a gidd that was away had no memory: it may be the last one.
		 */
		if (up && forward_is_hidden(&role->forward, GID_HIDDEN_MEMORY)) {
			role_commit(role);
		}
	}
}

void safety_connection_lost(struct safety *safety) {
	struct role *role;
	if (safety == NULL) {
		return;
	}
	wl_list_for_each(role, &safety->roles, link) {
		forward_set_domain(&role->forward, NULL);
	}
}
