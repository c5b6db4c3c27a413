// SPDX-License-Identifier: MIT
/**
 * gidway's own points in Weston's timeline: gid_commit when Weston takes a buffer made of gids,
 * gid_shown of the refresh that shows it. Where nobody listens to Weston's timeline they go to the
 * file of $GID_TIMELINE, if that is set.
 */
#ifndef GID_WESTON_POINTS_H
#define GID_WESTON_POINTS_H

#include "module.h"

struct points;

/* NULL for want of memory. The module has its connection already, and its pacer, if any. */
struct points *points_create(const struct module *module);

/* Takes NULL. */
void points_destroy(struct points *points);

#endif
