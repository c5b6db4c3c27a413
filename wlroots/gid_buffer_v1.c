// SPDX-License-Identifier: MIT
#include "gid_buffer_v1.h"

#include <stdlib.h>

#include "wlroots_buffer.h"

struct gid_buffer_manager {
	struct buffers buffers;
	struct manager manager;
	struct gidd_connection *connection;
	struct gidd_connection_events connection_events;
	struct wl_listener display_destroy;
};

static void handle_connection_changed(void *data) {
	struct gid_buffer_manager *manager = data;
	manager_send_feedback(&manager->manager);
}

static void handle_connection_lost(void *data) {
	struct gid_buffer_manager *manager = data;
	buffers_forget_domain(&manager->buffers);
}

static void handle_display_destroy(struct wl_listener *listener, void *data) {
	struct gid_buffer_manager *manager = wl_container_of(listener, manager, display_destroy);
	wl_list_remove(&manager->display_destroy.link);
	manager_finish(&manager->manager);
	buffers_finish(&manager->buffers);
	gidd_connection_destroy(manager->connection);
	free(manager);
}

struct gid_buffer_manager *gid_buffer_manager_create(struct wl_display *display,
		struct wlr_renderer *renderer, struct wlr_allocator *allocator, const char *domain,
		int (*log)(const char *format, ...)) {
	struct gid_buffer_manager *manager = calloc(1, sizeof(*manager));
	if (manager == NULL) {
		return NULL;
	}
	manager->connection_events = (struct gidd_connection_events){
			.log = log,
			.changed = handle_connection_changed,
			.lost = handle_connection_lost,
	};
	buffers_init(&manager->buffers, renderer, allocator, log);
	manager->connection = gidd_connection_create(wl_display_get_event_loop(display), domain,
			&manager->connection_events, manager);
	if (manager->connection == NULL) {
		goto error_buffers;
	}
	manager->buffers.connection = manager->connection;
	if (manager_init(&manager->manager, display, manager->connection, &buffer_backend,
			    &manager->buffers) < 0) {
		goto error_connection;
	}
	manager->display_destroy.notify = handle_display_destroy;
	wl_display_add_destroy_listener(display, &manager->display_destroy);
	return manager;

error_connection:
	gidd_connection_destroy(manager->connection);
error_buffers:
	buffers_finish(&manager->buffers);
	free(manager);
	return NULL;
}

void gid_buffer_manager_leave_yuv_to_driver(struct gid_buffer_manager *manager) {
	manager->buffers.formats.yuv_by_driver = true;
}
