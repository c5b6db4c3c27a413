// SPDX-License-Identifier: MIT
#include "window_parts.h"

#include <libweston/desktop.h>
#include <math.h>

/* Of menus that hang on each other, and of the subsurfaces of each. */
#define DEPTH_MAX 16

struct gid_box window_frame(struct weston_surface *surface) {
	struct gid_box whole = {0, 0, surface->width, surface->height};
	if (!weston_surface_is_desktop_surface(surface)) {
		return whole;
	}
	struct weston_geometry said = weston_desktop_surface_get_geometry(
			weston_surface_get_desktop_surface(surface));
	int64_t right = (int64_t)said.x + said.width, bottom = (int64_t)said.y + said.height;
	int32_t left = said.x > 0 ? said.x : 0, top = said.y > 0 ? said.y : 0;
	right = right < surface->width ? right : surface->width;
	bottom = bottom < surface->height ? bottom : surface->height;
	if (right <= left || bottom <= top) {
		return whole;
	}
	return (struct gid_box){left, top, (int32_t)right - left, (int32_t)bottom - top};
}

struct weston_view *window_find_view(const struct weston_surface *surface) {
	struct weston_view *view, *found = NULL;
	wl_list_for_each(view, &surface->views, surface_link) {
		if (found == NULL || weston_view_is_mapped(view)) {
			found = view;
		}
	}
	return found;
}

/* --- menus ------------------------------------------------------------------------------------ */

/* Subsurfaces have views that hang on their parent's, too, but are none of a shell's. */
static bool is_menu(const struct weston_view *view) {
	const struct weston_surface *surface = view->surface;
	return weston_surface_is_desktop_surface(view->surface) &&
			surface->buffer_ref.buffer != NULL && surface->width > 0 &&
			surface->height > 0;
}

/* Where `length` begins that would be at `at`: within the room, as far as it has any. */
static int64_t slide(int64_t at, int32_t length, int32_t begin, int32_t room) {
	if (at + length > (int64_t)begin + room) {
		at = (int64_t)begin + room - length;
	}
	return at > begin ? at : begin;
}

static struct window_part place_menu(
		struct weston_view *view, const struct window_part *parent, struct gid_box seen) {
	struct gid_box frame = window_frame(view->surface);
	struct weston_coord offset = view->geometry.pos_offset;
	int64_t x = parent->x + llrint(offset.x) + frame.x;
	int64_t y = parent->y + llrint(offset.y) + frame.y;
	return (struct window_part){
			.view = view,
			.x = (int32_t)(slide(x, frame.width, seen.x, seen.width) - frame.x),
			.y = (int32_t)(slide(y, frame.height, seen.y, seen.height) - frame.y),
	};
}

/* The newest is the first of the list. */
static unsigned add_menus(struct window_part parts[WINDOW_PARTS_MAX], unsigned count,
		struct window_part parent, struct gid_box seen) {
	struct weston_view *view;
	wl_list_for_each_reverse(view, &parent.view->geometry.child_list, geometry.parent_link) {
		if (count < WINDOW_PARTS_MAX && is_menu(view)) {
			parts[count] = place_menu(view, &parent, seen);
			count = add_menus(parts, count + 1, parts[count], seen);
		}
	}
	return count;
}

unsigned window_find_parts(struct weston_surface *window, struct gid_box seen,
		struct window_part parts[WINDOW_PARTS_MAX]) {
	parts[0] = (struct window_part){.view = window_find_view(window)};
	return parts[0].view != NULL ? add_menus(parts, 1, parts[0], seen) : 0;
}

bool window_has_menus(const struct weston_surface *window) {
	const struct weston_view *view = window_find_view(window), *child;
	if (view != NULL) {
		wl_list_for_each(child, &view->geometry.child_list, geometry.parent_link) {
			if (is_menu(child)) {
				return true;
			}
		}
	}
	return false;
}

struct weston_surface *window_of(struct weston_surface *surface) {
	for (unsigned depth = 0; surface != NULL && depth < DEPTH_MAX; depth++) {
		surface = weston_surface_get_main_surface(surface);
		if (surface == NULL || !weston_surface_is_desktop_surface(surface)) {
			return surface;
		}
		struct weston_desktop_surface *parent = weston_desktop_surface_get_parent(
				weston_surface_get_desktop_surface(surface));
		if (parent == NULL) {
			return surface;
		}
		surface = weston_desktop_surface_get_surface(parent);
	}
	return NULL;
}
