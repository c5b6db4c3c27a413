// SPDX-License-Identifier: MIT
/** Which surfaces show a wl_buffer now. */
#ifndef GID_WESTON_SHOWN_H
#define GID_WESTON_SHOWN_H

#include <libweston/libweston.h>

bool shown_anywhere(struct weston_compositor *compositor, struct wl_resource *buffer);

/* The content of the wl_buffer changed without a commit: have it drawn again. */
void shown_damage(struct weston_compositor *compositor, struct wl_resource *buffer);

#endif
