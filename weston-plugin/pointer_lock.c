// SPDX-License-Identifier: MIT
#include "pointer_lock.h"

#include <libweston/desktop.h>
#include <string.h>

#define NOWHERE INT32_MIN /* no position in a surface */

/*
 * Weston has no function for this, but the pointer's grab is a member of the constraint. NULL:
 * there is none.
 */
static const struct weston_pointer_constraint *find_active(const struct weston_pointer *pointer) {
	const struct weston_pointer_constraint *constraint;
	if (pointer->focus == NULL) {
		return NULL;
	}
	wl_list_for_each(constraint, &pointer->focus->surface->pointer_constraints, link) {
		if (&constraint->grab == pointer->grab) {
			return constraint;
		}
	}
	return NULL;
}

bool pointer_is_constrained(const struct weston_pointer *pointer) {
	return find_active(pointer) != NULL;
}

bool pointer_is_locked(const struct weston_pointer *pointer) {
	const struct weston_pointer_constraint *active = find_active(pointer);
	return active != NULL &&
			strcmp(wl_resource_get_class(active->resource), "zwp_locked_pointer_v1") ==
			0;
}

bool pointer_is_lost(struct weston_pointer *pointer, bool *moved) {
	if (!*moved || pointer_is_locked(pointer)) {
		return false;
	}
	*moved = false;
	if (pointer->focus != NULL) {
		pointer->sx = pointer->sy = NOWHERE;
	}
	return true;
}

static bool is_fullscreen(struct weston_surface *surface) {
	struct weston_desktop_surface *window = weston_surface_get_desktop_surface(surface);
	return window != NULL && weston_desktop_surface_get_fullscreen(window);
}

struct weston_view *pointer_find_asker(const struct weston_pointer *pointer) {
	const struct weston_pointer_constraint *constraint;
	if (pointer->focus == NULL || pointer->grab != &pointer->default_grab ||
			!is_fullscreen(pointer->focus->surface)) {
		return NULL;
	}
	wl_list_for_each(constraint, &pointer->focus->surface->pointer_constraints, link) {
		if (constraint->pointer == pointer && constraint->view == NULL) {
			return pointer->focus;
		}
	}
	return NULL;
}
