// SPDX-License-Identifier: MIT
#include "manager.h"

#include "gid-buffer-v1-protocol.h"
#include <stdlib.h>

static void handle_destroy(struct wl_client *client, struct wl_resource *resource) {
	wl_resource_destroy(resource);
}

static void handle_create_params(
	struct wl_client *client, struct wl_resource *resource, uint32_t id) {
	params_create(&buffer_backend, wl_resource_get_user_data(resource), client,
		(uint32_t)wl_resource_get_version(resource), id);
}

static void handle_get_feedback(
	struct wl_client *client, struct wl_resource *resource, uint32_t id) {
	feedback_create(wl_resource_get_user_data(resource), client,
		(uint32_t)wl_resource_get_version(resource), id);
}

static const struct gid_buffer_manager_v1_interface manager_implementation = {
	.destroy = handle_destroy,
	.create_params = handle_create_params,
	.get_feedback = handle_get_feedback,
};

static void handle_bind(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
	struct wl_resource *resource =
		wl_resource_create(client, &gid_buffer_manager_v1_interface, (int)version, id);
	if (resource == NULL) {
		wl_client_post_no_memory(client);
		return;
	}
	wl_resource_set_implementation(resource, &manager_implementation, data, NULL);
}

static void handle_connection_changed(void *data) {
	feedback_send_all(data);
}

static void handle_connection_lost(void *data) {
	buffers_forget_domain(data);
}

static void handle_display_destroy(struct wl_listener *listener, void *data) {
	struct gid_buffer_manager *manager = wl_container_of(listener, manager, display_destroy);
	wl_list_remove(&manager->display_destroy.link);
	feedback_finish(manager);
	buffers_finish(manager);
	connection_destroy(manager->connection);
	wl_global_destroy(manager->global);
	free(manager);
}

struct gid_buffer_manager *gid_buffer_manager_create(struct wl_display *display,
	struct wlr_renderer *renderer, const char *domain, int (*log)(const char *format, ...)) {
	struct gid_buffer_manager *manager = calloc(1, sizeof(*manager));
	if (manager == NULL) {
		return NULL;
	}
	manager->display = display;
	manager->renderer = renderer;
	manager->connection_events = (struct connection_events){
		.log = log,
		.changed = handle_connection_changed,
		.lost = handle_connection_lost,
	};
	wl_list_init(&manager->buffers);
	wl_list_init(&manager->feedbacks);
	manager->connection = connection_create(
		wl_display_get_event_loop(display), domain, &manager->connection_events, manager);
	if (manager->connection == NULL) {
		goto error_manager;
	}
	manager->global = wl_global_create(
		display, &gid_buffer_manager_v1_interface, 1, manager, handle_bind);
	if (manager->global == NULL) {
		goto error_connection;
	}
	buffers_register();
	manager->display_destroy.notify = handle_display_destroy;
	wl_display_add_destroy_listener(display, &manager->display_destroy);
	return manager;

error_connection:
	connection_destroy(manager->connection);
error_manager:
	free(manager);
	return NULL;
}
