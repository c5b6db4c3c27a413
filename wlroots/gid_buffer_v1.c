// SPDX-License-Identifier: MIT
#include "gid_buffer_v1.h"

#include "buffer.h"
#include <stdlib.h>

static void handle_connection_changed(void *data) {
	struct gid_buffer_manager *manager = data;
	manager_send_feedback(&manager->manager);
}

static void handle_connection_lost(void *data) {
	buffers_forget_domain(data);
}

static void handle_display_destroy(struct wl_listener *listener, void *data) {
	struct gid_buffer_manager *manager = wl_container_of(listener, manager, display_destroy);
	wl_list_remove(&manager->display_destroy.link);
	manager_finish(&manager->manager);
	buffers_finish(manager);
	shown_formats_finish(&manager->formats);
	yuv_destroy(manager->yuv);
	connection_destroy(manager->connection);
	free(manager);
}

struct gid_buffer_manager *gid_buffer_manager_create(struct wl_display *display,
	struct wlr_renderer *renderer, struct wlr_allocator *allocator, const char *domain,
	int (*log)(const char *format, ...)) {
	struct gid_buffer_manager *manager = calloc(1, sizeof(*manager));
	if (manager == NULL) {
		return NULL;
	}
	manager->renderer = renderer;
	manager->connection_events = (struct connection_events){
		.log = log,
		.changed = handle_connection_changed,
		.lost = handle_connection_lost,
	};
	wl_list_init(&manager->buffers);
	manager->yuv = yuv_create(renderer, allocator);
	shown_formats_init(&manager->formats, renderer, manager->yuv);
	manager->connection = connection_create(
		wl_display_get_event_loop(display), domain, &manager->connection_events, manager);
	if (manager->connection == NULL) {
		goto error_manager;
	}
	if (manager_init(&manager->manager, display, manager->connection, &buffer_backend,
		    manager) < 0) {
		goto error_connection;
	}
	buffers_register();
	manager->display_destroy.notify = handle_display_destroy;
	wl_display_add_destroy_listener(display, &manager->display_destroy);
	return manager;

error_connection:
	connection_destroy(manager->connection);
error_manager:
	shown_formats_finish(&manager->formats);
	yuv_destroy(manager->yuv);
	free(manager);
	return NULL;
}
