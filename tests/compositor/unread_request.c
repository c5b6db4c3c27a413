// SPDX-License-Identifier: MIT
/*
 * To be preloaded: Weston has not read the request for a capture source yet, when it is first asked
 * for that object. So it is on a busy machine, where it repaints before it reads.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <wayland-server-core.h>

#define SOURCES 256

static bool is_first(struct wl_client *client, uint32_t id) {
	static struct {
		struct wl_client *client;
		uint32_t id;
	} asked[SOURCES];
	static size_t count;
	for (size_t i = 0; i < count; i++) {
		if (asked[i].client == client && asked[i].id == id) {
			return false;
		}
	}
	if (count == SOURCES) {
		return false;
	}
	asked[count].client = client;
	asked[count++].id = id;
	return true;
}

struct wl_resource *wl_client_get_object(struct wl_client *client, uint32_t id) {
	static struct wl_resource *(*get_object)(struct wl_client *client, uint32_t id);
	if (get_object == NULL) {
		*(void **)&get_object = dlsym(RTLD_NEXT, "wl_client_get_object");
	}
	struct wl_resource *object = get_object(client, id);
	bool is_source = object != NULL &&
			strcmp(wl_resource_get_class(object), "weston_capture_source_v1") == 0;
	return is_source && is_first(client, id) ? NULL : object;
}
