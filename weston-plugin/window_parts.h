// SPDX-License-Identifier: MIT
/**
 * An ordinary window and what belongs to it: its menus and the like, each a surface of its own that
 * a shell puts in front of it. In its picture, and for who uses that, they lie where their program
 * wants them, or beside that as far as is needed for none of them to reach beyond the picture.
 */
#ifndef GID_WESTON_WINDOW_PARTS_H
#define GID_WESTON_WINDOW_PARTS_H

#include <gid/stream.h>
#include <libweston/libweston.h>

#define WINDOW_PARTS_MAX 9u /* the window itself, and menus: more are not shown */

struct window_part {
	struct weston_view *view;
	int32_t x, y; /* of its surface, in that of the window */
};

/* The part of a shell's surface that is no shadow around it, which its client draws itself. */
struct gid_box window_frame(struct weston_surface *surface);

/* The one that Weston shows, of all views of a surface, where there is one. NULL: it has none. */
struct weston_view *window_find_view(const struct weston_surface *surface);

/*
 * The window first, then its menus, each before those in front of it. `seen` is the part of the
 * window's surface that its picture has. Returns how many there are; 0: the window has no view.
 */
unsigned window_find_parts(struct weston_surface *window, struct gid_box seen,
		struct window_part parts[WINDOW_PARTS_MAX]);

bool window_has_menus(const struct weston_surface *window);

/* The window that a surface belongs to, by any way. NULL: it has none. */
struct weston_surface *window_of(struct weston_surface *surface);

#endif
