// SPDX-License-Identifier: MIT
/**
 * Shared by the files that implement safety.h: the roles, and every surface of a client.
 *
 * Each file has one subject: safety_protocol.c, requests of clients for roles; safety_role.c, which
 * surface has a role; safety_tree.c, the surfaces that a role sends; safety_visibility.c, what
 * Weston itself shows of them, and their frame callbacks. Each file uses only those that follow it
 * in this list.
 */
#ifndef GID_WESTON_SAFETY_PARTS_H
#define GID_WESTON_SAFETY_PARTS_H

#include <libweston/libweston.h>

#include "client_liveness.h"
#include "dialogs.h"
#include "forward.h"
#include "gidd_connection.h"
#include "safety_config.h"
#include "window_input.h"

struct safety {
	struct weston_compositor *compositor;
	const struct gidd_connection *connection;
	struct wl_list roles;	 /* struct safety_role::link */
	struct wl_list surfaces; /* struct safety_surface::link */
	struct dialogs *dialogs; /* NULL: no ordinary window is configured */
	struct wl_listener create_surface;
	struct wl_global *global; /* gid_safety_manager_v1; NULL: no section names clients */
	bool filters;		  /* the display's global filter is ours */
};

struct safety_role {
	struct wl_list link;
	struct safety *safety;
	struct safety_config config;
	struct forward *forward;
	struct safety_surface *surface; /* the surface that has it, or NULL */
	struct wl_resource *resource;	/* gid_safety_surface_v1, or NULL: given by app-id */
	struct client_liveness client;
	struct wl_event_source *redraw; /* an idle one that sends the tree, or NULL */
	struct wl_list parts;		/* struct safety_surface::part_link */
	unsigned part_count;		/* length of `parts` */
	struct wl_event_source *
			rest; /* the timer that sends skipped content; NULL: none was skipped yet */
	uint64_t paid; /* of a role, CLOCK_MONOTONIC ns: until when its used time is paid off */
	/* Of an ordinary window: */
	struct window_input *input;	/* NULL: it takes no input */
	struct wl_event_source *search; /* an idle one that finds a surface for it, or NULL */
	uint64_t rests_until;		/* CLOCK_MONOTONIC ns: nothing is sent until then */
};

/*
 * Every wl_surface of a client. A shell may keep the weston_surface longer, to let its window fade
 * out: this object ends with the wl_surface.
 */
struct safety_surface {
	struct wl_list link;
	struct safety *safety;
	struct weston_surface *surface;
	struct safety_role *role;	  /* that it has, or NULL */
	const struct safety_role *envied; /* fits, but another surface has it: as last logged */
	/*
	 * `tree` is the role whose tree the surface is part of. `drawn` is the buffer that is
	 * copied or composited for that tree, or for the surface's own role. The reference is our
	 * own: the renderer may release the buffer earlier, and it is read again when another
	 * surface of the tree is committed.
	 */
	struct safety_role *tree;
	struct wl_list part_link; /* of tree->parts */
	struct weston_buffer_reference drawn;
	bool unmapped;			       /* Weston has mapped it, and unmapped it again */
	struct wl_event_source *frame_request; /* timer of frame callbacks; NULL: not needed yet */
	struct wl_listener commit, map, unmap, destroy;
	struct wl_listener known;  /* finds this object from the weston_surface */
	struct wl_listener unlink; /* of the wl_subsurface that links it into a tree */
};

#endif
