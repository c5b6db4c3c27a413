// SPDX-License-Identifier: MIT
/* A surface's safety role: asks the compositor for it, and hears whether frames arrive. */
#ifndef CLIENTS_CLIENT_ROLE_H
#define CLIENTS_CLIENT_ROLE_H

#include "wayland.h"

struct client_role {
	struct gid_safety_surface_v1 *object; // NULL: there is none
	uint64_t shown, lost;		      // events
	uint64_t sequence;		      // of the last frame that arrived
};

/*
 * Asks for the role for the surface. Returns 0, or -1 after saying on stderr that the compositor
 * offers this program none. `role` must not move.
 */
int client_role_init(struct client_role *role, struct wayland *wayland, struct wl_surface *surface,
		const char *name);

/* Before the surface is destroyed. */
void client_role_finish(struct client_role *role);

#endif
