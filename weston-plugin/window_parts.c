// SPDX-License-Identifier: MIT
#include "window_parts.h"

#include <libweston/desktop.h>
#include <math.h>

#include "dialogs.h"

/* Menus and dialogs that are children of each other, with the subsurfaces of each. */
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

/* --- what is in front of it ------------------------------------------------------------------- */

static bool is_shown(const struct weston_surface *surface) {
	return surface->buffer_ref.buffer != NULL && surface->width > 0 && surface->height > 0;
}

/* Views of subsurfaces are children of their parent's view, too, but no desktop surfaces. */
static bool is_menu(const struct weston_view *view) {
	return weston_surface_is_desktop_surface(view->surface) && is_shown(view->surface);
}

/* Returns the window's next dialog that is shown. */
static struct weston_surface *next_dialog(
		struct weston_surface *window, struct weston_surface *dialog) {
	do {
		dialog = dialogs_next(window, dialog);
	} while (dialog != NULL && (!is_shown(dialog) || window_find_view(dialog) == NULL));
	return dialog;
}

/*
 * Moves a span of this `length`, which would begin at `at`, into the room. If it is longer, it
 * begins with the room.
 */
static int64_t slide(int64_t at, int32_t length, int32_t begin, int32_t room) {
	if (at + length > (int64_t)begin + room) {
		at = (int64_t)begin + room - length;
	}
	return at > begin ? at : begin;
}

/* `x` and `y` are the preferred position of its window geometry. */
static struct window_part place(struct weston_view *view, struct weston_surface *window, int64_t x,
		int64_t y, struct gid_box seen) {
	struct gid_box frame = window_frame(view->surface);
	return (struct window_part){
			.view = view,
			.window = window,
			.x = (int32_t)(slide(x, frame.width, seen.x, seen.width) - frame.x),
			.y = (int32_t)(slide(y, frame.height, seen.y, seen.height) - frame.y),
	};
}

static struct window_part place_menu(
		struct weston_view *view, const struct window_part *parent, struct gid_box seen) {
	struct gid_box frame = window_frame(view->surface);
	struct weston_coord offset = view->geometry.pos_offset;
	return place(view, parent->window, (int64_t)parent->x + llrint(offset.x) + frame.x,
			(int64_t)parent->y + llrint(offset.y) + frame.y, seen);
}

static struct window_part place_dialog(struct weston_surface *dialog,
		const struct window_part *parent, struct gid_box seen) {
	struct gid_box frame = window_frame(dialog), around = window_frame(parent->view->surface);
	return place(window_find_view(dialog), dialog,
			(int64_t)parent->x + around.x + (around.width - frame.width) / 2,
			(int64_t)parent->y + around.y + (around.height - frame.height) / 2, seen);
}

/* Adds the part and all that is in front of it. The newest view is the first of the list. */
static unsigned add_part(struct window_part parts[WINDOW_PARTS_MAX], unsigned count,
		struct window_part part, struct gid_box seen) {
	struct weston_view *view;
	if (count == WINDOW_PARTS_MAX) {
		return count;
	}
	parts[count++] = part;
	wl_list_for_each_reverse(view, &part.view->geometry.child_list, geometry.parent_link) {
		if (is_menu(view)) {
			count = add_part(parts, count, place_menu(view, &part, seen), seen);
		}
	}
	struct weston_surface *surface = part.view->surface, *dialog = NULL;
	while ((dialog = next_dialog(surface, dialog)) != NULL) {
		count = add_part(parts, count, place_dialog(dialog, &part, seen), seen);
	}
	return count;
}

unsigned window_find_parts(struct weston_surface *window, struct gid_box seen,
		struct window_part parts[WINDOW_PARTS_MAX]) {
	struct window_part whole = {.view = window_find_view(window), .window = window};
	return whole.view != NULL ? add_part(parts, 0, whole, seen) : 0;
}

bool window_has_parts(struct weston_surface *window) {
	const struct weston_view *view = window_find_view(window), *child;
	if (view == NULL) {
		return false;
	}
	wl_list_for_each(child, &view->geometry.child_list, geometry.parent_link) {
		if (is_menu(child)) {
			return true;
		}
	}
	return next_dialog(window, NULL) != NULL;
}

/*
 * Returns the surface of the same client that it is a menu or dialog of; NULL: it is a window by
 * itself.
 */
static struct weston_surface *find_parent(struct weston_surface *surface) {
	if (!weston_surface_is_desktop_surface(surface)) {
		return NULL;
	}
	struct weston_desktop_surface *parent = weston_desktop_surface_get_parent(
			weston_surface_get_desktop_surface(surface));
	return parent != NULL ? weston_desktop_surface_get_surface(parent)
			      : dialogs_get_parent(surface);
}

bool window_contains(const struct weston_surface *window, struct weston_surface *surface) {
	for (unsigned depth = 0; surface != NULL && depth < DEPTH_MAX; depth++) {
		surface = weston_surface_get_main_surface(surface);
		if (surface == NULL || surface == window) {
			return surface != NULL;
		}
		surface = find_parent(surface);
	}
	return false;
}
