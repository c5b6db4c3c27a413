// SPDX-License-Identifier: MIT
/** What the parts of gid-buffer-v1 for wlroots share. */
#ifndef GID_WLROOTS_MANAGER_H
#define GID_WLROOTS_MANAGER_H

#include "connection.h"
#include "gid_buffer_v1.h"
#include "params.h"

struct gid_buffer_manager {
	struct wl_display *display;
	struct wlr_renderer *renderer;
	struct wl_global *global;
	struct connection *connection;
	struct connection_events connection_events;
	struct wl_list buffers;	  /* struct buffer::link */
	struct wl_list feedbacks; /* wl_resource links */
	struct wl_listener display_destroy;
};

/* buffer.c: makes buffers of what clients ask for; its data: struct gid_buffer_manager. */
extern const struct params_backend buffer_backend;

/* buffer.c: recognises our wl_buffers from now on. */
void buffers_register(void);

/* buffer.c: the domain ends, and with it all its slabs. */
void buffers_forget_domain(struct gid_buffer_manager *manager);

/* buffer.c: at the manager's end; what is still shown goes blank. */
void buffers_finish(struct gid_buffer_manager *manager);

/* feedback.c: tells which buffers can be made, once to a new object, or everybody again. */
void feedback_create(struct gid_buffer_manager *manager, struct wl_client *client, uint32_t version,
	uint32_t id);
void feedback_send_all(struct gid_buffer_manager *manager);
void feedback_finish(struct gid_buffer_manager *manager);

/* feedback.c: the formats that the renderer takes from memory. NULL: none. */
const struct wlr_drm_format_set *manager_formats(const struct gid_buffer_manager *manager);

#endif
