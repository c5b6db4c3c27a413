// SPDX-License-Identifier: MIT
/** The surfaces that a role sends: its own surface, and the subsurfaces of that. */
#ifndef GID_WESTON_SAFETY_TREE_H
#define GID_WESTON_SAFETY_TREE_H

#include "safety_parts.h"

/* To be called when the surface is created, and before it is freed. */
void safety_tree_init(struct safety_surface *surface);
void safety_tree_finish(struct safety_surface *surface);

/* Returns NULL if the surface belongs to no client, or memory was short when it was created. */
struct safety_surface *safety_tree_find_surface(struct weston_surface *surface);

/*
 * Whether the surface is the role's own, a subsurface of it, or part of a menu or dialog of its
 * window.
 */
bool safety_tree_has(const struct safety_role *role, struct weston_surface *surface);

/* Whether `part` is `surface`, or a part of it. */
bool safety_tree_contains(const struct safety_surface *surface, const struct safety_surface *part);

/* Whether Weston has unmapped the surface, or one that it is a part of. */
bool safety_tree_has_lost_window(const struct safety_surface *surface);

/* Sends the content of the role's surface, if it has one, when the budget permits. */
void safety_tree_send(struct safety_role *role);

/*
 * The same before the event loop next waits, once. A commit has its full effect on subsurfaces only
 * when Weston has handled it.
 */
void safety_tree_send_later(struct safety_role *role);

/* The window has a new dialog, or one less: sends the roles of windows that contain it. */
void safety_tree_send_windows(struct safety *safety, struct weston_surface *window);

/* Sends the roles whose trees contain the surface. */
void safety_tree_send_changed(struct safety_surface *surface);

/* A surface of the role's tree was committed. */
void safety_tree_commit(struct safety_role *role, struct safety_surface *surface);

/* Listens for the end of the wl_subsurface that links the surface into the tree of `top`. */
void safety_tree_watch_link(struct safety_surface *surface, struct weston_surface *top);

/* The memory of the buffer is there: sends the role if one of its parts shows the buffer. */
void safety_tree_buffer_ready(struct safety_role *role, const struct wl_resource *buffer);

/* Removes the surface from the tree that it is part of. */
void safety_tree_remove(struct safety_surface *surface);

/* Removes all parts of the role's tree. */
void safety_tree_clear(struct safety_role *role);

#endif
