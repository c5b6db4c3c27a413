// SPDX-License-Identifier: MIT
/** The surfaces that a role sends: the one that has it, with its subsurfaces. */
#ifndef GID_WESTON_SAFETY_TREE_H
#define GID_WESTON_SAFETY_TREE_H

#include "safety_parts.h"

/* The surface's part in trees begins, and ends. */
void safety_tree_init(struct safety_surface *surface);
void safety_tree_finish(struct safety_surface *surface);

/* NULL: it is no client's, or there was no memory for it. */
struct safety_surface *safety_tree_find_surface(struct weston_surface *surface);

/* Whether the surface is the role's, one of its subsurfaces, or of a menu or dialog of its window.
 */
bool safety_tree_has(const struct safety_role *role, struct weston_surface *surface);

/* Whether it is this surface, or a part of it. */
bool safety_tree_contains(const struct safety_surface *surface, const struct safety_surface *part);

/* Whether Weston shows the surface's window no more: its own, or the one that it is a part of. */
bool safety_tree_has_lost_window(const struct safety_surface *surface);

/* Sends what the role's surface shows, if anything. */
void safety_tree_send(struct safety_role *role);

/*
 * The same before Weston waits for anything again, once. What a commit brings to subsurfaces is
 * there only when Weston is done with it.
 */
void safety_tree_send_later(struct safety_role *role);

/* The window has a dialog more, or less: so have those that it is, or is a dialog of. */
void safety_tree_send_windows(struct safety *safety, struct weston_surface *window);

/* What the surface is a part of looks different now. */
void safety_tree_send_changed(struct safety_surface *surface);

/* A surface that the role has was committed. */
void safety_tree_commit(struct safety_role *role, struct safety_surface *surface);

/* The surface, of the tree of `top`, was committed: it may be a subsurface no more some time. */
void safety_tree_watch_link(struct safety_surface *surface, struct weston_surface *top);

/* The buffer has its memory, perhaps one of those that the role's parts show. */
void safety_tree_buffer_ready(struct safety_role *role, const struct wl_resource *buffer);

/* No role sends the surface as a part any more. */
void safety_tree_remove(struct safety_surface *surface);

/* The role sends no parts any more. */
void safety_tree_clear(struct safety_role *role);

#endif
