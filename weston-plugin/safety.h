// SPDX-License-Identifier: MIT
/**
 * Safety surfaces: which surface has which role, by the client's word (gid-safety-v1) or by its
 * app-id, as weston.ini has it. What a surface shows goes out by its role's forward.h. So do
 * ordinary windows that weston.ini names.
 */
#ifndef GID_WESTON_SAFETY_H
#define GID_WESTON_SAFETY_H

#include <libweston/libweston.h>

#include "gidd_connection.h"

struct safety;

/*
 * Reads the roles of weston.ini and offers them. Compositor and connection outlive it. Returns 0,
 * with NULL where there are none; -EINVAL after saying what is wrong in Weston's log; -ENOMEM. All
 * functions below take NULL.
 */
int safety_create(struct weston_compositor *compositor, const struct gidd_connection *connection,
		struct safety **safety);
void safety_destroy(struct safety *safety);

/* The connection to gidd came, or went, or is about to be lost for good. */
void safety_connection_changed(struct safety *safety);
void safety_connection_lost(struct safety *safety);

/* The memory of a wl_buffer made of gids is there now, or will not be. */
void safety_buffer_ready(struct safety *safety, struct wl_resource *buffer);

#endif
