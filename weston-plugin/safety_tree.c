// SPDX-License-Identifier: MIT
#include "safety_tree.h"

#include <string.h>

#include "libweston_exports.h"

/* Where the renderer is done with the buffer already, its client may draw into it. */
static void keep_buffer(struct safety_surface *surface) {
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

void safety_tree_remove(struct safety_surface *surface) {
	surface->tree = NULL;
	if (surface->role == NULL) {
		weston_buffer_reference(&surface->drawn, NULL, BUFFER_WILL_NOT_BE_ACCESSED);
	}
}

void safety_tree_clear(struct safety_role *role) {
	struct safety_surface *surface;
	wl_list_for_each(surface, &role->safety->surfaces, link) {
		if (surface->tree == role) {
			safety_tree_remove(surface);
		}
	}
	if (role->redraw != NULL) {
		wl_event_source_remove(role->redraw);
		role->redraw = NULL;
	}
}

bool safety_tree_has(const struct safety_role *role, struct weston_surface *surface) {
	struct weston_surface *own = role->surface != NULL ? role->surface->surface : NULL;
	return own != NULL &&
			(own == surface || weston_surface_get_main_surface(surface) == own ||
					forward_find_link(own, surface) != NULL);
}

bool safety_tree_contains(const struct safety_surface *surface, const struct safety_surface *part) {
	return surface == part || forward_find_link(surface->surface, part->surface) != NULL;
}

bool safety_tree_has_lost_window(const struct safety_surface *surface) {
	struct weston_surface *main = weston_surface_get_main_surface(surface->surface);
	const char *name = weston_surface_get_role(surface->surface);
	if ((main == NULL || main == surface->surface) && name != NULL &&
			strcmp(name, "wl_subsurface") == 0) {
		return true;
	}
	const struct safety_surface *other;
	wl_list_for_each(other, &surface->safety->surfaces, link) {
		if (other->unmapped && safety_tree_contains(other, surface)) {
			return true;
		}
	}
	return false;
}

void safety_tree_send(struct safety_role *role) {
	if (role->surface != NULL && !safety_tree_has_lost_window(role->surface)) {
		forward_commit(role->forward, role->surface->surface);
	}
}

static void handle_redraw(void *data) {
	struct safety_role *role = data;
	role->redraw = NULL;
	safety_tree_send(role);
}

void safety_tree_send_later(struct safety_role *role) {
	struct wl_display *display = role->safety->compositor->wl_display;
	if (role->redraw == NULL) {
		role->redraw = wl_event_loop_add_idle(
				wl_display_get_event_loop(display), handle_redraw, role);
	}
}

void safety_tree_send_changed(struct safety_surface *surface) {
	struct safety_role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (role == surface->tree || safety_tree_has(role, surface->surface)) {
			safety_tree_send_later(role);
		}
	}
}

static void handle_unlink(struct wl_listener *listener, void *data) {
	struct safety_surface *surface = wl_container_of(listener, surface, unlink);
	wl_list_remove(&surface->unlink.link);
	wl_list_init(&surface->unlink.link);
	if (surface->role != NULL) {
		forward_hide(surface->role->forward, -1, GID_HIDDEN_EMPTY);
	}
	if (surface->tree != NULL) {
		safety_tree_send_changed(surface);
		safety_tree_remove(surface);
	}
}

void safety_tree_init(struct safety_surface *surface) {
	surface->unlink.notify = handle_unlink;
	wl_list_init(&surface->unlink.link);
}

void safety_tree_finish(struct safety_surface *surface) {
	if (surface->tree != NULL) {
		safety_tree_send_changed(surface);
		safety_tree_remove(surface);
	}
	wl_list_remove(&surface->unlink.link);
}

void safety_tree_watch_link(struct safety_surface *surface, struct weston_surface *top) {
	struct wl_resource *link = wl_list_empty(&surface->unlink.link) && top != NULL
			? forward_find_link(top, surface->surface)
			: NULL;
	if (link != NULL) {
		wl_resource_add_destroy_listener(link, &surface->unlink);
	}
}

void safety_tree_commit(struct safety_role *role, struct safety_surface *surface) {
	if (!wl_list_empty(&role->surface->surface->subsurface_list)) {
		surface->tree = role;
		keep_buffer(surface);
		safety_tree_send_later(role);
		safety_tree_watch_link(surface, role->surface->surface);
	} else {
		safety_tree_clear(role);
		keep_buffer(surface);
		safety_tree_send(role);
	}
}
