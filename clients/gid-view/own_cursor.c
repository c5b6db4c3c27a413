// SPDX-License-Identifier: MIT
#include "own_cursor.h"

#include <stdlib.h>
#include <wayland-cursor.h>

#include "common/surface_scale.h"
#include "viewporter-client-protocol.h"

#define SIDE 24 /* of the theme's pictures, in units of the surface */

/* Of $XCURSOR_THEME, as those of other programs; libwayland has a few where there is no theme. */
static struct wl_cursor_image *find_arrow(
		struct own_cursor *own, const struct wayland *wayland, int32_t scale) {
	static const char *const names[] = {"default", "left_ptr"}; // newer themes, and older ones
	const struct wl_cursor *arrow = NULL;
	if (own->theme != NULL && own->scale != scale) {
		wl_cursor_theme_destroy(own->theme);
		own->theme = NULL;
	}
	if (own->theme == NULL && wayland->shm != NULL) {
		own->theme = wl_cursor_theme_load(
				getenv("XCURSOR_THEME"), SIDE * scale, wayland->shm);
		own->scale = scale;
	}
	for (size_t i = 0; own->theme != NULL && arrow == NULL && i < 2; i++) {
		arrow = wl_cursor_theme_get_cursor(own->theme, names[i]);
	}
	return arrow != NULL && arrow->image_count > 0 ? arrow->images[0] : NULL;
}

void own_cursor_show(struct own_cursor *own, const struct wayland *wayland,
		struct wl_pointer *pointer, uint32_t serial, int32_t scale) {
	int32_t whole = scale <= SURFACE_SCALE_ONE
			? 1
			: (scale + SURFACE_SCALE_ONE - 1) / SURFACE_SCALE_ONE;
	struct wl_cursor_image *image = find_arrow(own, wayland, whole);
	struct wl_buffer *buffer = image != NULL ? wl_cursor_image_get_buffer(image) : NULL;
	if (buffer == NULL) {
		return;
	}
	if (own->surface == NULL) {
		own->surface = wl_compositor_create_surface(wayland->compositor);
		own->viewport = wp_viewporter_get_viewport(wayland->viewporter, own->surface);
	}
	int32_t width = (int32_t)image->width / whole, height = (int32_t)image->height / whole;
	wp_viewport_set_destination(own->viewport, width > 0 ? width : 1, height > 0 ? height : 1);
	wl_surface_attach(own->surface, buffer, 0, 0);
	wl_surface_damage_buffer(own->surface, 0, 0, INT32_MAX, INT32_MAX);
	wl_surface_commit(own->surface);
	wl_pointer_set_cursor(pointer, serial, own->surface, (int32_t)image->hotspot_x / whole,
			(int32_t)image->hotspot_y / whole);
}

void own_cursor_finish(struct own_cursor *own) {
	if (own->surface != NULL) {
		wp_viewport_destroy(own->viewport);
		wl_surface_destroy(own->surface);
	}
	if (own->theme != NULL) {
		wl_cursor_theme_destroy(own->theme);
	}
	*own = (struct own_cursor){0};
}
