// SPDX-License-Identifier: MIT
#include "pointer_guard.h"

#include <libweston/libweston.h>
#include <stdbool.h>
#include <string.h>

#include "library_call.h"
#include "pointer-constraints-unstable-v1-protocol.h"

typedef void (*constrain_func)(struct wl_client *client, struct wl_resource *resource, uint32_t id,
		struct wl_resource *surface, struct wl_resource *pointer,
		struct wl_resource *region, uint32_t lifetime);

static const struct zwp_pointer_constraints_v1_interface *weston_code;

static bool has_pointer(struct weston_surface *surface, const struct weston_pointer *pointer) {
	return pointer->focus != NULL &&
			weston_surface_get_main_surface(pointer->focus->surface) == surface;
}

/*
 * Weston, at least until 16, lets a fullscreen window constrain the pointer at once, and takes the
 * view below the pointer for a view of that window. There may be no view: then Weston crashes. It
 * may be another client's: then the pointer never leaves that. For a surface that is no window of a
 * shell, Weston waits for the pointer and a click, as for windows that are not fullscreen.
 */
static void constrain(constrain_func constrain_by, struct wl_client *client,
		struct wl_resource *resource, uint32_t id, struct wl_resource *surface_resource,
		struct wl_resource *pointer_resource, struct wl_resource *region,
		uint32_t lifetime) {
	struct weston_surface *surface = wl_resource_get_user_data(surface_resource);
	const struct weston_pointer *pointer = wl_resource_get_user_data(pointer_resource);
	void (*committed)(struct weston_surface *, struct weston_coord_surface) =
			surface->committed;
	if (pointer != NULL && !has_pointer(surface, pointer)) {
		surface->committed = NULL; /* by which Weston recognises windows */
	}
	constrain_by(client, resource, id, surface_resource, pointer_resource, region, lifetime);
	surface->committed = committed;
}

static void guarded_destroy(struct wl_client *client, struct wl_resource *resource) {
	weston_code->destroy(client, resource);
}

static void guarded_lock(struct wl_client *client, struct wl_resource *resource, uint32_t id,
		struct wl_resource *surface, struct wl_resource *pointer,
		struct wl_resource *region, uint32_t lifetime) {
	constrain(weston_code->lock_pointer, client, resource, id, surface, pointer, region,
			lifetime);
}

static void guarded_confine(struct wl_client *client, struct wl_resource *resource, uint32_t id,
		struct wl_resource *surface, struct wl_resource *pointer,
		struct wl_resource *region, uint32_t lifetime) {
	constrain(weston_code->confine_pointer, client, resource, id, surface, pointer, region,
			lifetime);
}

static const struct zwp_pointer_constraints_v1_interface guarded_code = {
		.destroy = guarded_destroy,
		.lock_pointer = guarded_lock,
		.confine_pointer = guarded_confine,
};

static void guarded_set_implementation(struct wl_resource *resource, const void *implementation,
		void *data, wl_resource_destroy_func_t destroy) {
	if (strcmp(wl_resource_get_class(resource), zwp_pointer_constraints_v1_interface.name) ==
			0) {
		weston_code = implementation;
		implementation = &guarded_code;
	}
	wl_resource_set_implementation(resource, implementation, data, destroy);
}

int pointer_guard(void) {
	return library_call_replace((library_function)weston_log, "wl_resource_set_implementation",
			(library_function)guarded_set_implementation);
}
