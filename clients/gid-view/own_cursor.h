// SPDX-License-Identifier: MIT
/*
 * The usual arrow, for a picture without a cursor of its own: a compositor shows none, or one of
 * another window, where a client sets none.
 */
#ifndef GID_VIEW_OWN_CURSOR_H
#define GID_VIEW_OWN_CURSOR_H

#include "common/wayland.h"

/* Zeroes: it was not needed yet. */
struct own_cursor {
	struct wl_cursor_theme *theme;
	int32_t scale;		    // of the theme, a whole number
	struct wl_surface *surface; // has the picture
	struct wp_viewport *viewport;
};

/*
 * Shows it for a pointer that has entered with this serial, on a screen of this scale in 120ths; 0:
 * of 1. Does nothing where there is none.
 */
void own_cursor_show(struct own_cursor *own, const struct wayland *wayland,
		struct wl_pointer *pointer, uint32_t serial, int32_t scale);

/* To be called before the connection ends. Accepts zeroes. */
void own_cursor_finish(struct own_cursor *own);

#endif
