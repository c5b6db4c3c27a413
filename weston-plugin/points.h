// SPDX-License-Identifier: MIT
/**
 * gidway's own points in Weston's timeline: gid_commit when Weston takes a buffer made of gids,
 * gid_shown of the refresh that shows it. Where nobody listens to Weston's timeline they go to the
 * file of $GID_TIMELINE, if that is set.
 */
#ifndef GID_WESTON_POINTS_H
#define GID_WESTON_POINTS_H

#include <libweston/libweston.h>

#include "gidd_connection.h"

struct points;

/*
 * NULL for want of memory. `paced`: the pacer reads Weston's timeline already, and is no listener
 * for whom points would be written. Compositor and connection outlive it.
 */
struct points *points_create(struct weston_compositor *compositor,
		const struct gidd_connection *connection, bool paced);

/* Takes NULL. */
void points_destroy(struct points *points);

#endif
