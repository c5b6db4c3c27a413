// SPDX-License-Identifier: MIT
/*
 * How many pixels of its screen one unit of a surface is: what wp_fractional_scale_v1 says, else
 * the most of the outputs that the surface is on.
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

/* `changed` is called when it is another one: first it is one. The surface has no other listener.
 */
void surface_scale_init(struct surface_scale *scale, struct wl_display *display,
		struct wl_surface *surface, void (*changed)(void *data), void *data);

/* Before the surface goes. Also of zeroes. */
void surface_scale_finish(struct surface_scale *scale);

/* A length of the surface in pixels, and pixels as one of the surface, each rounded. */
int32_t surface_scale_to_pixels(const struct surface_scale *scale, int32_t length);
int32_t surface_scale_from_pixels(const struct surface_scale *scale, int32_t pixels);

#endif
