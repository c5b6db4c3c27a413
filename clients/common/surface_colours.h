// SPDX-License-Identifier: MIT
/*
 * Tells the compositor by color-representation-v1 how the YUV of a surface is to be converted.
 * Without this each compositor decides by itself. YUV of which libgid says nothing is BT.601 of
 * limited range.
 */
#ifndef CLIENTS_SURFACE_COLOURS_H
#define CLIENTS_SURFACE_COLOURS_H

#include <gid/gid.h>
#include <stdbool.h>

#include "wayland.h"

struct surface_colours {
	const struct wayland *wayland;
	struct wl_surface *surface;
	struct wp_color_representation_surface_v1 *object; // NULL: nothing is told
	uint32_t coefficients, range;			   // what was told; 0: nothing
};

/* Tells nothing yet. Borrows both pointers. */
void surface_colours_init(struct surface_colours *colours, const struct wayland *wayland,
		struct wl_surface *surface);
void surface_colours_finish(struct surface_colours *colours);

/*
 * To be called before each commit of a buffer with this layout. Sends a request only if something
 * changed.
 */
void surface_colours_set(struct surface_colours *colours, const struct gid_layout *layout);

/*
 * Whether the compositor shows the layout's colours correctly. Without color-representation-v1 it
 * is assumed to take YUV for BT.601 of limited range, as Weston 14 does.
 */
bool surface_colours_are_shown(const struct wayland *wayland, const struct gid_layout *layout);

#endif
