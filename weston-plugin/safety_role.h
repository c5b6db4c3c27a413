// SPDX-License-Identifier: MIT
/**
 * A role of weston.ini: which surface has it, and what is told of its stream. An ordinary window
 * ([gid-window]) is a role that any client can have, by the name of its window alone.
 */
#ifndef GID_WESTON_SAFETY_ROLE_H
#define GID_WESTON_SAFETY_ROLE_H

#include "safety_parts.h"

typedef int (*safety_config_read_func)(
		struct safety_config *config, const struct config_place *place);

/*
 * Of one section, at the end of the list. Returns 0; -EINVAL after saying what is wrong in Weston's
 * log; -ENOMEM.
 */
int safety_role_create(struct safety *safety, const struct config_place *place,
		safety_config_read_func read);
void safety_role_destroy(struct safety_role *role);

/* Whether the surface is the window that the configuration names, of a client that may be it. */
bool safety_role_fits(const struct safety_role *role, const struct safety_surface *surface);

/* Gives the role, which is free, to a surface that has none; `resource` NULL: by app-id. */
void safety_role_give(struct safety_role *role, struct safety_surface *surface,
		struct wl_resource *resource);

/* The same for a surface whose client knows nothing of roles, where one names its window. */
void safety_role_give_by_name(struct safety_surface *surface);

/* The surface, which has the role, goes, or the role does. */
void safety_role_take_back(struct safety_role *role);

/*
 * An ordinary window's surface goes, or is another one by its name. The oldest one that fits is
 * next, before Weston waits for anything again.
 */
void safety_role_pass_on(struct safety_role *role);

/* Looks for one where there is none. Of other roles, nothing happens. */
void safety_role_search(struct safety_role *role);

/* The client of the surface, which remains, gives the role back. */
void safety_role_give_back(struct safety_role *role);

#endif
