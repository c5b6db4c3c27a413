// SPDX-License-Identifier: MIT
#include "shown.h"

static bool surface_shows(const struct weston_surface *surface, const struct wl_resource *buffer) {
	return surface->buffer_ref.buffer != NULL && surface->buffer_ref.buffer->resource == buffer;
}

bool shown_anywhere(struct weston_compositor *compositor, struct wl_resource *buffer) {
	struct weston_view *view;
	wl_list_for_each(view, &compositor->view_list, link) {
		if (surface_shows(view->surface, buffer)) {
			return true;
		}
	}
	return false;
}

/* As a commit with damage would do it: GL uploads the content again, too. */
void shown_damage(struct weston_compositor *compositor, struct wl_resource *buffer) {
	struct weston_view *view;
	wl_list_for_each(view, &compositor->view_list, link) {
		struct weston_surface *surface = view->surface;
		if (surface_shows(surface, buffer)) {
			pixman_region32_union_rect(&surface->damage, &surface->damage, 0, 0,
					(unsigned int)surface->width,
					(unsigned int)surface->height);
			weston_compositor_schedule_repaint(compositor);
		}
	}
}
