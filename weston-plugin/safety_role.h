// SPDX-License-Identifier: MIT
/** What safety.c and safety_protocol.c share: the roles, and the surfaces that have them. */
#ifndef GID_WESTON_SAFETY_ROLE_H
#define GID_WESTON_SAFETY_ROLE_H

#include "client_liveness.h"
#include "forward.h"
#include "safety.h"

struct safety {
	struct module *module;
	struct wl_list roles;	 /* struct role::link */
	struct wl_list surfaces; /* struct safety_surface::link */
	struct wl_listener create_surface;
	struct wl_global *global; /* gid_safety_manager_v1; NULL: no client is named */
};

struct role {
	struct wl_list link;
	struct safety *safety;
	struct safety_config config;
	struct forward forward;
	struct safety_surface *surface; /* that has it, or NULL */
	struct wl_resource *resource;	/* gid_safety_surface_v1, or NULL: by app-id */
	struct client_liveness client;
};

/* Every surface there is. */
struct safety_surface {
	struct wl_list link;
	struct safety *safety;
	struct weston_surface *surface;
	struct role *role;	   /* or NULL */
	const struct role *envied; /* that it would have, but another has it: as said in the log */
	struct wl_listener commit, destroy;
};

/* safety.c: gives the role, which is free, to a surface that has none. */
void role_give(struct role *role, struct safety_surface *surface, struct wl_resource *resource);

/* safety.c: takes it back, if somebody has it. The surface remains. */
void role_take_back(struct role *role);

struct safety_surface *safety_find_surface(
	struct safety *safety, const struct weston_surface *surface);

/* safety_protocol.c: offers the global to the clients that some role names. */
int safety_protocol_create(struct safety *safety);
void safety_protocol_destroy(struct safety *safety);

/* safety_protocol.c: events for who has the role. */
void safety_protocol_shown(struct role *role, uint64_t sequence, uint64_t time);
void safety_protocol_lost(struct role *role, uint32_t reason);

/* safety_protocol.c: the surface, or the role, goes; its object stays without effect. */
void safety_protocol_detach(struct role *role);

#endif
