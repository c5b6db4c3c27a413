// SPDX-License-Identifier: MIT
/**
 * What the files of safety.c share: the roles that there are, and every surface of a client.
 *
 * Each file is one subject: safety_protocol.c, how clients ask for roles; safety_role.c, who has
 * one; safety_tree.c, the surfaces that a role sends; safety_visibility.c, what is seen here, and
 * that clients go on drawing. Each uses only those that stand behind it here.
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
	struct dialogs *dialogs; /* NULL: no ordinary window is sent */
	struct wl_listener create_surface;
	struct wl_global *global; /* gid_safety_manager_v1; NULL: no client is named */
	bool filters;		  /* what globals clients see */
};

struct safety_role {
	struct wl_list link;
	struct safety *safety;
	struct safety_config config;
	struct forward *forward;
	struct safety_surface *surface; /* that has it, or NULL */
	struct wl_resource *resource;	/* gid_safety_surface_v1, or NULL: by app-id */
	struct client_liveness client;
	struct wl_event_source *redraw; /* of its surface with subsurfaces, or NULL: none is due */
	struct wl_list parts;		/* struct safety_surface::part_link, */
	unsigned part_count;		/* and how many they are */
	struct wl_event_source *rest;	/* a timer until more may be sent; NULL: nobody waited */
	uint64_t paid; /* of a role, CLOCK_MONOTONIC ns: when what it took has been made up for */
	/* Of an ordinary window: */
	struct window_input *input;	/* NULL: it takes none */
	struct wl_event_source *search; /* for a surface that may have it, or NULL: none is due */
	uint64_t rests_until;		/* CLOCK_MONOTONIC ns: nothing is sent until then */
};

/*
 * Every surface that clients have. A shell may keep what a client has destroyed for a while, to let
 * its window fade out.
 */
struct safety_surface {
	struct wl_list link;
	struct safety *safety;
	struct weston_surface *surface;
	struct safety_role *role;	  /* or NULL */
	const struct safety_role *envied; /* that it would have, but another has it: as logged */
	/*
	 * Whose tree the surface is of, and the buffer that is copied or drawn for that, or for its
	 * own role. A renderer may be done with the buffer before it is read for the last time, as
	 * when another surface of the tree is committed.
	 */
	struct safety_role *tree;
	struct wl_list part_link; /* of `tree` */
	struct weston_buffer_reference drawn;
	bool unmapped;			       /* Weston showed it, and does not now */
	struct wl_event_source *frame_request; /* a timer, or NULL: its window has had no role */
	struct wl_listener commit, map, unmap, destroy;
	struct wl_listener known;  /* by which it is found: clients have any number of others */
	struct wl_listener unlink; /* of its wl_subsurface, in a tree */
};

#endif
