// SPDX-License-Identifier: MIT
/*
 * What the samples of a surface's pictures mean as colours, told to the compositor by
 * color-representation-v1. Each compositor takes YUV of which nothing is said in its own way; with
 * this it is as libgid has it: BT.601 of limited range.
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

/* Nothing is told yet. Both are borrowed. */
void surface_colours_init(struct surface_colours *colours, const struct wayland *wayland,
		struct wl_surface *surface);
void surface_colours_finish(struct surface_colours *colours);

/* To be called before each commit of a buffer with this layout: costs a request when it changes. */
void surface_colours_set(struct surface_colours *colours, const struct gid_layout *layout);

/*
 * Whether the compositor shows the layout's colours as they are meant. Without
 * color-representation-v1 it is trusted to take YUV for BT.601 of limited range, as Weston 14 does.
 */
bool surface_colours_are_shown(const struct wayland *wayland, const struct gid_layout *layout);

#endif
