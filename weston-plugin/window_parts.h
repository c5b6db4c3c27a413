// SPDX-License-Identifier: MIT
/**
 * An ordinary window and its parts: menus, and dialogs, each a surface of its own that a shell puts
 * in front of it. In the window's picture, and for input, a menu lies where its client puts it, and
 * a dialog in the middle of its parent. All of them are moved into the picture as far as they fit.
 */
#ifndef GID_WESTON_WINDOW_PARTS_H
#define GID_WESTON_WINDOW_PARTS_H

#include <gid/stream.h>
#include <libweston/libweston.h>

#define WINDOW_PARTS_MAX 9u /* the window, its menus and dialogs; more are not shown */

struct window_part {
	struct weston_view *view;
	struct weston_surface *window; /* or dialog, that it is or is a menu of */
	int32_t x, y;		       /* position of its surface in the window's surface */
};

/* The window geometry of a desktop surface: without the shadow that its client draws around it. */
struct gid_box window_frame(struct weston_surface *surface);

/* Returns the mapped view of a surface, if it has one, else any view. NULL: it has none. */
struct weston_view *window_find_view(const struct weston_surface *surface);

/*
 * Finds the window first, then its menus and dialogs, each before those in front of it. `seen` is
 * the part of the window's surface that its picture shows. Returns how many there are; 0: the
 * window has no view.
 */
unsigned window_find_parts(struct weston_surface *window, struct gid_box seen,
		struct window_part parts[WINDOW_PARTS_MAX]);

/* Whether anything is in front of it. */
bool window_has_parts(struct weston_surface *window);

/* Whether the surface is the window's, or part of one of its menus and dialogs. */
bool window_contains(const struct weston_surface *window, struct weston_surface *surface);

#endif
