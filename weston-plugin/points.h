// SPDX-License-Identifier: MIT
/**
 * gidway's own points in Weston's timeline: gid_commit at the commit of a buffer made of gids,
 * gid_shown at the refresh that shows it. If nothing listens to Weston's timeline, they go to the
 * file of $GID_TIMELINE, if that is set.
 */
#ifndef GID_WESTON_POINTS_H
#define GID_WESTON_POINTS_H

#include <libweston/libweston.h>

#include "gidd_connection.h"

struct points;

/*
 * `paced`: the pacer already reads Weston's timeline, and does not count as a listener.
 * `compositor` and `connection` must outlive it. Returns NULL without memory.
 */
struct points *points_create(struct weston_compositor *compositor,
		const struct gidd_connection *connection, bool paced);

/* Accepts NULL. */
void points_destroy(struct points *points);

#endif
