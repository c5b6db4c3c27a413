// SPDX-License-Identifier: MIT
/**
 * An ordinary window and what belongs to it: its menus and the like, and its dialogs, each a
 * surface of its own that a shell puts in front of it. In its picture, and for who uses that, menus
 * lie where their program wants them, and dialogs in the middle of the window that asks. None
 * reaches beyond the picture: it lies beside that as far as is needed.
 */
#ifndef GID_WESTON_WINDOW_PARTS_H
#define GID_WESTON_WINDOW_PARTS_H

#include <gid/stream.h>
#include <libweston/libweston.h>

#define WINDOW_PARTS_MAX 9u /* the window itself, menus and dialogs: more are not shown */

struct window_part {
	struct weston_view *view;
	struct weston_surface *window; /* or dialog, that it is, or that it is a menu of */
	int32_t x, y;		       /* of its surface, in that of the window */
};

/* The part of a shell's surface that is no shadow around it, which its client draws itself. */
struct gid_box window_frame(struct weston_surface *surface);

/* The one that Weston shows, of all views of a surface, where there is one. NULL: it has none. */
struct weston_view *window_find_view(const struct weston_surface *surface);

/*
 * The window first, then its menus and its dialogs, each before those in front of it. `seen` is the
 * part of the window's surface that its picture has. Returns how many there are; 0: the window has
 * no view.
 */
unsigned window_find_parts(struct weston_surface *window, struct gid_box seen,
		struct window_part parts[WINDOW_PARTS_MAX]);

/* Whether anything is in front of it. */
bool window_has_parts(struct weston_surface *window);

/* Whether the surface is the window's, or belongs to it by any way. */
bool window_contains(const struct weston_surface *window, struct weston_surface *surface);

#endif
