// SPDX-License-Identifier: MIT
/** A role of weston.ini: which surface has it, and what is told of its stream. */
#ifndef GID_WESTON_SAFETY_ROLE_H
#define GID_WESTON_SAFETY_ROLE_H

#include "safety_parts.h"

/*
 * Of one section, at the end of the list. Returns 0; -EINVAL after saying what is wrong in Weston's
 * log; -ENOMEM.
 */
int safety_role_create(struct safety *safety, struct weston_config_section *section);
void safety_role_destroy(struct safety_role *role);

/* Gives the role, which is free, to a surface that has none; `resource` NULL: by app-id. */
void safety_role_give(struct safety_role *role, struct safety_surface *surface,
		struct wl_resource *resource);

/* The same for a surface whose client knows nothing of roles, where one has its app-id. */
void safety_role_give_by_app_id(struct safety_surface *surface);

/* The surface, which has the role, goes, or the role does. */
void safety_role_take_back(struct safety_role *role);

/* The client of the surface, which remains, gives the role back. */
void safety_role_give_back(struct safety_role *role);

#endif
