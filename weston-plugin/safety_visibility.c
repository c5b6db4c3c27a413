// SPDX-License-Identifier: MIT
#include "safety_visibility.h"

#include "libweston_exports.h"
#include "window_parts.h"

#define MS_NS 1000000ull

/* Three refreshes: longer than Weston takes after a commit to send the frame callback itself. */
#define REQUEST_MS 50

void safety_visibility_set(struct weston_surface *surface, bool visible) {
	struct weston_view *view;
	wl_list_for_each(view, &surface->views, surface_link) {
		weston_view_set_alpha(view, visible ? 1.0f : 0.0f);
	}
	if (!visible) {
		pixman_region32_clear(&surface->input);
	}
	const struct weston_subsurface *sub;
	wl_list_for_each(sub, &surface->subsurface_list, parent_link) {
		if (sub->surface != surface) {
			safety_visibility_set(sub->surface, visible);
		}
	}
}

void safety_visibility_stay_awake(struct weston_compositor *compositor, bool awake) {
	if (awake) {
		compositor->idle_inhibit++;
	} else {
		compositor->idle_inhibit--;
	}
	if (compositor->state == WESTON_COMPOSITOR_ACTIVE ||
			(awake && compositor->state != WESTON_COMPOSITOR_OFFSCREEN)) {
		weston_compositor_wake(compositor);
	}
}

static bool window_has_role(const struct safety_surface *surface) {
	const struct safety_role *role;
	wl_list_for_each(role, &surface->safety->roles, link) {
		if (role->surface != NULL &&
				window_contains(weston_surface_get_main_surface(
								role->surface->surface),
						surface->surface)) {
			return true;
		}
	}
	return false;
}

static int handle_frame_request(void *data) {
	struct safety_surface *surface = data;
	struct wl_resource *callback, *next;
	if (!window_has_role(surface)) {
		return 0;
	}
	wl_resource_for_each_safe(callback, next, &surface->surface->frame_callback_list) {
		wl_callback_send_done(callback, (uint32_t)(gid_clock_now() / MS_NS));
		wl_resource_destroy(callback);
	}
	return 0;
}

void safety_visibility_request_frame(struct safety_surface *surface) {
	if (!window_has_role(surface)) {
		return;
	}
	if (surface->frame_request == NULL) {
		struct wl_display *display = surface->safety->compositor->wl_display;
		surface->frame_request = wl_event_loop_add_timer(
				wl_display_get_event_loop(display), handle_frame_request, surface);
	}
	if (surface->frame_request != NULL) {
		wl_event_source_timer_update(surface->frame_request, REQUEST_MS);
	}
}

void safety_visibility_finish(struct safety_surface *surface) {
	if (surface->frame_request != NULL) {
		wl_event_source_remove(surface->frame_request);
		surface->frame_request = NULL;
	}
}
