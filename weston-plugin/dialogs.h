// SPDX-License-Identifier: MIT
/**
 * Which windows are dialogs of others, as their programs say (xdg_toplevel.set_parent). Weston
 * tells only its shell, so the programs' requests are looked at. Belongs to the compositor's
 * thread.
 */
#ifndef GID_WESTON_DIALOGS_H
#define GID_WESTON_DIALOGS_H

#include <libweston/libweston.h>

struct dialogs;

/* The window has a dialog more, or less. */
typedef void (*dialogs_changed)(void *data, struct weston_surface *window);

/* NULL for want of memory. */
struct dialogs *dialogs_watch(struct wl_display *display, dialogs_changed changed, void *data);

/* There are no dialogs then. Accepts NULL. */
void dialogs_unwatch(struct dialogs *dialogs);

/* The window whose dialog this one is; NULL: it is none. No way up comes back to where it began. */
struct weston_surface *dialogs_get_parent(struct weston_surface *window);

/* Of a window's dialogs the one that came after this one, or the first; NULL: there is no other. */
struct weston_surface *dialogs_next(struct weston_surface *window, struct weston_surface *dialog);

#endif
