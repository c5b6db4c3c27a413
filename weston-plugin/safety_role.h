// SPDX-License-Identifier: MIT
/**
 * A role of weston.ini: which surface has it, and the events of its stream. An ordinary window
 * ([gid-window]) is a role that a surface gets by the name of its window alone.
 */
#ifndef GID_WESTON_SAFETY_ROLE_H
#define GID_WESTON_SAFETY_ROLE_H

#include "safety_parts.h"

typedef int (*safety_config_read_func)(
		struct safety_config *config, const struct config_place *place);

/*
 * Reads one section with `read`, and appends its role to the list. Returns 0; -EINVAL after logging
 * the mistake; -ENOMEM.
 */
int safety_role_create(struct safety *safety, const struct config_place *place,
		safety_config_read_func read);
void safety_role_destroy(struct safety_role *role);

/* Whether the surface is the window that the section names, of a client that may own it. */
bool safety_role_fits(const struct safety_role *role, const struct safety_surface *surface);

/* Gives a free role to a surface that has none; `resource` NULL: by app-id. */
void safety_role_give(struct safety_role *role, struct safety_surface *surface,
		struct wl_resource *resource);

/* Gives the surface the role that fits the name of its window, if there is one. */
void safety_role_give_by_name(struct safety_surface *surface);

/* Takes the role from its surface, if it has one. */
void safety_role_take_back(struct safety_role *role);

/*
 * Takes the role of an ordinary window from its surface, which goes or was renamed. The oldest
 * surface that fits gets it before the event loop next waits.
 */
void safety_role_pass_on(struct safety_role *role);

/*
 * Finds a surface for the role of an ordinary window, if it has none. Does nothing for other roles.
 */
void safety_role_search(struct safety_role *role);

/* The client destroyed its gid_safety_surface_v1. The surface remains. */
void safety_role_give_back(struct safety_role *role);

#endif
