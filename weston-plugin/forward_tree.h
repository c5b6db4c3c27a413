// SPDX-License-Identifier: MIT
/**
 * What a surface shows together with its subsurfaces, drawn as a display would show it that had
 * nothing else: from the clients' memory, by the processor.
 *
 * Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_FORWARD_TREE_H
#define GID_WESTON_FORWARD_TREE_H

#include <libweston/libweston.h>

#include "refusal.h"

/* Surfaces of one tree, and the depth of it: more are refused. */
#define FORWARD_TREE_SURFACES_MAX 32
#define FORWARD_TREE_DEPTH_MAX 8

enum tree_result {
	TREE_DRAWN,
	TREE_LATER, /* some client's memory is not there yet */
	TREE_REFUSED,
};

/* Whether any subsurface of it has something to show. */
bool forward_tree_has_children(const struct weston_surface *surface);

/*
 * The one surface of the tree that is seen, where it is opaque and lies in front of all of the main
 * surface, as the video of a player does; NULL: several may be seen, or there is no other surface.
 */
struct weston_surface *forward_tree_find_cover(struct weston_surface *surface);

/* The wl_subsurface by which a surface is of the tree; NULL: it is not, or too deep in it. */
struct wl_resource *forward_tree_find_link(
		const struct weston_surface *surface, const struct weston_surface *wanted);

/*
 * Draws the tree into `pixels`, words of XRGB8888, where one length of the surface takes `scale`
 * pixels: surface->width * scale of them across.
 */
enum tree_result forward_tree_draw(const struct weston_surface *surface, int32_t scale,
		uint32_t *pixels, size_t stride, struct refusal *refusal);

#endif
