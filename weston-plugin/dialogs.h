// SPDX-License-Identifier: MIT
/**
 * Which windows are dialogs of others (xdg_toplevel.set_parent). Weston tells only its shell, so a
 * protocol logger reads the clients' requests. Runs on the compositor's thread.
 */
#ifndef GID_WESTON_DIALOGS_H
#define GID_WESTON_DIALOGS_H

#include <libweston/libweston.h>

struct dialogs;

/* A dialog of the window was added or removed. */
typedef void (*dialogs_changed)(void *data, struct weston_surface *window);

/* Returns NULL without memory. */
struct dialogs *dialogs_watch(struct wl_display *display, dialogs_changed changed, void *data);

/* Forgets all dialogs. Accepts NULL. */
void dialogs_unwatch(struct dialogs *dialogs);

/* Returns the window whose dialog this is; NULL: it is none. The chain of parents has no circle. */
struct weston_surface *dialogs_get_parent(struct weston_surface *window);

/*
 * Returns the dialog of the window that was added after `dialog`, or for NULL the first one; NULL:
 * there is none.
 */
struct weston_surface *dialogs_next(struct weston_surface *window, struct weston_surface *dialog);

#endif
