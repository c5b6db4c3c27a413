// SPDX-License-Identifier: MIT
/*
 * The scale of a surface, in pixels of its screen per unit: what wp_fractional_scale_v1 says, else
 * the largest of the outputs that the surface is on.
 */
#ifndef CLIENTS_SURFACE_SCALE_H
#define CLIENTS_SURFACE_SCALE_H

#include <stdint.h>
#include <wayland-client.h>

#define SURFACE_SCALE_ONE 120

struct surface_scale {
	int32_t value; // in 120ths; 0: it was not looked for, and is one
	struct wl_surface *surface;
	struct wl_registry *registry; // NULL: it is not looked for
	struct wp_fractional_scale_manager_v1 *manager;
	struct wp_fractional_scale_v1 *preferred; // NULL: by the outputs
	struct wl_list outputs;			  // struct scale_output.link
	void (*changed)(void *data);
	void *data;
};

/*
 * Starts with a scale of 1. `changed` is called when it changes. The surface must have no other
 * listener.
 */
void surface_scale_init(struct surface_scale *scale, struct wl_display *display,
		struct wl_surface *surface, void (*changed)(void *data), void *data);

/* To be called before the surface is destroyed. Accepts zeroes. */
void surface_scale_finish(struct surface_scale *scale);

/* Converts a length from units of the surface to pixels, and back; both are rounded. */
int32_t surface_scale_to_pixels(const struct surface_scale *scale, int32_t length);
int32_t surface_scale_from_pixels(const struct surface_scale *scale, int32_t pixels);

#endif
