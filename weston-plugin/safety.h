// SPDX-License-Identifier: MIT
/**
 * Safety surfaces: gives surfaces their roles, as clients request them (gid-safety-v1) or by the
 * app-id in weston.ini. forward.h sends the content of each role. Ordinary windows that weston.ini
 * names are sent in the same way.
 */
#ifndef GID_WESTON_SAFETY_H
#define GID_WESTON_SAFETY_H

#include <libweston/libweston.h>

#include "gidd_connection.h"

struct safety;

/*
 * Reads the roles of weston.ini and offers them. `compositor` and `connection` must outlive it.
 * Returns 0, with NULL if there are no roles; -EINVAL after logging the mistake; -ENOMEM. All
 * functions below accept NULL.
 */
int safety_create(struct weston_compositor *compositor, const struct gidd_connection *connection,
		struct safety **safety);
void safety_destroy(struct safety *safety);

/* gidd came or went; or the domain is about to be destroyed. */
void safety_connection_changed(struct safety *safety);
void safety_connection_lost(struct safety *safety);

/* The import of a wl_buffer made of gids has ended: its memory is there, or will not be. */
void safety_buffer_ready(struct safety *safety, struct wl_resource *buffer);

#endif
